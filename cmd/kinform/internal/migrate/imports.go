package migrate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// exchange replaces client-go's packages by kinform's own packages, as far as there are rules. It
// lists the remaining imports of client-go. It changes files only if the module compiles
// afterwards.
func exchange(ctx context.Context, m *module, t target, dryRun bool, out io.Writer, p progress) error {
	if hint := m.skew(); hint != "" {
		fmt.Fprintln(out, hint)
	}
	fset := token.NewFileSet()
	var units []*unit
	err := m.shown(p, "compiling the module as it is; the first time takes minutes", "packages", func() (err error) {
		units, err = load(ctx, m, fset)
		return err
	})
	if err != nil {
		return err
	}
	rewritten, left := rewriteAll(units, fset)
	trial, err := newTrial(ctx, m, t)
	if err != nil {
		return err
	}
	defer trial.remove()
	var refused []finding
	err = m.shown(p, "compiling it with kinform's packages", "packages", func() (err error) {
		rewritten, refused, err = trial.compiling(ctx, rewritten)
		return err
	})
	if err != nil {
		return err
	}
	left = append(left, refused...)
	left = append(left, remaining(units, rewritten, fset)...)
	slices.SortStableFunc(left, func(a, b finding) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line)) })
	left = slices.Compact(left)

	if len(rewritten) == 0 {
		fmt.Fprintln(out, "there is no import that rules can replace")
	} else if dryRun {
		trial.printDiff(out)
		for _, f := range rewritten {
			printDiff(out, f.name, f.text, f.after)
		}
	} else {
		if err := trial.write(rewritten); err != nil {
			return err
		}
		for _, f := range rewritten {
			fmt.Fprintf(out, "%s: %s is now kinform's\n", f.name, clientQueue)
		}
		fmt.Fprintf(out, "%s: %s is now required; run go mod tidy\n", m.file, kinform)
	}
	printFindings(out, left)
	return nil
}

// changedFile is a file with its new text.
type changedFile struct {
	*source
	unit  *unit
	after []byte
}

// rewriteAll applies the rules to all packages of the module.
func rewriteAll(units []*unit, fset *token.FileSet) (rewritten []changedFile, left []finding) {
	for _, u := range units {
		if elsewhere := onOtherSystems(u); len(elsewhere) > 0 {
			left = append(left, elsewhere...)
			continue
		}
		for _, s := range u.files {
			text, without := rewrite(u, s, fset)
			if (text != nil || without != nil) && ast.IsGenerated(s.file) {
				left = append(left, finding{file: s.name, line: 1, message: "a generated file uses client-go's queues", todo: "make its generator write kinform's queues"})
				continue
			}
			left = append(left, without...)
			if text != nil {
				rewritten = append(rewritten, changedFile{source: s, unit: u, after: text})
			}
		}
	}
	return rewritten, left
}

// onOtherSystems returns the files of a package that use client-go's queues but are not compiled on
// this system. A change of the package's other files could break these files unnoticed.
func onOtherSystems(u *unit) []finding {
	var found []finding
	for _, name := range u.ignored {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(u.dir, name), nil, parser.ImportsOnly)
		if err != nil || !slices.ContainsFunc(f.Imports, func(spec *ast.ImportSpec) bool { return imported(spec) == clientQueue }) {
			continue
		}
		found = append(found, finding{
			file: u.path + "/" + name, message: "the file uses client-go's queues and is not compiled on this system",
			todo: "run the command for a system that compiles the file (GOOS, GOFLAGS=-tags=...), or replace the package by hand",
		})
	}
	return found
}

