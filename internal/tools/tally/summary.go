package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is one line of go test -json. go doc test2json describes the fields, and go help buildjson
// the fields of a build.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Elapsed    float64
	Output     string
}

// summary counts results. It keeps the output of a test until it knows whether the test failed.
type summary struct {
	out     io.Writer
	verbose bool

	passed, failed, skipped int

	// packages has the packages that have started and not ended.
	packages map[string]*pkg

	// builds has the compiler's output, by import path.
	builds map[string][]string
}

// pkg is one package whose tests are running.
type pkg struct {
	failed int

	// output is the output of each unfinished test. The output of the package itself is under "".
	output map[string][]string
}

func newSummary(out io.Writer, verbose bool) *summary {
	return &summary{out: out, verbose: verbose, packages: map[string]*pkg{}, builds: map[string][]string{}}
}

// read reads events until the end of the reader in. A line that is not an event comes from another
// program that writes to the pipe; read shows it unchanged.
func (t *summary) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		var ev event
		switch {
		case line == "":
		case json.Unmarshal([]byte(line), &ev) != nil || ev.Action == "":
			fmt.Fprintln(t.out, strings.TrimSuffix(line, "\n"))
		default:
			t.handle(ev)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *summary) handle(ev event) {
	if ev.Action == "build-output" || ev.Action == "build-fail" {
		t.builds[ev.ImportPath] = append(t.builds[ev.ImportPath], ev.Output)
		return
	}
	p := t.packages[ev.Package]
	if p == nil {
		p = &pkg{output: map[string][]string{}}
		t.packages[ev.Package] = p
	}
	switch ev.Action {
	case "run":
		p.output[ev.Test] = nil
	case "output":
		p.output[ev.Test] = append(p.output[ev.Test], ev.Output)
	case "pass", "fail", "skip":
		if ev.Test == "" {
			t.endPackage(ev, p)
		} else {
			t.endTest(ev, p)
		}
	}
}

func (t *summary) endTest(ev event, p *pkg) {
	switch ev.Action {
	case "pass":
		t.passed++
	case "skip":
		t.skipped++
	case "fail":
		t.failed++
		p.failed++
		t.show(p.output[ev.Test])
	}
	if t.verbose {
		fmt.Fprintf(t.out, "%s  %s (%.2fs)\n", ev.Action, ev.Test, ev.Elapsed)
	}
	delete(p.output, ev.Test)
}

func (t *summary) endPackage(ev event, p *pkg) {
	delete(t.packages, ev.Package)
	if ev.Action == "skip" {
		return // the package has no test files
	}
	if ev.Action == "fail" {
		t.fail(p)
	}
	fmt.Fprintf(t.out, "%s  %s (%.2fs)\n", ev.Action, ev.Package, ev.Elapsed)
}

// fail shows the remaining output of a failed package: its own, and the output of unfinished tests.
func (t *summary) fail(p *pkg) {
	if p.failed == 0 {
		t.failed++
	}
	for _, test := range slices.Sorted(maps.Keys(p.output)) {
		t.show(p.output[test])
	}
}

// show writes output, without the lines that only repeat the counts.
func (t *summary) show(output []string) {
	for _, line := range output {
		if strings.HasPrefix(line, "=== ") || line == "PASS\n" || line == "FAIL\n" {
			continue
		}
		io.WriteString(t.out, line)
	}
}

// finish writes the last line and returns the exit status.
func (t *summary) finish() int {
	for _, path := range slices.Sorted(maps.Keys(t.builds)) {
		t.show(t.builds[path])
	}
	for _, name := range slices.Sorted(maps.Keys(t.packages)) {
		t.fail(t.packages[name])
		fmt.Fprintf(t.out, "fail  %s: the run ended before the package did\n", name)
	}
	if t.passed+t.failed == 0 {
		fmt.Fprintln(t.out, "tally: no test ran")
	}
	fmt.Fprintf(t.out, "%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped)
	if t.failed > 0 || t.passed == 0 {
		return 1
	}
	return 0
}
