// Command peer runs client-go's own tests on client-go and on this module.
//
//	go run ./peer                       # all packages: half an hour on two cores
//	go run ./peer util/jsonpath rest    # some
//	go run ./peer -v tools/pager        # with the output of the tests
//
// It uses the test files of the client-go version that bench/go.mod requires. An overlay of the go
// command replaces this module's own test files with them. Test functions that do not compile here,
// even with the rewrites of equivalents.go, are left out: they use unexported identifiers of
// client-go. The other functions run with both modules, and can read client-go's data files. A
// table shows how many functions each package has, and how many compile and pass with each module.
// Below the table are the functions that fail only here, with their reasons. The command fails if
// such a function has no reason, or if a function with a reason passes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	verbose := flag.Bool("v", false, "print what the tests print that fail here")
	flag.Parse()
	if err := run(ctx, *verbose, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, verbose bool, chosen []string) error {
	dir, err := os.MkdirTemp("", "peer")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w, err := newTestRunner(ctx, dir, verbose)
	if err != nil {
		return err
	}
	packages, err := w.packages()
	if err != nil {
		return err
	}
	var sum packageResult
	var wrong []string
	fmt.Println("| package | functions | compile | pass with client-go | pass here | fail here alone |\n|---|---:|---:|---:|---:|---:|")
	for _, pkg := range packages {
		if len(chosen) > 0 && !slices.Contains(chosen, pkg) {
			continue
		}
		r, err := w.try(ctx, pkg)
		if err != nil {
			return fmt.Errorf("%s: %w", pkg, err)
		}
		fmt.Println(r)
		sum.add(r)
		wrong = append(wrong, r.unexplained()...)
	}
	sum.pkg = "all"
	fmt.Println(sum)
	for _, name := range sum.failingOnlyHere {
		fmt.Printf("fails here alone: %s: %s\n", name, reasons[name])
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return nil
}

// packageResult is the result of the tests of a package.
type packageResult struct {
	pkg                                      string
	functions, compile, passTheirs, passOurs int
	failingOnlyHere                          []string // functions that fail only here
}

func (r packageResult) String() string {
	return fmt.Sprintf("| `%s` | %d | %d | %d | %d | %d |", r.pkg, r.functions, r.compile, r.passTheirs, r.passOurs, len(r.failingOnlyHere))
}

func (r *packageResult) add(other packageResult) {
	r.functions += other.functions
	r.compile += other.compile
	r.passTheirs += other.passTheirs
	r.passOurs += other.passOurs
	r.failingOnlyHere = append(r.failingOnlyHere, other.failingOnlyHere...)
}

// unexplained returns the functions that fail only here without a reason, and the functions with a
// reason that do not.
func (r packageResult) unexplained() (found []string) {
	for _, name := range r.failingOnlyHere {
		if reasons[name] == "" {
			found = append(found, name+" fails here alone, without a reason")
		}
	}
	for name := range reasons {
		if pkg, _, _ := strings.Cut(name, " "); pkg == r.pkg && !slices.Contains(r.failingOnlyHere, name) {
			found = append(found, name+" has a reason, and does not fail here alone")
		}
	}
	slices.Sort(found)
	return found
}
