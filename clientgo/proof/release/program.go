package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// tryProgram puts a copy of a program on the release by "kinform migrate", builds it, and undoes
// the migration. Then go.mod and go.sum must be as before. If from is empty, it uses a small
// program.
func (w *releaseClone) tryProgram(ctx context.Context, kinformCommand, from string) error {
	program, env := filepath.Join(w.dir, "program"), w.env
	if from == "" {
		if err := writeProgram(program); err != nil {
			return err
		}
	} else if err := os.CopyFS(program, os.DirFS(from)); err != nil {
		return err
	}
	before, err := files(program)
	if err != nil {
		return err
	}
	if _, err := output(ctx, program, env, "go", "mod", "tidy"); err != nil {
		return err
	}
	tidy, err := files(program)
	if err != nil {
		return err
	}
	if before != tidy && from != "" {
		fmt.Println("go mod tidy changed the program's go.mod or go.sum before the migration")
	}
	said, err := output(ctx, program, env, kinformCommand, "migrate")
	fmt.Println(said)
	if err != nil {
		return err
	}
	if _, err := output(ctx, program, env, "go", "build", "./..."); err != nil {
		return err
	}
	where, err := output(ctx, program, env, "go", "list", "-m", "k8s.io/client-go")
	if err != nil {
		return err
	}
	fmt.Println("The program builds with", where)
	if _, err := output(ctx, program, env, kinformCommand, "migrate", "--undo"); err != nil {
		return err
	}
	after, err := files(program)
	if err != nil {
		return err
	}
	if after != tidy {
		return fmt.Errorf("go.mod or go.sum is not what it was, after --undo:\n%s", after.mod)
	}
	_, err = output(ctx, program, env, "go", "build", "./...")
	if err == nil {
		fmt.Println("After kinform migrate --undo it builds with client-go again.")
	}
	return err
}

// modFiles holds the contents of go.mod and go.sum.
type modFiles struct{ mod, sum string }

func files(program string) (f modFiles, err error) {
	mod, err := os.ReadFile(filepath.Join(program, "go.mod"))
	if err != nil {
		return f, err
	}
	sum, err := os.ReadFile(filepath.Join(program, "go.sum"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return modFiles{string(mod), string(sum)}, err
}

// writeProgram writes a module with the main parts of a controller.
func writeProgram(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod := "module example.com/program\n\ngo 1.26.0\n\nrequire (\n\tk8s.io/api v0.37.2\n\tk8s.io/apimachinery v0.37.2\n\tk8s.io/client-go v0.37.2\n)\n"
	source := `package main

import (
	"context"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func main() {
	config, err := rest.InClusterConfig()
	if err != nil {
		log.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
	_, err = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { log.Print(obj.(*corev1.Pod).Name) },
	})
	if err != nil {
		log.Fatal(err)
	}
	factory.Start(context.Background().Done())
	select {}
}
`
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644)
}
