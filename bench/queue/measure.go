package main

import (
	"fmt"
	"slices"
	"time"

	"go.uber.org/goleak"

	"github.com/kinform/kinform/bench/internal/meter"
	"github.com/kinform/kinform/bench/internal/progress"
	"github.com/kinform/kinform/bench/internal/report"
	"github.com/kinform/kinform/bench/internal/roundorder"
)

// measurement is the cost of a row on each side, once for each round.
type measurement map[int][]cost

// measure measures rows on all sides, round by round.
func measure(rows []row, runs int, period time.Duration, steps *progress.Progress) ([]measurement, error) {
	all := make([]measurement, len(rows))
	for i := range all {
		all[i] = measurement{}
	}
	for round := range runs {
		for i, r := range rows {
			steps.Next("run %d of %d, %s", round+1, runs, r.name)
			for _, s := range sideOrder(round) {
				if !r.supports(s) {
					continue
				}
				cost, err := r.measure(sides[s], period)
				if err != nil {
					return nil, err
				}
				all[i][s] = append(all[i][s], cost)
			}
		}
	}
	return all, nil
}

// sideOrder returns the sides in the order of a round. Each round begins with another side.
func sideOrder(round int) []int {
	return roundorder.Of(round, []int{clientGo, controllerRuntime, kinform}, textbook)
}

// measure measures a row on a side, and checks for leaked goroutines.
func (r row) measure(s side, period time.Duration) (cost, error) {
	others := goleak.IgnoreCurrent()
	stuck := time.AfterFunc(time.Minute+10*period, func() { panic("queue: " + r.name + ", " + s.name + ": the run does not end") })
	defer stuck.Stop()
	c := r.run(s.open, period)
	if err := goleak.Find(others); err != nil {
		return c, fmt.Errorf("%s, %s: %w", r.name, s.name, err)
	}
	return c, nil
}

// median returns the median of each number separately.
func median(all []cost) cost {
	each := func(of func(cost) float64) float64 { return report.Median(eachOf(all, of)) }
	return cost{Cost: meter.Cost{
		Wall:        each(wall),
		CPU:         each(cpu),
		Bytes:       each(func(c cost) float64 { return c.Bytes }),
		Allocations: each(func(c cost) float64 { return c.Allocations }),
	}, getsPerAdd: each(getsPerAdd)}
}

func wall(c cost) float64 { return c.Wall }
func cpu(c cost) float64  { return c.CPU }

func getsPerAdd(c cost) float64 { return c.getsPerAdd }

func eachOf(all []cost, of func(cost) float64) (values []float64) {
	for _, c := range all {
		values = append(values, of(c))
	}
	return values
}

// ratios returns the ratios of kinform to another side, round by round.
func (m measurement) ratios(against int, of func(cost) float64) []float64 {
	ours, theirs := eachOf(m[kinform], of), eachOf(m[against], of)
	for n := range ours {
		ours[n] /= theirs[n]
	}
	return ours
}

// table compares the time and the allocations of rows.
func table(rows []row, measured []measurement) string {
	t := report.Table{{"what", "client-go", "controller-rt.", "plain", "kinform", "ratio", "least-greatest", "target", ""}}
	allocated := report.Table{{"what is allocated", "client-go, B", "allocs", "controller-rt., B", "allocs", "plain, B", "allocs", "kinform, B", "allocs"}}
	for i, r := range rows {
		allocated.Add(r.allocations(measured[i])...)
		if !r.waits {
			t.Add(r.cells(measured[i], r.name, cpu, true)...)
			continue
		}
		t.Add(r.cells(measured[i], r.name+", wall", wall, true)...)
		t.Add(r.cells(measured[i], r.name+", CPU", cpu, false)...)
		if median(measured[i][kinform]).getsPerAdd > 0 {
			t.Add(r.shares(measured[i])...)
		}
	}
	return t.String() + "\n" + allocated.String()
}

// allocations returns the cells of a row in the table of allocations.
func (r row) allocations(m measurement) []string {
	cells := []string{r.name}
	for s := range sides {
		if m[s] == nil {
			cells = append(cells, "-", "-")
			continue
		}
		cost := median(m[s])
		cells = append(cells, fmt.Sprintf("%.0f", cost.Bytes), fmt.Sprintf("%.1f", cost.Allocations))
	}
	return cells
}

// cells returns the cells of a row for one of the clocks. counts reports whether this clock decides
// about the target.
func (r row) cells(m measurement, name string, clock func(cost) float64, counts bool) []string {
	cells := []string{name}
	for s := range sides {
		if m[s] == nil {
			cells = append(cells, "-")
			continue
		}
		cells = append(cells, fmt.Sprintf("%.0f", clock(median(m[s]))))
	}
	ratios := m.ratios(r.against, clock)
	if len(ratios) == 0 {
		return append(cells, "-", "-", r.limit(counts), "")
	}
	ratio := report.Median(ratios)
	cells = append(cells, fmt.Sprintf("%.2f", ratio), fmt.Sprintf("%.2f-%.2f", slices.Min(ratios), slices.Max(ratios)))
	return append(cells, r.limit(counts), r.verdict(counts, ratio, slices.Max(ratios), median(m[kinform]).Allocations))
}

// shares returns the cells with the share of adds that lead to a Get; the other adds are merged.
func (r row) shares(m measurement) []string {
	cells := []string{r.name + ", Gets per Add"}
	for s := range sides {
		if m[s] == nil {
			cells = append(cells, "-")
			continue
		}
		cells = append(cells, fmt.Sprintf("%.3f", median(m[s]).getsPerAdd))
	}
	return cells
}

// limit describes the target of a row.
func (r row) limit(counts bool) string {
	if !counts {
		return ""
	}
	limit := fmt.Sprintf("<= %.2f", r.target)
	if r.lean {
		limit += ", 0 allocs"
	}
	return limit
}

// verdict returns whether kinform meets its target, with a question mark if the rounds disagree.
// Allocations that round to zero in a thousand operations count as zero.
func (r row) verdict(counts bool, ratio, greatest, allocations float64) string {
	switch {
	case !counts:
		return ""
	case ratio > r.target || r.lean && allocations >= 0.001:
		return "missed"
	case greatest > r.target:
		return "met?"
	}
	return "met"
}
