package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kinform/kinform/clientgo/proof/internal/modulecache"
)

const module = "k8s.io/client-go"

// testRunner has the folders in which the tests are compiled and run.
type testRunner struct {
	theirs, ours string // folders of client-go and of this module
	dir          string
	verbose      bool
}

func newTestRunner(ctx context.Context, dir string, verbose bool) (*testRunner, error) {
	line, err := filepath.Abs("..")
	if err != nil {
		return nil, err
	}
	peer, err := modulecache.Dir(ctx, filepath.Join(line, "..", "bench"), module)
	if err != nil {
		return nil, err
	}
	w := &testRunner{theirs: peer, ours: line, dir: dir, verbose: verbose}
	return w, w.modules(ctx)
}

// modules writes the go.mod with which client-go's tests are compiled here: it has this module's
// requirements, and the requirements of the tests.
func (w *testRunner) modules(ctx context.Context) error {
	var sums []byte
	for _, from := range []string{w.ours, w.theirs} {
		sum, err := os.ReadFile(filepath.Join(from, "go.sum"))
		if err != nil {
			return err
		}
		sums = append(sums, sum...)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "go.sum"), sums, 0o644); err != nil {
		return err
	}
	file, err := os.ReadFile(filepath.Join(w.ours, "go.mod"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.dir, "go.mod"), file, 0o644); err != nil {
		return err
	}
	out, err := w.command(ctx, w.theirs, "mod", "edit", "-json").Output()
	if err != nil {
		return fmt.Errorf("reading client-go's go.mod: %w", err)
	}
	var theirs struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(out, &theirs); err != nil {
		return err
	}
	edit := []string{"mod", "edit"}
	for _, r := range theirs.Require {
		if !bytes.Contains(file, []byte("\t"+r.Path+" ")) {
			edit = append(edit, "-require="+r.Path+"@"+r.Version)
		}
	}
	if out, err := w.command(ctx, w.dir, append(edit, filepath.Join(w.dir, "go.mod"))...).CombinedOutput(); err != nil {
		return fmt.Errorf("go mod edit: %w\n%s", err, out)
	}
	return nil
}

func (w *testRunner) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	return cmd
}

// packages returns the paths of client-go's packages with tests, except its examples.
func (w *testRunner) packages() ([]string, error) {
	found := map[string]bool{}
	err := filepath.WalkDir(w.theirs, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "examples" || d.Name() == "testdata"):
			return fs.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			rel, err := filepath.Rel(w.theirs, filepath.Dir(path))
			if err != nil {
				return err
			}
			found[filepath.ToSlash(rel)] = true
		}
		return nil
	})
	var paths []string
	for path := range found {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths, err
}

// try runs the tests of a package with both modules.
func (w *testRunner) try(ctx context.Context, pkg string) (packageResult, error) {
	r := packageResult{pkg: pkg}
	files, err := readTests(w.theirs, pkg)
	if err != nil {
		return r, err
	}
	if r.functions = len(files.functions()); r.functions == 0 {
		return r, nil // only examples
	}
	here, err := w.compile(ctx, pkg, files)
	if err != nil || here == "" {
		return r, err
	}
	names := files.functions()
	if r.compile = len(names); r.compile == 0 {
		return r, nil
	}
	there := filepath.Join(w.dir, "there.test")
	if out, err := w.command(ctx, filepath.Join(w.theirs, pkg), "test", "-c", "-vet=off", "-o", there, ".").CombinedOutput(); err != nil {
		return r, fmt.Errorf("compiling the tests with client-go: %w\n%s", err, out)
	}
	if err := w.copyTestdata(pkg); err != nil {
		return r, err
	}
	theirs, _, err := w.test(ctx, there, pkg, names, testTimeout)
	if err != nil {
		return r, err
	}
	// Functions with a reason run separately below, because they may wait forever.
	others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return reasons[pkg+" "+name] != "" })
	ours, printed, err := w.test(ctx, here, pkg, others, testTimeout)
	if err != nil {
		return r, err
	}
	for _, name := range names {
		if theirs[name] {
			r.passTheirs++
		}
		// A test that failed because of a short timeout, or because another test ended the process,
		// may pass when it runs alone.
		limit, tries := testTimeout, 2
		if reasons[pkg+" "+name] != "" {
			limit, tries = time.Minute, 1
		}
		for range tries {
			if theirs[name] && !ours[name] {
				again, more, err := w.test(ctx, here, pkg, []string{name}, limit)
				if err != nil {
					return r, err
				}
				ours[name], printed = again[name], printed+more
			}
		}
		if ours[name] {
			r.passOurs++
		} else if theirs[name] {
			r.failingOnlyHere = append(r.failingOnlyHere, pkg+" "+name)
		}
	}
	if w.verbose && len(r.failingOnlyHere) > 0 {
		fmt.Fprint(os.Stderr, printed)
	}
	return r, nil
}

