package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kinform/kinform/bench/internal/progress"
	"github.com/kinform/kinform/bench/internal/report"
	"github.com/kinform/kinform/bench/internal/roundorder"
	"github.com/kinform/kinform/bench/internal/subprocess"
)

func main() {
	starts := flag.Int("starts", 21, "how often to start each program; the tables show medians")
	quick := flag.Bool("quick", false, "start each program a few times, only to check that everything works")
	flag.Parse()
	if *quick {
		*starts = 3
	}
	if err := run(*starts, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "footprint:", err)
		os.Exit(1)
	}
}

func run(starts int, out io.Writer) error {
	dir, err := os.MkdirTemp("", "footprint-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// The report builds three programs here, and five in measureDropin.
	steps := progress.New("footprint", 8*(starts+1))
	var programs []*program
	for _, name := range []string{"clientgo", "plain", "kinform"} {
		p, err := build(steps, dir, name, name)
		if err != nil {
			return err
		}
		programs = append(programs, p)
	}
	clientgo, plain, kinform := programs[0], programs[1], programs[2]
	// The programs take turns, so that other load on the machine affects all of them equally.
	for n := range starts {
		for _, p := range roundorder.Of(n, []*program{clientgo, kinform}, plain) {
			steps.Next("start %d of %d", n+1, starts)
			if err := p.start(); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(out, "FOOTPRINT of a program with a pod informer\n\n%s\n%s\n", report.Heading(), table(clientgo, plain, kinform))
	fmt.Fprintln(out, "Built with -ldflags=\"-s -w\". A start is a process that finds out that it is not in a cluster.")
	fmt.Fprintln(out, "Not shown: what a program links beside its informer, which may include any of it anyway.")
	return measureDropin(steps, dir, starts, out)
}

// table compares the programs to client-go's. The program of package plain has no ratio, because
// plain is for learning and not for production.
func table(clientgo, plain, kinform *program) report.Table {
	t := report.Table{{"", "client-go", "plain", "kinform", "ratio"}}
	for _, r := range rows {
		theirs, ours := r.value(clientgo), r.value(kinform)
		t.Add(r.name, fmt.Sprintf(r.format, theirs), fmt.Sprintf(r.format, r.value(plain)), fmt.Sprintf(r.format, ours), fmt.Sprintf("%.2f", ours/theirs))
	}
	return t
}

// rows are the measured figures of a program.
var rows = []struct {
	name, format string
	value        func(*program) float64
}{
	{"binary, bytes", "%.0f", func(p *program) float64 { return float64(p.bytes) }},
	{"packages linked", "%.0f", func(p *program) float64 { return float64(p.packages) }},
	{"modules linked", "%.0f", func(p *program) float64 { return float64(p.modules) }},
	{"start to exit, ms", "%.1f", func(p *program) float64 { return report.Median(p.milliseconds) }},
	{"package init, ms", "%.2f", func(p *program) float64 { return report.Median(p.initClock) }},
	{"package init, KB allocated", "%.0f", func(p *program) float64 { return p.initBytes / 1000 }},
}

// program is one of the programs, with its figures.
type program struct {
	binary            string
	bytes             int64
	packages, modules int
	milliseconds      []float64 // from start to exit
	initClock         []float64 // the part spent in init functions and package variables
	initBytes         float64
}

// sources is the import path of the programs' directories.
const sources = "github.com/kinform/kinform/bench/footprint/"

// build builds a program from a directory of sources, with flags, and measures its size.
func build(steps *progress.Progress, dir, name, directory string, flags ...string) (*program, error) {
	steps.Next("compiling the program %s, at first in minutes", name)
	p := &program{binary: filepath.Join(dir, name)}
	source := sources + directory
	args := append(append([]string{"build"}, flags...), "-ldflags=-s -w", "-o", p.binary, source)
	if _, err := subprocess.Output("go", args...); err != nil {
		return nil, err
	}
	info, err := os.Stat(p.binary)
	if err != nil {
		return nil, err
	}
	p.bytes = info.Size()
	args = append(append([]string{"list"}, flags...), "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", source)
	deps, err := subprocess.Output("go", args...)
	if err != nil {
		return nil, err
	}
	modules := make(map[string]bool)
	for line := range strings.Lines(deps) {
		p.packages++
		// The standard library has no module, and the program's own module is bench.
		_, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		if module != "" && !strings.HasSuffix(module, "/bench") {
			modules[module] = true
		}
	}
	p.modules = len(modules)
	return p, nil
}

// start runs the program outside of a cluster, so that it exits at once.
func (p *program) start() error {
	cmd := exec.Command(p.binary)
	cmd.Env = []string{"GODEBUG=inittrace=1"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	begin := time.Now()
	err := cmd.Run()
	p.milliseconds = append(p.milliseconds, float64(time.Since(begin).Microseconds())/1000)
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		return fmt.Errorf("%s should have ended with the error that it is not in a cluster: %v\n%s", p.binary, err, &stderr)
	}
	var clock float64
	p.initBytes = 0
	for line := range strings.Lines(stderr.String()) {
		// The format is: init PACKAGE @0.1 ms, 0.02 ms clock, 1234 bytes, 5 allocs
		var pkg string
		var at, took, size float64
		if n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %f bytes", &pkg, &at, &took, &size); n == 4 {
			clock += took
			p.initBytes += size
		}
	}
	p.initClock = append(p.initClock, clock)
	return nil
}
