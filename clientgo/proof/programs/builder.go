package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// side is the module that a program is built with.
type side string

const (
	clientGo side = "client-go"
	kinform  side = "kinform"
)

// builder builds and tests programs.
type builder struct {
	checkout string // folder of kinform's sources
	cache    string
	assets   string
	verbose  bool
}

// try builds a program and runs its tests on one side.
func (w builder) try(ctx context.Context, p program, s side) (*result, error) {
	dir, err := w.prepare(ctx, p, s)
	if err != nil {
		return nil, err
	}
	build := patterns(p, p.build, "./...")
	test := patterns(p, p.test, build...)
	r := newResult()
	if out, err := w.command(ctx, dir, append([]string{"build", "-mod=mod"}, build...)...).CombinedOutput(); err != nil {
		r.buildError = string(out)
		if w.verbose {
			fmt.Fprintf(os.Stderr, "%s\n", out)
		}
		return r, ctx.Err()
	}
	if err := w.testAll(ctx, dir, r, p, test); err != nil {
		return nil, err
	}
	return r, ctx.Err()
}

// rerunFailed runs failed tests of a side once more, together with all other tests of their
// packages. It records the failed tests that pass now.
func (w builder) rerunFailed(ctx context.Context, p program, s side, r *result, names []string) error {
	packages := map[string]bool{}
	for _, name := range names {
		pkg, _, _ := strings.Cut(name, " ")
		packages[pkg] = true
	}
	second := newResult()
	if err := w.testAll(ctx, w.folder(p, s), second, p, slices.Sorted(maps.Keys(packages))); err != nil {
		return err
	}
	r.mergeRerun(second, names)
	return ctx.Err()
}

// testAll runs the tests of packages.
func (w builder) testAll(ctx context.Context, dir string, r *result, p program, patterns []string) error {
	plain, suites, err := w.split(ctx, dir, patterns)
	if err != nil {
		return err
	}
	if len(plain) > 0 {
		if err := w.test(ctx, dir, r, p, plain); err != nil {
			return err
		}
	}
	for _, pkg := range suites {
		report := filepath.Join(dir, "specs-"+strings.ReplaceAll(pkg, "/", "_")+".json")
		if err := w.test(ctx, dir, r, p, []string{pkg}, "-args", "-ginkgo.json-report="+report); err != nil {
			return err
		}
		if err := r.addReport(pkg, report); err != nil && r.outcomes[pkg+" "] == "" {
			return err
		}
	}
	return nil
}

// folder returns the folder in which the go command builds a program for a side.
func (w builder) folder(p program, s side) string {
	return filepath.Join(w.cache, p.name+"-"+string(s))
}

// split separates the packages with a ginkgo suite from the other packages with tests.
func (w builder) split(ctx context.Context, dir string, patterns []string) (plain, suites []string, err error) {
	args := append([]string{"list", "-mod=mod", "-json=ImportPath,TestGoFiles,XTestGoFiles,TestImports,XTestImports"}, patterns...)
	out, err := w.command(ctx, dir, args...).Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list: %w", err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var pkg struct {
			ImportPath                                           string
			TestGoFiles, XTestGoFiles, TestImports, XTestImports []string
		}
		if err := decoder.Decode(&pkg); err != nil {
			return nil, nil, err
		}
		switch {
		case len(pkg.TestGoFiles)+len(pkg.XTestGoFiles) == 0:
		case slices.Contains(append(pkg.TestImports, pkg.XTestImports...), "github.com/onsi/ginkgo/v2"):
			suites = append(suites, pkg.ImportPath)
		default:
			plain = append(plain, pkg.ImportPath)
		}
	}
	return plain, suites, nil
}

// test runs the tests of packages. A failed test is not an error, but is counted in r.
func (w builder) test(ctx context.Context, dir string, r *result, p program, packages []string, last ...string) error {
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
			r.addLine(line, w.verbose)
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // A failed test is already counted.
	if len(r.outcomes) == before && stderr.Len() > 0 {
		return fmt.Errorf("go test: %s", stderr.String())
	}
	return ctx.Err()
}

func (w builder) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "KUBEBUILDER_ASSETS="+w.assets)
	return cmd
}
