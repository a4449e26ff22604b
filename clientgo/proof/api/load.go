package main

import (
	"context"
	"fmt"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/kinform/kinform/clientgo/proof/internal/modulecache"
)

const module = "k8s.io/client-go"

// load returns the packages of client-go, by their path below client-go's path. It loads the
// packages in paths, or all packages if paths is empty. If required is true, the module in dir
// requires client-go. Otherwise the module in dir is client-go.
func load(dir string, required bool, paths []string) (map[string]*types.Package, error) {
	if required {
		// The packages are loaded in client-go's own module folder, because its go.sum covers all
		// of their imports. The go.sum of a module that uses only a few packages does not cover
		// them.
		var err error
		if dir, err = modulecache.Dir(context.Background(), dir, module); err != nil {
			return nil, err
		}
	}
	patterns := []string{"./..."}
	if len(paths) > 0 {
		patterns = nil
		for _, path := range paths {
			patterns = append(patterns, "./"+path)
		}
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile,
		Dir:  dir,
	}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("loading %v in %s: %w", patterns, dir, err)
	}
	found := map[string]*types.Package{}
	for _, p := range loaded {
		path, below := strings.CutPrefix(p.PkgPath, module+"/")
		if !below || notImportable(path) || p.Types == nil || p.Name == "main" || strings.HasSuffix(p.Name, "_test") {
			continue
		}
		if len(p.Errors) > 0 {
			if required {
				return nil, fmt.Errorf("loading %s in %s: %w", p.PkgPath, dir, p.Errors[0])
			}
			// For an absent package there is an error too. Such a package is counted as missing.
			fmt.Printf("%s: %v\n", path, p.Errors[0])
			continue
		}
		found[path] = p.Types
	}
	return found, nil
}

// notImportable reports whether programs cannot import the package at path, or have no reason to.
func notImportable(path string) bool {
	for _, part := range strings.Split(path, "/") {
		if part == "internal" || part == "testdata" || part == "examples" {
			return true
		}
	}
	return false
}
