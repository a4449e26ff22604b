package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/kinform/kinform/bench/internal/progress"
	"github.com/kinform/kinform/bench/internal/report"
)

func main() {
	objects := flag.Int("objects", 20_000, "how many objects there are")
	runs := flag.Int("runs", 15, "how often to measure everything; the tables show medians")
	period := flag.Duration("for", 100*time.Millisecond, "how long one measurement takes")
	names := flag.String("rows", "", "measure only the rows whose name this regular expression matches")
	quick := flag.Bool("quick", false, "measure once with few objects, only to check that everything works")
	flag.Parse()
	if *quick {
		*objects, *runs, *period = 2000, 1, 20*time.Millisecond
	}
	if err := run(*names, *objects, *runs, *period, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "store:", err)
		os.Exit(1)
	}
}

func run(names string, objects, runs int, period time.Duration, out io.Writer) error {
	wanted, err := regexp.Compile(names)
	if err != nil {
		return fmt.Errorf("-rows: %w", err)
	}
	if objects < 1 || runs < 1 || period <= 0 {
		return fmt.Errorf("-objects, -runs and -for must be positive")
	}
	heading := report.Heading()
	chosen := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !wanted.MatchString(r.name) })
	steps := progress.New("store", len(chosen))
	table := report.Table{{"what", "client-go ns", "plain ns", "kinform ns", "ratio", "target", "B", "allocs", "B", "allocs", "B", "allocs", ""}}
	for _, row := range chosen {
		steps.Next("%s, %d runs of %v on each side", row.name, runs, period)
		m, err := row.measure(objects, runs, period)
		if err != nil {
			return err
		}
		table.Add(row.cells(m)...)
	}
	fmt.Fprintf(out, "STORE of %d objects, %d runs of %v\n\n%s", objects, runs, period, heading)
	fmt.Fprintf(out, "%-10s %s after\n\n%s\n", "", report.Load(), table)
	fmt.Fprintln(out, "B and allocs are those of client-go, of plain, and of kinform, in this order, the slices of index functions included.")
	return nil
}

// cells returns the cells of a row in the table.
func (r row) cells(m measurement) []string {
	theirs, textbook, ours := median(m[byClientGo]), median(m[byTextbook]), median(m[byKinform])
	ratio := report.Median(m.ratios())
	verdict := "met"
	if ratio > r.target || r.limit >= 0 && ours.allocations > r.limit+0.1 || r.bytes && ours.bytes > 1 {
		verdict = "missed"
	}
	number := func(n float64) string { return fmt.Sprintf("%.0f", n) }
	return []string{
		r.name, number(theirs.nanoseconds), number(textbook.nanoseconds), number(ours.nanoseconds), fmt.Sprintf("%.3f", ratio), fmt.Sprintf("%.2f", r.target),
		number(theirs.bytes), number(theirs.allocations), number(textbook.bytes), number(textbook.allocations), number(ours.bytes), number(ours.allocations), verdict,
	}
}

// median returns the median of each number separately.
func median(all []figure) figure {
	each := func(of func(figure) float64) float64 {
		var values []float64
		for _, f := range all {
			values = append(values, of(f))
		}
		return report.Median(values)
	}
	return figure{
		nanoseconds: each(func(f figure) float64 { return f.nanoseconds }),
		bytes:       each(func(f figure) float64 { return f.bytes }),
		allocations: each(func(f figure) float64 { return f.allocations }),
	}
}
