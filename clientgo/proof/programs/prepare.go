package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// staged matches lines of modules that have client-go's version numbers, or a commit instead of a
// version.
var staged = regexp.MustCompile(`^(k8s\.io/[a-z-]+) v0\.([1-9][0-9]+\.[0-9]+|0\.0-[0-9]+-[0-9a-f]+)\b`)

// newest has the newest versions of modules that are versioned with client-go, but were not
// released with clientGoVersion.
var newest = map[string]string{"k8s.io/sample-controller": "v0.37.1"}

// unstaged are modules of k8s.io that have only commits, and no versions.
var unstaged = []string{"k8s.io/utils", "k8s.io/kube-openapi", "k8s.io/gengo"}

// prepare makes the folder in which the go command builds a program for a side.
func (w builder) prepare(ctx context.Context, p program, s side) (dir string, err error) {
	dir = w.folder(p, s)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	switch {
	case p.dir != "":
		err = copyTree(dir, p.dir)
	case p.copied:
		var source string
		if source, err = w.download(ctx, p); err == nil {
			err = copyTree(dir, filepath.Join(source, p.folder))
		}
	}
	if err == nil && (p.folder != "" || p.dependency()) {
		err = w.run(ctx, dir, "mod", "init", "example.com/"+p.name)
	}
	if err == nil && p.dependency() {
		err = w.run(ctx, dir, "mod", "edit", "-require="+p.module+"@"+p.version)
	}
	if err != nil {
		return "", err
	}
	return dir, w.edit(ctx, dir, p, s)
}

// edit makes a program's go.mod require the same versions on both sides, and adds the replace
// directive.
func (w builder) edit(ctx context.Context, dir string, p program, s side) error {
	edits := []string{"mod", "edit"}
	for _, module := range []string{"client-go", "api", "apimachinery"} {
		edits = append(edits, "-require=k8s.io/"+module+"@"+clientGoVersion)
	}
	for _, module := range p.unused {
		if err := writeEmpty(filepath.Join(dir, "unused", module), module); err != nil {
			return err
		}
		edits = append(edits, "-replace="+module+"=./unused/"+module)
	}
	if s == kinform {
		edits = append(edits, "-replace=k8s.io/client-go="+filepath.Join(w.checkout, "clientgo"), "-replace=github.com/kinform/kinform="+w.checkout)
	}
	if err := w.run(ctx, dir, edits...); err != nil {
		return err
	}
	// Versions that the program itself requires come first, because a module proxy may lack other
	// versions.
	source := dir
	if p.dependency() {
		var err error
		if source, err = w.download(ctx, p); err != nil {
			return err
		}
	}
	file, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return err
	}
	if err := w.bump(ctx, dir, string(file)); err != nil {
		return err
	}
	if p.dependency() {
		edits, err := replacements(file)
		if err == nil && len(edits) > 0 {
			err = w.run(ctx, dir, append([]string{"mod", "edit"}, edits...)...)
		}
		if err != nil {
			return err
		}
	}
	list := w.command(ctx, dir, "list", "-mod=mod", "-m", "-f={{.Path}} {{.Version}}", "all")
	var stderr bytes.Buffer
	list.Stderr = &stderr
	modules, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list -m all: %w\n%s", err, stderr.Bytes())
	}
	if err := w.bump(ctx, dir, string(modules)); err != nil {
		return err
	}
	if p.dependency() {
		return nil // the build adds missing requirements
	}
	return w.run(ctx, dir, "mod", "tidy", "-e")
}

// replacements returns edits that repeat replace directives of a program's own go.mod, because the
// go command ignores the replace directives of a dependency. It repeats only directives with a
// version. It omits modules of k8s.io, which must have versions that fit client-go's version.
func replacements(file []byte) (edits []string, err error) {
	program, err := modfile.Parse("go.mod", file, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range program.Replace {
		if r.New.Version != "" && !strings.HasPrefix(r.New.Path, "k8s.io/") {
			edits = append(edits, "-replace="+r.Old.String()+"="+r.New.String())
		}
	}
	return edits, nil
}

// writeEmpty writes a module without packages.
func writeEmpty(dir, module string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+module+"\n"), 0o644)
}

// bump makes go.mod require client-go's version of each listed module that has such versions. It
// also requires the matching version of controller-runtime.
func (w builder) bump(ctx context.Context, dir, modules string) error {
	edits := []string{"mod", "edit"}
	for line := range strings.Lines(modules) {
		line = strings.TrimSpace(line)
		if found := staged.FindStringSubmatch(line); found != nil && !slices.Contains(unstaged, found[1]) {
			edits = append(edits, "-require="+found[1]+"@"+cmp.Or(newest[found[1]], clientGoVersion))
		}
		if strings.HasPrefix(line, "sigs.k8s.io/controller-runtime v") {
			edits = append(edits, "-require=sigs.k8s.io/controller-runtime@"+runtimeVersion)
		}
	}
	if len(edits) == 2 {
		return nil
	}
	return w.run(ctx, dir, edits...)
}

// dependency reports whether the program is a dependency of the module in the prepared folder.
// Otherwise the folder has the program itself.
func (p program) dependency() bool { return p.dir == "" && !p.copied }

// patterns returns the package patterns of a program. If the program has no patterns of its own,
// patterns returns the default, the argument otherwise.
func patterns(p program, own []string, otherwise ...string) []string {
	if len(own) == 0 {
		own = otherwise
	}
	var found []string
	for _, pattern := range own {
		if p.dependency() {
			pattern = strings.Replace(pattern, "./", p.module+"/", 1)
		}
		found = append(found, pattern)
	}
	return found
}

// download makes the go command fetch a module.
func (w builder) download(ctx context.Context, p program) (dir string, err error) {
	cmd := w.command(ctx, w.cache, "mod", "download", "-json", p.module+"@"+p.version)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go mod download %s@%s: %w\n%s", p.module, p.version, err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return "", err
	}
	return module.Dir, nil
}

func (w builder) run(ctx context.Context, dir string, args ...string) error {
	if out, err := w.command(ctx, dir, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// copyTree copies the files below a folder, and makes the copies writable for the owner. The module
// cache is read-only.
func copyTree(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chmod(path, info.Mode()|0o200)
	})
}
