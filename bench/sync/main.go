package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/kinform/kinform/bench/internal/progress"
	"github.com/kinform/kinform/bench/internal/report"
)

// settings are the flags.
type settings struct {
	pods, runs, updates int
	rows                selection
	profiles            string
	only                *regexp.Regexp // selects clients by their names
}

func main() {
	set, err := parse(os.Args[1:])
	if err == nil {
		err = run(set)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sync:", err)
		os.Exit(1)
	}
}

func parse(args []string) (settings, error) {
	var set settings
	flags := flag.NewFlagSet("sync", flag.ExitOnError)
	flags.IntVar(&set.pods, "pods", 20_000, "how many pods there are")
	flags.IntVar(&set.runs, "runs", 5, "how often to measure everything; the tables show medians")
	flags.IntVar(&set.updates, "updates", 30_000, "how many events a watch is measured with")
	flags.StringVar(&set.profiles, "profile", "", "existing directory to write profiles to; profiles slow the measurement down")
	rows := flags.String("rows", strings.Join(usual, ","), "what to measure; dropin, alone or with relist and watch, compares programs with and without the line of module clientgo")
	only := flags.String("only", "", "measure only the clients whose names match this regular expression, such as 'protobuf' or '^manager'")
	quick := flags.Bool("quick", false, "measure once with few pods, only to check that everything works")
	_ = flags.Parse(args) // it exits on an error
	if *quick {
		set.pods, set.runs, set.updates = 2000, 1, 2000
	}
	if set.pods < 1 || set.runs < 1 || set.updates < 1 {
		return set, fmt.Errorf("-pods, -runs and -updates must be positive")
	}
	var err error
	if set.only, err = regexp.Compile(*only); err != nil {
		return set, fmt.Errorf("-only: %w", err)
	}
	set.rows, err = parseSelection(*rows)
	return set, err
}

func run(set settings) error {
	begin := time.Now()
	heading := report.Heading()
	// The server keeps its responses in memory. A higher percentage makes its garbage collections
	// rare, so that most of them run between measurements.
	debug.SetGCPercent(400)
	steps := set.progress()
	steps.Printf("compiling the clients, at first in minutes, and making %d pods", set.pods)
	l, err := newEnvironment(set.pods, set.updates, set.profiles, set.rows["dropin"])
	if err != nil {
		return err
	}
	defer l.close()
	l.steps = steps
	steps.Printf("warming up")
	if err := l.warm(); err != nil {
		return err
	}
	measured := make(results)
	if kinds := set.syncKinds(); len(kinds) > 0 {
		for n := range set.runs {
			if err := l.syncRound(roundOrder(kinds, n), set.rows["relist"], measured); err != nil {
				return err
			}
		}
	}
	if set.rows["watch"] {
		for n := range set.runs {
			for kinds := range slices.Chunk(roundOrder(set.watchKinds(), n), set.atOnce()) {
				steps.Next("watch, run %d of %d", n+1, set.runs)
				if err := l.watchRound(kinds, set.updates, measured); err != nil {
					return err
				}
			}
		}
	}
	fmt.Printf("SYNC of %d pods, %d runs, watches of %d events\n\n%s", set.pods, set.runs, set.updates, heading)
	fmt.Printf("%-10s %s after %v\n\n", "", report.Load(), time.Since(begin).Round(time.Second))
	if set.rows["dropin"] {
		fmt.Println(measured.dropinComparison())
	} else {
		fmt.Println(measured.comparison())
	}
	if kinds := set.syncKinds(); len(kinds) > 0 {
		fmt.Println(measured.details(kinds, syncMetrics))
	}
	if set.rows["watch"] {
		fmt.Println(measured.details(set.watchKinds(), watchMetrics))
	}
	fmt.Printf("Again: cd bench && go run ./sync %s\n", strings.Join(os.Args[1:], " "))
	fmt.Println("Not shown: TLS, compression and a network, which cost both sides the same; other sizes and kinds of objects;")
	fmt.Println("a machine with more cores, on which server and client do not take each other's time.")
	return nil
}

// progress returns a Progress with a step for each start of a client, and for each round of
// watches.
func (set settings) progress() *progress.Progress {
	steps := len(set.syncKinds())
	if set.rows["watch"] {
		steps += (len(set.watchKinds()) + set.atOnce() - 1) / set.atOnce()
	}
	return progress.New("sync", steps*set.runs)
}

// syncKinds and watchKinds return the measured clients.
func (set settings) syncKinds() []kind  { return set.named(syncKinds(set.rows)) }
func (set settings) watchKinds() []kind { return set.named(watchKinds(set.rows)) }

func (set settings) named(kinds []kind) []kind {
	return slices.DeleteFunc(kinds, func(k kind) bool { return !set.only.MatchString(k.String()) })
}

// atOnce returns how many clients get the same events at once. All of them are in memory together,
// and ten programs with 100,000 pods each would not fit. So with the rows dropin, each program is
// measured only beside the same program with the replace directive.
func (set settings) atOnce() int {
	if set.rows["dropin"] {
		return 2
	}
	return max(len(watchKinds(set.rows)), 1)
}

// roundOrder reverses the order in every second round, so that no client always comes first.
func roundOrder(kinds []kind, round int) []kind {
	if round%2 == 0 {
		return kinds
	}
	kinds = slices.Clone(kinds)
	slices.Reverse(kinds)
	return kinds
}
