package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kinform/kinform/bench/internal/report"
)

// settings are what can be chosen.
type settings struct {
	runs   int
	period time.Duration
	rows   string
}

func main() {
	var set settings
	flag.IntVar(&set.runs, "runs", 5, "how often everything is measured; medians count")
	flag.DurationVar(&set.period, "for", 200*time.Millisecond, "how long one measurement takes")
	flag.StringVar(&set.rows, "rows", "", "only rows with one of these words, separated by commas")
	quick := flag.Bool("quick", false, "once, and briefly: to see that it works, not how fast")
	flag.Parse()
	if *quick {
		set.runs, set.period = 1, 10*time.Millisecond
	}
	if err := run(set, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "queue:", err)
		os.Exit(1)
	}
}

// run measures what is chosen and writes a report.
func run(set settings, out io.Writer) error {
	if set.runs < 1 || set.period <= 0 {
		return fmt.Errorf("-runs and -for must be positive")
	}
	chosen := selected(set.rows)
	if len(chosen) == 0 {
		return fmt.Errorf("no row has one of the words %q", set.rows)
	}
	heading := report.Heading()
	measured, err := measure(chosen, set.runs, set.period)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "QUEUE, nanoseconds per operation, %d runs of %v\n\n%s", set.runs, set.period, heading)
	fmt.Fprintf(out, "%-10s %s after\n\n%s", "", report.Load(), table(chosen, measured))
	return nil
}