// remaining lists the remaining imports of client-go, and kinform's replacement for each. It skips
// generated files, because they become unnecessary together with the code that uses them.
func remaining(units []*unit, rewritten []changedFile, fset *token.FileSet) []finding {
	var found []finding
	for _, u := range units {
		for _, s := range u.files {
			if ast.IsGenerated(s.file) {
				continue
			}
			for _, spec := range s.file.Imports {
				path, ok := strings.CutPrefix(imported(spec), clientGo+"/")
				if !ok || path == "util/workqueue" && slices.ContainsFunc(rewritten, func(f changedFile) bool { return f.source == s }) {
					continue
				}
				for _, b := range byHand {
					if path == b.prefix || strings.HasPrefix(path, b.prefix+"/") {
						found = append(found, finding{file: s.name, line: fset.Position(spec.Pos()).Line, message: "import of " + clientGo + "/" + path, todo: "by hand: " + b.advice})
						break
					}
				}
			}
		}
	}
	return found
}

// trial is a draft with changed files. The module can be compiled with these files before they are
// written.
type trial struct{ *draft }

// newTrial makes a go.mod that also requires kinform.
func newTrial(ctx context.Context, m *module, t target) (*trial, error) {
	d, err := newDraft(m)
	if err != nil {
		return nil, err
	}
	if err := d.edit(ctx, t.requires(m)...); err != nil {
		d.remove()
		return nil, err
	}
	return &trial{d}, nil
}

// compiling returns the files with which the module compiles. For the other files it returns the
// compile errors. A package is changed as a whole or not at all.
func (r *trial) compiling(ctx context.Context, files []changedFile) ([]changedFile, []finding, error) {
	var refused []finding
	for len(files) > 0 {
		flags, names, err := r.overlay(files)
		if err != nil {
			return nil, nil, err
		}
		report, err := compile(ctx, r.m, nil, flags...)
		if err != nil {
			return nil, nil, err
		}
		if len(report.findings) == 0 {
			break
		}
		broken := map[string]bool{}
		for _, f := range report.findings {
			f.file = cmp.Or(names[filepath.FromSlash(f.file)], f.file)
			broken[filepath.Dir(f.file)] = true
			if f.elsewhere == "" {
				f.todo = "the package does not compile with kinform's queue: replace client-go's queue by hand, here or in the code that gets the queue"
			}
			refused = append(refused, f)
		}
		before := len(files)
		files = slices.DeleteFunc(files, func(f changedFile) bool { return broken[filepath.Dir(filepath.FromSlash(f.name))] })
		if len(files) == before { // An unchanged package uses a changed one.
			files = nil
		}
	}
	return files, refused, nil
}

// overlay writes the new texts of the files into the draft's folder. It returns the flags that make
// the go command use these texts. The map names contains each file by its path in that folder,
// because compile errors have this path.
func (r *trial) overlay(files []changedFile) (flags []string, names map[string]string, err error) {
	replaced := map[string]string{}
	names = map[string]string{}
	for i, f := range files {
		name := filepath.Join(r.dir, fmt.Sprintf("%d_%s", i, filepath.Base(f.path)))
		if err := os.WriteFile(name, f.after, 0o644); err != nil {
			return nil, nil, err
		}
		replaced[f.path] = name
		names[name] = f.name
	}
	description, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return nil, nil, err
	}
	name := filepath.Join(r.dir, "overlay.json")
	if err := os.WriteFile(name, description, 0o644); err != nil {
		return nil, nil, err
	}
	return []string{"-overlay=" + name, "-modfile=" + r.mod()}, names, nil
}

// printDiff prints the changes of go.mod.
func (r *trial) printDiff(w io.Writer) {
	before, err := os.ReadFile(r.m.file)
	if err != nil {
		return
	}
	if after, err := os.ReadFile(r.mod()); err == nil {
		printDiff(w, "go.mod", before, after)
	}
}

// write writes the files, go.mod and go.sum. If a file cannot be written, it restores the files
// that it wrote before.
func (r *trial) write(files []changedFile) (err error) {
	var written []changedFile
	defer func() {
		if err == nil {
			return
		}
		for _, f := range written {
			err = errors.Join(err, overwrite(f.path, f.text))
		}
	}()
	for _, f := range files {
		if err := overwrite(f.path, f.after); err != nil {
			return err
		}
		written = append(written, f)
	}
	_, err = r.put()
	return err
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
