// Command programs builds public programs and runs their own tests twice: with client-go, and with
// the replace directive for this module in go.mod. Nothing else in a program is changed.
//
//	go run ./programs                           # all: some two hours on two cores, and 15 GB
//	go run ./programs examples coredns
//	go run ./programs -v -side kinform coredns
//	go run ./programs -dir ~/src/operator       # a program of your own
//
// Programs are modules that the go command fetches like any dependency. The work folder is in the
// user's cache. Modules of Kubernetes that are released together with client-go have client-go's
// version on both sides. The command prints a table of the tests that passed and failed on each
// side. Below it are three lists of tests. The first list has the tests that passed only with
// client-go, even when they were run again. The second list has the tests that passed in the second
// run. The third list has the tests that fail on both sides.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
)

// attempts is the number of times that a test is run again if it passes with client-go and fails
// here. If it fails each time, it counts as a regression.
const attempts = 3

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "programs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("programs", flag.ContinueOnError)
	only := flags.String("side", "", "run one side alone: client-go or kinform")
	verbose := flags.Bool("v", false, "print what fails while it runs")
	assets := flags.String("assets", "", "the folder with etcd, kube-apiserver and kubectl, for programs whose tests start them (default: where make -C e2e assets puts them)")
	dir := flags.String("dir", "", "a folder with the go.mod of a program, in place of those that have names; arguments are patterns of its packages")
	list := flags.Bool("list", false, "print the names of the programs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*dir, flags.Args())
	if err != nil {
		return err
	}
	if *list {
		for _, p := range chosen {
			fmt.Printf("%s: %s@%s, %s\n", p.name, p.module, p.version, p.kind)
		}
		return nil
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	if *assets == "" {
		*assets = filepath.Join(cache, "kinform", "e2e", "assets")
	}
	cache = filepath.Join(cache, "kinform", "programs")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	w := builder{checkout: checkout, cache: cache, assets: *assets, verbose: *verbose}
	var rows []comparison
	for _, p := range chosen {
		r := comparison{program: p}
		for _, s := range []side{clientGo, kinform} {
			if *only != "" && *only != string(s) {
				continue
			}
			result, err := w.try(ctx, p, s)
			if err != nil {
				return fmt.Errorf("%s with %s: %w", p.name, s, err)
			}
			fmt.Fprintf(os.Stderr, "%s with %s: %s\n", p.name, s, result)
			if s == clientGo {
				r.before = result
			} else {
				r.after = result
			}
		}
		// Tests of some programs have too short timeouts or no timeouts, and sometimes fail on
		// either side.
		for range attempts {
			if lost := r.regressions(); len(lost) > 0 {
				if err := w.rerunFailed(ctx, p, kinform, r.after, lost); err != nil {
					return fmt.Errorf("%s with %s, once more: %w", p.name, kinform, err)
				}
			}
		}
		rows = append(rows, r)
	}
	printTable(os.Stdout, rows)
	for _, r := range rows {
		if *only == "" && len(r.regressions()) > 0 {
			return fmt.Errorf("%s: %d tests pass with client-go alone", r.program.name, len(r.regressions()))
		}
	}
	return nil
}

// choose returns the programs with these names, or all programs, or the program in dir.
func choose(dir string, names []string) ([]program, error) {
	if dir != "" {
		dir, err := filepath.Abs(dir)
		return []program{{name: filepath.Base(dir), kind: "in a folder", module: filepath.Base(dir), dir: dir, build: names}}, err
	}
	if len(names) == 0 {
		return programs, nil
	}
	var chosen []program
	for _, name := range names {
		i := slices.IndexFunc(programs, func(p program) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no program %q: -list has the names", name)
		}
		chosen = append(chosen, programs[i])
	}
	return chosen, nil
}
