package main

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// unreleased is the version at which the go.mod files of a checkout require kinform's modules.
const unreleased = "v0.0.0"

// setVersions changes a go.mod file in root, such as clientgo/go.mod, for the release commit. It
// requires kinform's modules at the released version. A released module loses its replace
// directives; all other modules keep them.
func (r release) setVersions(root, file string) error {
	name := filepath.Join(root, file)
	mod, err := parseMod(name)
	if err != nil {
		return err
	}
	for _, required := range mod.Require {
		folder, ours := strings.CutPrefix(required.Mod.Path, kinform)
		if ours && required.Mod.Version == unreleased {
			err = errors.Join(err, mod.AddRequire(required.Mod.Path, r.version(strings.TrimPrefix(folder, "/"))))
		}
	}
	if isReleased(file) {
		for _, replace := range slices.Clone(mod.Replace) {
			err = errors.Join(err, mod.DropReplace(replace.Old.Path, replace.Old.Version))
		}
	}
	if err != nil {
		return err
	}
	mod.Cleanup()
	formatted, err := mod.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(name, formatted, 0o644)
}

func parseMod(name string) (*modfile.File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, text, nil)
}

func isReleased(file string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return file == path.Join(folder, "go.mod") })
}
