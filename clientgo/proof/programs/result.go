package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// result is the result of a program on one side.
type result struct {
	buildError string
	outcomes   map[string]string // outcome of each test, by package and name: pass, fail or skip
	flaky      []string          // tests that passed when they were run again
}

func newResult() *result { return &result{outcomes: map[string]string{}} }

// event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

// addLine records the outcome in a line of go test -json. It counts subtests too. A package that
// does not compile, or whose process ends with a panic, counts as a failed test.
func (r *result) addLine(line []byte, verbose bool) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch e.Action {
	case "pass", "fail", "skip":
		if e.Test == "" && e.Action != "fail" {
			return
		}
		r.outcomes[e.Package+" "+e.Test] = e.Action
		if verbose && e.Action == "fail" {
			fmt.Fprintf(os.Stderr, "failed: %s %s\n", e.Package, e.Test)
		}
	case "output", "build-output":
		if verbose && strings.Contains(e.Output, "Error") {
			fmt.Fprint(os.Stderr, e.Output)
		}
	}
}

// addReport reads the report of a ginkgo suite, because go test counts all specs of a suite as one
// test.
func (r *result) addReport(pkg, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var suites []struct {
		SpecReports []struct {
			ContainerHierarchyTexts []string
			LeafNodeType            string
			LeafNodeText            string
			State                   string
		}
	}
	if err := json.Unmarshal(data, &suites); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, suite := range suites {
		for _, spec := range suite.SpecReports {
			name := strings.Join(append(spec.ContainerHierarchyTexts, spec.LeafNodeText), " ")
			switch {
			case spec.LeafNodeType != "It":
			case spec.State == "passed":
				r.add(pkg+" "+name, "pass")
			case spec.State == "skipped", spec.State == "pending":
				r.add(pkg+" "+name, "skip")
			default:
				r.add(pkg+" "+name, "fail")
			}
		}
	}
	return nil
}

// add records the outcome of a test. A second test of the same name gets a number.
func (r *result) add(name, outcome string) {
	unique := name
	for i := 2; r.outcomes[unique] != ""; i++ {
		unique = fmt.Sprintf("%s (%d)", name, i)
	}
	r.outcomes[unique] = outcome
}

// mergeRerun records the tests in names that passed in the run second.
func (r *result) mergeRerun(second *result, names []string) {
	for _, name := range names {
		if second.outcomes[name] != "pass" {
			continue
		}
		r.outcomes[name] = "pass"
		r.flaky = append(r.flaky, name)
		pkg, _, _ := strings.Cut(name, " ")
		if second.outcomes[pkg+" "] == "" {
			delete(r.outcomes, pkg+" ") // the package as a whole passes now
		}
	}
}

func (r *result) count(outcome string) (n int) {
	for _, o := range r.outcomes {
		if o == outcome {
			n++
		}
	}
	return n
}

func (r *result) String() string {
	switch {
	case r == nil:
		return "not tried"
	case r.buildError != "":
		return "does not build"
	default:
		return fmt.Sprintf("%d passed, %d failed", r.count("pass"), r.count("fail"))
	}
}

// comparison has the results of a program on both sides.
type comparison struct {
	program       program
	before, after *result
}

// regressions returns the tests that pass with client-go but not here.
func (r comparison) regressions() (names []string) {
	if r.before == nil || r.after == nil {
		return nil
	}
	for name, outcome := range r.before.outcomes {
		if outcome == "pass" && r.after.outcomes[name] != "pass" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// failingOnBoth returns the tests that fail on both sides. The cause is the machine, the server or
// the program.
func (r comparison) failingOnBoth() (names []string) {
	if r.before == nil || r.after == nil {
		return nil
	}
	for name, outcome := range r.before.outcomes {
		if outcome == "fail" && r.after.outcomes[name] == "fail" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func printTable(w io.Writer, rows []comparison) {
	fmt.Fprintf(w, "| program | | with client-go | with kinform | pass with client-go alone |\n|---|---|---|---|---:|\n")
	for _, r := range rows {
		fmt.Fprintf(w, "| %s@%s | %s | %s | %s | %d |\n", r.program.module, r.program.version, r.program.kind, r.before, r.after, len(r.regressions()))
	}
	for _, r := range rows {
		for _, name := range r.regressions() {
			fmt.Fprintf(w, "lost: %s: %s\n", r.program.name, name)
		}
		if r.after != nil {
			for _, name := range r.after.flaky {
				fmt.Fprintf(w, "has failed with kinform, and passed when it was run again: %s: %s\n", r.program.name, name)
			}
		}
		for _, name := range r.failingOnBoth() {
			fmt.Fprintf(w, "fails on both sides: %s: %s\n", r.program.name, name)
		}
	}
}
