// Command tally reads the output of go test -json, shows the failures, and ends with a line of
// counts:
//
//	go test -json ./... | go run ./internal/tools/tally
//	...
//	212 passed, 0 failed, 3 skipped
//
// Tests, subtests, examples and the seeds of fuzz targets count one each. A package that fails
// without a failed test (it doesn't compile, leaks a goroutine, runs out of time) counts as one
// failure. The exit status is 1 if there is a failure, or if no test ran, because a run without
// tests proves nothing.
//
// tally shows the whole output of failed tests, and no output of other tests. With -v every
// finished test has a line.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	verbose := flag.Bool("v", false, "show a line for every finished test")
	flag.Parse()
	os.Exit(run(os.Stdin, os.Stdout, *verbose))
}

// run reads test events from the reader in until EOF, and returns the exit status.
func run(in io.Reader, out io.Writer, verbose bool) int {
	t := newSummary(out, verbose)
	if err := t.read(in); err != nil {
		fmt.Fprintln(out, "tally: reading the test events:", err)
		t.failed++
	}
	return t.finish()
}
