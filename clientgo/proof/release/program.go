// Command release tests a release of kinform before the release is made. It makes a module proxy in
// a folder, with all modules of a release at the checked-out commit (docs/adr/0009-modules.md). It
// installs the command from this proxy, and runs "kinform migrate" on a program, without a replace
// directive to a checkout. After "kinform migrate --undo", the program's go.mod and go.sum must be
// as before.
//
//	go run ./release [-version v0.1.0] [PROGRAM]
//
// PROGRAM is the folder of a module that requires client-go. The command works on a copy of it.
// Without PROGRAM, it writes a small program. Modules other than kinform's come from Go's module
// cache, or from GOPROXY if the cache does not have them.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const (
	kinform = "github.com/kinform/kinform"
	command = kinform + "/cmd/kinform"
)

// released are the modules of a release, as folders in the repository.
var released = []string{"", "clientgo", "metrics", "tracing", "cmd/kinform"}

func main() {
	log.SetFlags(0)
	version := flag.String("version", "v0.1.0", "the version that the release shall have")
	flag.Parse()
	if err := try(context.Background(), *version, flag.Arg(0)); err != nil {
		log.Fatal("release: ", err)
	}
}

// bench has the folders of a test of a release.
type bench struct {
	dir     string // removed at the end
	root    string // root of the checkout
	version string
}

func try(ctx context.Context, version, program string) error {
	root, err := output(ctx, "", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "kinform-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := bench{dir: dir, root: root, version: version}
	if err := b.publish(ctx); err != nil {
		return err
	}
	copied := filepath.Join(dir, "program")
	if program == "" {
		err = writeProgram(copied)
	} else {
		err = os.CopyFS(copied, os.DirFS(program))
	}
	if err != nil {
		return err
	}
	return b.migrate(ctx, copied)
}

// publish makes the module proxy.
func (b bench) publish(ctx context.Context) error {
	commit := filepath.Join(b.dir, "commit")
	if err := os.Mkdir(commit, 0o755); err != nil {
		return err
	}
	archive := exec.CommandContext(ctx, "git", "archive", "HEAD")
	archive.Dir = b.root
	text, err := archive.Output()
	if err != nil {
		return fmt.Errorf("git archive: %w", err)
	}
	unpack := exec.CommandContext(ctx, "tar", "x")
	unpack.Dir, unpack.Stdin = commit, bytes.NewReader(text)
	if err := unpack.Run(); err != nil {
		return fmt.Errorf("tar: %w", err)
	}
	for _, folder := range released {
		if err := b.add(path.Join(kinform, folder), filepath.Join(commit, folder)); err != nil {
			return err
		}
	}
	return nil
}

// goMod returns the go.mod of a module in a release. In a checkout, kinform's modules require each
// other at v0.0.0, with replace directives. In a release they require the release version, and have
// no replace directives.
func (b bench) goMod(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.Parse(name, text, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Clone(mod.Replace) {
		err = errors.Join(err, mod.DropReplace(r.Old.Path, r.Old.Version))
	}
	for _, r := range mod.Require {
		if r.Mod.Path == kinform || strings.HasPrefix(r.Mod.Path, kinform+"/") {
			err = errors.Join(err, mod.AddRequire(r.Mod.Path, b.version))
		}
	}
	if err != nil {
		return nil, err
	}
	mod.Cleanup()
	return mod.Format()
}

// add adds the module in a folder to the proxy.
func (b bench) add(of, folder string) error {
	name := filepath.Join(folder, "go.mod")
	mod, err := b.goMod(name)
	if err != nil {
		return err
	}
	at := filepath.Join(b.proxy(), filepath.FromSlash(of), "@v")
	info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, b.version, time.Now().UTC().Format(time.RFC3339))
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	for file, text := range map[string][]byte{
		name: mod, filepath.Join(at, b.version+".mod"): mod, filepath.Join(at, b.version+".info"): []byte(info), filepath.Join(at, "list"): []byte(b.version + "\n"),
	} {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	out, err := os.Create(filepath.Join(at, b.version+".zip"))
	if err != nil {
		return err
	}
	defer out.Close()
	if err := zip.CreateFromDir(out, module.Version{Path: of, Version: b.version}, folder); err != nil {
		return fmt.Errorf("%s: %w", of, err)
	}
	size, err := out.Seek(0, 1)
	fmt.Printf("%s %s: %.1f MB\n", of, b.version, float64(size)/1e6)
	return err
}

func (b bench) proxy() string { return filepath.Join(b.dir, "proxy") }

// migrate migrates a program to the release, and then undoes the migration.
func (b bench) migrate(ctx context.Context, program string) error {
	cache, err := output(ctx, b.root, nil, "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	proxies, err := output(ctx, b.root, nil, "go", "env", "GOPROXY")
	if err != nil {
		return err
	}
	env := append(os.Environ(),
		"GOPROXY=file://"+filepath.ToSlash(b.proxy())+",file://"+filepath.ToSlash(cache)+"/cache/download,"+proxies,
		"GOMODCACHE="+filepath.Join(b.dir, "modules"), "GONOSUMDB="+kinform+","+kinform+"/*", "GOFLAGS=-modcacherw -trimpath", "GOWORK=off", "GOBIN="+b.dir)
	if _, err := output(ctx, program, env, "go", "install", command+"@"+b.version); err != nil {
		return err
	}
	kinformCommand := filepath.Join(b.dir, "kinform")
	said, err := output(ctx, program, env, kinformCommand, "--version")
	if err != nil {
		return err
	}
	fmt.Println(said)
	if !strings.HasPrefix(said, "kinform "+b.version+",") {
		return fmt.Errorf("go install %s@%s installs another version", command, b.version)
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
	if before != tidy {
		fmt.Println("go mod tidy has changed the program's go.mod or go.sum before all")
	}
	said, err = output(ctx, program, env, kinformCommand, "migrate")
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
	fmt.Println("builds with", where)
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
		fmt.Println("and with client-go again")
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

// output runs a command, and returns its output. An error contains the output too.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(stdout.String()), err
}
