package migrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// draft is a copy of go.mod and go.sum in a temporary folder. All changes are made in the copy. The
// module's own files stay unchanged until apply is called.
type draft struct {
	m      *module
	dir    string
	parsed goMod // the go.mod of the draft, after tidy
}

// newDraft copies the module's files.
func newDraft(m *module) (*draft, error) {
	dir, err := os.MkdirTemp("", "kinform-migrate")
	if err != nil {
		return nil, err
	}
	d := &draft{m: m, dir: dir}
	mod, err := os.ReadFile(m.file)
	if err == nil {
		err = os.WriteFile(d.mod(), mod, 0o644)
	}
	if err == nil {
		err = d.copySum()
	}
	if err != nil {
		d.remove()
		return nil, err
	}
	return d, nil
}

func (d *draft) copySum() error {
	sum, err := os.ReadFile(d.m.sum())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, os.WriteFile(d.sum(), sum, 0o644))
}

func (d *draft) mod() string { return filepath.Join(d.dir, "go.mod") }
func (d *draft) sum() string { return filepath.Join(d.dir, "go.sum") }
func (d *draft) remove()     { os.RemoveAll(d.dir) }

// edit changes the draft's go.mod by flags of go mod edit.
func (d *draft) edit(ctx context.Context, flags ...string) error {
	if len(flags) == 0 {
		return nil
	}
	_, err := d.m.run(ctx, append(append([]string{"mod", "edit"}, flags...), d.mod())...)
	return err
}

// tidy runs go mod tidy on the draft's go.mod: it adds the requirements that the module's packages
// need, and removes all others.
func (d *draft) tidy(ctx context.Context) error {
	// With -e, tidy continues if kinform lacks a package of client-go. The compile step reports
	// such packages.
	_, said, err := d.m.withoutWorkspace().runWithMessages(ctx, "mod", "tidy", "-e", "-modfile="+d.mod())
	if err != nil {
		return err
	}
	if d.parsed, err = d.m.parse(ctx, d.mod()); err != nil {
		return err
	}
	// With -e, tidy also continues if a module cannot be downloaded, and removes the requirement of
	// that module.
	for _, r := range d.m.parsed.Require {
		if !r.Indirect && d.parsed.version(r.Path) == "" && strings.Contains(said, r.Path) {
			return fmt.Errorf("go mod tidy in %s does not find all packages that the module imports of %s:\n%s%s", d.m.dir, r.Path, lastLines(said, 10), d.m.workspaceHint())
		}
	}
	return nil
}

// apply replaces the module's files by the files of the draft. The returned function restores the
// old files.
func (d *draft) apply() (restore func() error, err error) {
	mod, err := os.ReadFile(d.mod())
	if err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(d.sum())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	restore, err = d.m.save()
	if err != nil {
		return nil, err
	}
	err = overwrite(d.m.file, mod)
	if err == nil && sum != nil {
		err = overwrite(d.m.sum(), sum)
	}
	if err != nil {
		return nil, errors.Join(err, restore())
	}
	d.m.parsed = d.parsed
	return restore, nil
}

// save returns a function that restores the current contents of go.mod and go.sum.
func (m *module) save() (restore func() error, err error) {
	mod, err := os.ReadFile(m.file)
	if err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(m.sum())
	none := errors.Is(err, fs.ErrNotExist)
	if err != nil && !none {
		return nil, err
	}
	return func() error {
		err := writeIfChanged(m.file, mod)
		if none {
			return errors.Join(err, ignoreNotExist(os.Remove(m.sum())))
		}
		return errors.Join(err, writeIfChanged(m.sum(), sum))
	}, nil
}

// writeIfChanged writes a file, unless the file has this text already.
func writeIfChanged(path string, text []byte) error {
	if now, err := os.ReadFile(path); err == nil && bytes.Equal(now, text) {
		return nil
	}
	return overwrite(path, text)
}

// overwrite replaces a file atomically: a reader sees either the old text or the new one.
func overwrite(path string, text []byte) error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".kinform-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	err = errors.Join(err, temporary.Chmod(mode), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		os.Remove(temporary.Name())
	}
	return err
}
