package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/kinform/kinform/bench/internal/progress"
	"github.com/kinform/kinform/bench/internal/report"
)

// settings are the flags.
type settings struct {
	latency, fairness bool // measured instead of the rows

	runs   int
	period time.Duration
	rows   string

	adds int
	rate float64
	work time.Duration

	rounds int
}

func main() {
	var set settings
	flag.BoolVar(&set.latency, "latency", false, "measure how long keys wait, rather than what operations cost")
	flag.BoolVar(&set.fairness, "fairness", false, "measure how fair queues are to namespaces, rather than what operations cost")
	flag.IntVar(&set.runs, "runs", 0, "how often to measure everything; the tables show medians; the default is 5, and 15 with -latency")
	flag.DurationVar(&set.period, "for", 200*time.Millisecond, "how long one measurement of a row takes")
	flag.StringVar(&set.rows, "rows", "", "only rows with one of these words, separated by commas")
	flag.IntVar(&set.adds, "adds", 2000, "how many adds to measure with -latency")
	flag.Float64Var(&set.rate, "rate", 20_000, "how many adds a second with -latency")
	flag.DurationVar(&set.work, "work", 5*time.Microsecond, "how long a worker takes for a key with -latency")
	flag.IntVar(&set.rounds, "rounds", 500, "how many rounds the load of namespaces has, with -fairness")
	quick := flag.Bool("quick", false, "measure once and briefly, only to check that everything works")
	flag.Parse()
	if *quick {
		set.runs, set.period = 1, 10*time.Millisecond
	}
	if err := run(set, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "queue:", err)
		os.Exit(1)
	}
}

// run measures the selected tables and writes a report.
func run(set settings, out io.Writer) error {
	if set.runs < 0 || set.period <= 0 || set.adds < 1 || set.rate <= 0 || set.work < 0 || set.rounds < 1 {
		return fmt.Errorf("-for, -adds, -rate and -rounds must be positive")
	}
	heading := report.Heading()
	var parts []string
	if set.latency {
		runs := cmp.Or(set.runs, 15)
		loads := loads(set.adds, set.rate, set.work)
		steps := progress.New("queue", len(loads)*runs*len(latencySubjects()))
		table, err := latencies(loads, runs, steps)
		if err != nil {
			return err
		}
		parts = append(parts, fmt.Sprintf("LATENCY of %d adds, %.0f a second, of %d keys, each %v of work; the calmest third of %d runs\n\n%s",
			set.adds, set.rate, distinct, set.work, runs, table))
	}
	if set.fairness {
		c := defaultFairnessLoad(set.rounds)
		progress.New("queue", 0).Printf("fairness, %d rounds", c.rounds)
		parts = append(parts, fmt.Sprintf("FAIRNESS to %d namespaces, of which one adds %d times as much as each other; %d rounds\n\n%s",
			len(c.demands), c.demands[0], c.rounds, c.table()))
	}
	if !set.latency && !set.fairness {
		costs, err := set.costs()
		if err != nil {
			return err
		}
		parts = append(parts, costs)
	}
	fmt.Fprintf(out, "QUEUE\n\n%s%-10s %s after\n\n%s", heading, "", report.Load(), strings.Join(parts, "\n"))
	return nil
}

// costs measures the rows.
func (set settings) costs() (string, error) {
	var b strings.Builder
	chosen, runs := selected(set.rows), cmp.Or(set.runs, 5)
	if len(chosen) > 0 {
		measured, err := measure(chosen, runs, set.period, progress.New("queue", runs*len(chosen)))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "COST of an operation in ns, %d runs of %v\n\n%s", runs, set.period, table(chosen, measured))
	}
	if matches(idleRow, set.rows) {
		progress.New("queue", 0).Printf("%s", idleRow)
		unused, err := idle()
		if err != nil {
			return "", err
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(unused)
	}
	if b.Len() == 0 {
		return "", fmt.Errorf("no row has one of the words %q", set.rows)
	}
	return b.String(), nil
}
