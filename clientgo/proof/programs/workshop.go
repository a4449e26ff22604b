package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// side is what a program runs on.
type side string

const (
	clientGo side = "client-go"
	kinform  side = "kinform"
)

// workshop is where programs are built and tested.
type workshop struct {
	checkout string // of kinform
	cache    string
	assets   string
	verbose  bool
}

// try builds a program and runs its tests on one side.
func (w workshop) try(ctx context.Context, p program, s side) (*result, error) {
	dir, err := w.prepare(ctx, p, s)
	if err != nil {
		return nil, err
	}
	build, test := p.build, p.test
	if len(build) == 0 {
		build = []string{"./..."}
	}
	if len(test) == 0 {
		test = build
	}
	r := newResult()
	if out, err := w.command(ctx, dir, append([]string{"build", "-mod=mod"}, build...)...).CombinedOutput(); err != nil {
		r.buildError = string(out)
		if w.verbose {
			fmt.Fprintf(os.Stderr, "%s\n", out)
		}
		return r, ctx.Err()
	}
	plain, suites, err := w.split(ctx, dir, test)
	if err != nil {
		return nil, err
	}
	if len(plain) > 0 {
		if err := w.test(ctx, dir, r, p, plain); err != nil {
			return nil, err
		}
	}
	if len(suites) > 0 {
		if err := w.test(ctx, dir, r, p, slices.Collect(maps.Keys(suites)), "-args", "-ginkgo.json-report="+reportName); err != nil {
			return nil, err
		}
	}
	for pkg, folder := range suites {
		if err := r.takeReport(pkg, filepath.Join(folder, reportName)); err != nil && r.outcomes[pkg+" "] == "" {
			return nil, err
		}
	}
	return r, ctx.Err()
}

// reportName is the file that a suite of ginkgo writes into its package's folder.
const reportName = "specs.json"

// split tells the packages whose tests are a suite of ginkgo, with their folders, from the other packages with tests.
func (w workshop) split(ctx context.Context, dir string, patterns []string) (plain []string, suites map[string]string, err error) {
	args := append([]string{"list", "-mod=mod", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,TestImports,XTestImports"}, patterns...)
	out, err := w.command(ctx, dir, args...).Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list: %w", err)
	}
	suites = map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var pkg struct {
			ImportPath, Dir                                      string
			TestGoFiles, XTestGoFiles, TestImports, XTestImports []string
		}
		if err := decoder.Decode(&pkg); err != nil {
			return nil, nil, err
		}
		switch {
		case len(pkg.TestGoFiles)+len(pkg.XTestGoFiles) == 0:
		case slices.Contains(append(pkg.TestImports, pkg.XTestImports...), "github.com/onsi/ginkgo/v2"):
			suites[pkg.ImportPath] = pkg.Dir
		default:
			plain = append(plain, pkg.ImportPath)
		}
	}
	return plain, suites, nil
}

// test runs the tests of packages. A test that fails is no error: r counts it.
func (w workshop) test(ctx context.Context, dir string, r *result, p program, packages []string, last ...string) error {
	args := append([]string{"test", "-mod=mod", "-json", "-vet=off", "-count=1", "-p=1", "-timeout=20m"}, p.flags...)
	cmd := w.command(ctx, dir, append(append(args, packages...), last...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	before := len(r.outcomes)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.take(line, w.verbose)
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // A test that failed has been counted.
	if len(r.outcomes) == before && stderr.Len() > 0 {
		return fmt.Errorf("go test: %s", stderr.String())
	}
	return ctx.Err()
}

// prepare copies the sources of a program for a side, and sets the versions of k8s.io in its go.mod.
func (w workshop) prepare(ctx context.Context, p program, s side) (dir string, err error) {
	source, err := w.download(ctx, p)
	if err != nil {
		return "", err
	}
	dir = filepath.Join(w.cache, p.name+"-"+string(s))
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(source, p.folder))); err != nil {
		return "", err
	}
	if err := makeWritable(dir); err != nil {
		return "", err
	}
	if p.folder != "" {
		if out, err := w.command(ctx, dir, "mod", "init", "example.com/"+p.name).CombinedOutput(); err != nil {
			return "", fmt.Errorf("go mod init: %w\n%s", err, out)
		}
	}
	edits := []string{"mod", "edit"}
	for _, module := range []string{"client-go", "api", "apimachinery"} {
		edits = append(edits, "-require=k8s.io/"+module+"@"+clientGoVersion)
	}
	if s == kinform {
		edits = append(edits, "-replace=k8s.io/client-go="+filepath.Join(w.checkout, "clientgo"), "-replace=github.com/kinform/kinform="+w.checkout)
	}
	for _, args := range [][]string{edits, {"mod", "tidy", "-e"}} {
		if out, err := w.command(ctx, dir, args...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return dir, nil
}

// download brings a module to the module cache.
func (w workshop) download(ctx context.Context, p program) (dir string, err error) {
	if err := os.MkdirAll(w.cache, 0o755); err != nil {
		return "", err
	}
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

func (w workshop) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "KUBEBUILDER_ASSETS="+w.assets)
	return cmd
}

// makeWritable gives the owner the right to write all that lies below dir: in the module cache, nobody has it.
func makeWritable(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
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
