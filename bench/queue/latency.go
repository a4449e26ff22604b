package main

import (
	"fmt"
	"slices"
	"time"

	"go.uber.org/goleak"

	"github.com/kinform/kinform/bench/internal/progress"
	"github.com/kinform/kinform/bench/internal/report"
	"github.com/kinform/kinform/bench/internal/roundorder"
)

// latencyShares are the reported quantiles.
var latencyShares = []struct {
	name  string
	share float64
}{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}}

// latencyRun is the result of one run.
type latencyRun struct {
	quantiles []float64 // in microseconds
	untimed   int
	delayed   time.Duration
}

// leastDelayed returns the third of the runs in which the process waited least for a processor. The
// other runs mostly show other load on the machine.
func leastDelayed(runs []latencyRun) []latencyRun {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b latencyRun) int { return int(a.delayed - b.delayed) })
	return runs[:(len(runs)+2)/3]
}

// medianOf returns the median of a number over the least delayed runs.
func medianOf(runs []latencyRun, of func(latencyRun) float64) float64 {
	var values []float64
	for _, r := range leastDelayed(runs) {
		values = append(values, of(r))
	}
	return report.Median(values)
}

// latencySubjects returns the columns of the table: a lower bound for all sides, and then the
// sides.
func latencySubjects() []side { return append([]side{{"bare channel", openBare}}, sides...) }

// latencyOrder returns the order in which the columns are measured.
func latencyOrder(round int) []int {
	const bare = 0
	return roundorder.Of(round, []int{bare, 1 + clientGo, 1 + controllerRuntime, 1 + kinform}, 1+textbook)
}

// latencies runs every load on every queue several times, and returns a table of the medians of
// quantiles.
func latencies(loads []load, runs int, steps *progress.Progress) (string, error) {
	subjects := latencySubjects()
	t := report.Table{{"time from Add to Get, µs", "", "bare channel", "client-go", "controller-rt.", "plain", "kinform", "to client-go", "to controller-rt."}}
	untimed := make([]int, len(subjects))
	for _, l := range loads {
		measured, err := l.measure(subjects, runs, steps)
		if err != nil {
			return "", err
		}
		for i, q := range latencyShares {
			l.add(&t, q.name, "%.1f", measured, func(r latencyRun) float64 { return r.quantiles[i] })
		}
		l.add(&t, "no processor", "%.0f", measured, func(r latencyRun) float64 { return float64(r.delayed.Microseconds()) })
		for s := range subjects {
			for _, r := range measured[s] {
				untimed[s] += r.untimed
			}
		}
	}
	notes := "\nno processor: for how long, in such a run, the process had none because others had it.\nRuns of a key that could not be timed:"
	for s := range sides {
		notes += fmt.Sprintf(" %s %d,", sides[s].name, untimed[1+s])
	}
	return t.String() + fmt.Sprintf("%s of %d adds each.\n", notes, len(loads)*runs*loads[0].adds), nil
}

// add adds a row for the load to the table.
func (l load) add(t *report.Table, what, format string, measured [][]latencyRun, of func(latencyRun) float64) {
	cells := []string{l.String(), what}
	var medians []float64
	for _, runs := range measured {
		medians = append(medians, medianOf(runs, of))
		cells = append(cells, fmt.Sprintf(format, medians[len(medians)-1]))
	}
	if ours := medians[1+kinform]; format != "%.0f" {
		cells = append(cells, fmt.Sprintf("%.2f", ours/medians[1+clientGo]), fmt.Sprintf("%.2f", ours/medians[1+controllerRuntime]))
	}
	t.Add(cells...)
}

// measure runs the load on each subject, one after another, and checks for leaked goroutines.
func (l load) measure(subjects []side, runs int, steps *progress.Progress) ([][]latencyRun, error) {
	measured := make([][]latencyRun, len(subjects))
	for round := range runs {
		for _, s := range latencyOrder(round) {
			steps.Next("%v, run %d of %d, %s", l, round+1, runs, subjects[s].name)
			others := goleak.IgnoreCurrent()
			w, err := l.run(subjects[s].open)
			if err == nil {
				err = goleak.Find(others)
			}
			if err != nil {
				return nil, fmt.Errorf("%v, %s: %w", l, subjects[s].name, err)
			}
			run := latencyRun{untimed: w.unknownDue, delayed: w.cpuDelay}
			for _, q := range latencyShares {
				run.quantiles = append(run.quantiles, float64(report.Quantile(w.all, q.share))/1000)
			}
			measured[s] = append(measured[s], run)
		}
	}
	return measured, nil
}
