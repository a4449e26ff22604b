// Command applyconf generates the packages below applyconfigurations. For each struct type of
// k8s.io/api that can be applied, it writes a type with the same fields as pointers, and methods
// that set them.
//
//	go run ./internal/generate/applyconf [-out applyconfigurations]
//
// It reads the types from the compiler's export data, and the +genclient markers from the comments
// of the types. Run it in the module's folder after each update of k8s.io/api.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/internal/generate/model"
)

func main() {
	out := flag.String("out", "applyconfigurations", "the folder to write to")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "applyconf:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	a, err := load()
	if err != nil {
		return err
	}
	files, err := a.files()
	if err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// api generates the apply configurations of the types of k8s.io/api.
type api struct{ *model.API }

func load() (*api, error) {
	a, err := model.Load()
	return &api{a}, err
}