// compileError matches an error of the go command about a file: its name, and the line.
var compileError = regexp.MustCompile(`(?m)^(?:\t|#)?\s*([^\s:]+_test\.go):(\d+):`)

// compile compiles the tests of a package here. It removes from files the declarations that do not
// compile. It returns no program if the package is missing here, or if none of its tests compiles.
func (w *testRunner) compile(ctx context.Context, pkg string, files tests) (string, error) {
	dir := filepath.Join(w.ours, pkg)
	if own, err := filepath.Glob(filepath.Join(dir, "*.go")); err != nil || len(own) == 0 && pkg != "kubernetes_test" {
		return "", err
	}
	program := filepath.Join(w.dir, "here.test")
	for {
		overlay, err := w.overlay(dir, files)
		if err != nil {
			return "", err
		}
		// The folder of kubernetes_test exists only in the overlay.
		out, err := w.command(ctx, w.ours, "test", "-c", "-vet=off", "-mod=mod", "-modfile="+filepath.Join(w.dir, "go.mod"),
			"-overlay="+overlay, "-gcflags=-e", "-o", program, "./"+pkg).CombinedOutput()
		if err == nil {
			if len(files.functions()) == 0 {
				return "", nil
			}
			return program, nil
		}
		dropped := false
		for _, found := range compileError.FindAllSubmatch(out, -1) {
			line, err := strconv.Atoi(string(found[2]))
			if err != nil {
				return "", err
			}
			dropped = files.drop(filepath.Base(string(found[1])), line) || dropped
		}
		if !dropped {
			return "", fmt.Errorf("compiling the tests here: %w\n%s", err, out)
		}
	}
}

// overlay writes the overlay file that replaces the tests in dir.
func (w *testRunner) overlay(dir string, files tests) (string, error) {
	replace := map[string]string{}
	own, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return "", err
	}
	for _, path := range own {
		replace[path] = ""
	}
	for name, file := range files {
		to := filepath.Join(w.dir, name)
		if err := os.WriteFile(to, file.text, 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(dir, name)] = to
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(w.dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o644)
}

// copyTestdata copies the data files that the tests of a package may read from client-go: the files
// of the package, and all testdata folders.
func (w *testRunner) copyTestdata(pkg string) error {
	return filepath.WalkDir(w.theirs, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(w.theirs, path)
		if err != nil {
			return err
		}
		slash := filepath.ToSlash(rel)
		if !strings.Contains(slash, "testdata/") && (filepath.Dir(slash) != filepath.Clean(pkg) || strings.HasSuffix(slash, ".go")) {
			return nil
		}
		to := filepath.Join(w.dir, "tree", rel)
		if _, err := os.Stat(to); err == nil {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
}

// testTimeout limits the time of all test functions of a package.
const testTimeout = 5 * time.Minute

// test runs test functions of a program for at most the time limit, and returns the functions that
// pass.
func (w *testRunner) test(ctx context.Context, program, pkg string, names []string, limit time.Duration) (passed map[string]bool, printed string, err error) {
	cwd := filepath.Join(w.dir, "tree", pkg)
	if err := os.MkdirAll(cwd, 0o755); err != nil {
		return nil, "", err
	}
	cmd := w.command(ctx, cwd, "tool", "test2json", program, "-test.v=test2json", "-test.timeout="+limit.String(), "-test.run=^("+strings.Join(names, "|")+")$")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	passed = map[string]bool{}
	var text strings.Builder
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		var e struct{ Action, Test, Output string }
		if json.Unmarshal(line, &e) == nil {
			text.WriteString(e.Output)
			if (e.Action == "pass" || e.Action == "skip") && slices.Contains(names, e.Test) {
				passed[e.Test] = true
			}
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // the error of a failed test was already counted
	return passed, text.String() + stderr.String(), ctx.Err()
}
