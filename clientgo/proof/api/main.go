// Command api lists the parts of client-go's exported API that this module lacks or declares
// differently.
//
//	go run ./api                                # a table of all packages
//	go run ./api tools/cache util/workqueue     # each difference of these
//
// It compares the types of this module with the types of the client-go version that bench/
// requires, as the compiler sees them (golang.org/x/exp/apidiff). It exits with status 1 if an
// identifier is missing or different and allowlist.go has no reason for it.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("api", flag.ContinueOnError)
	dir := flags.String("dir", "..", "the folder of the module that is compared with client-go")
	if err := flags.Parse(args); err != nil {
		return err
	}
	paths := flags.Args()
	real, err := load("../../bench", true, paths)
	if err != nil {
		return err
	}
	ours, err := load(*dir, false, paths)
	if err != nil {
		return err
	}
	comparisons := compare(real, ours)
	if len(paths) > 0 {
		for _, c := range comparisons {
			c.printDifferences(os.Stdout)
		}
	} else {
		printTable(os.Stdout, comparisons)
	}
	return shortfall(comparisons)
}
