// Command clients generates the typed clients, listers and informers for each kind of k8s.io/api.
// It also generates the clientset, the scheme and the informer factory.
//
//	go run ./internal/generate/clients [-out .]
//
// Each group version has one file, zz_generated.go. Methods that only one kind has are written by
// hand in expansion.go next to it. The generator looks there for types whose names end in
// Expansion, and writes an empty type for each Expansion that is missing. Run it in the module's
// folder after each update of k8s.io/api.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", ".", "the folder of the module")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	files, err := generate(out)
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
