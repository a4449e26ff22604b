// Command clients writes what client-go has for each kind of k8s.io/api: typed clients, listers and informers, and
// the clientset, the scheme and the informer factory over them all.
//
//	go run ./internal/generate/clients [-out .]
//
// There is one file for each group version, zz_generated.go. What is special to a kind is written by hand beside it, in
// expansion.go: the generator looks for types there whose names end in Expansion, and writes empty ones where there are none.
// Run it in the module's folder after each new version of k8s.io/api.
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
