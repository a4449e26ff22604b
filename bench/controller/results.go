package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kinform/kinform/bench/internal/report"
)

// results has all values by phase, row and side.
type results map[string]map[string]map[string][]float64

// requestRow is the prefix of rows about requests, which have a table of their own.
const requestRow = "request: "

func (r results) add(phase, row, side string, value float64) {
	if r[phase] == nil {
		r[phase] = map[string]map[string][]float64{}
	}
	if r[phase][row] == nil {
		r[phase][row] = map[string][]float64{}
	}
	r[phase][row][side] = append(r[phase][row][side], value)
}

// row is a line of a table, with its unit and its target.
type row struct {
	phase, name, format string
	unit                float64 // divisor of the values
	target              float64 // target ratio, or 0
	zero                bool    // the target is zero
}

var rows = []row{
	{restart, "start to first reconcile", "%.0f ms", 1e-3, 0, false},
	{restart, "start until all are reconciled", "%.0f ms", 1e-3, 0, false},
	{restart, "CPU per reconcile", "%.0f µs", 1e-6, 0, false},
	{restart, "reconciles per object", "%.2f", 1, 0, false},
	{restart, "peak RSS", "%.1f MB", 1e6, 0.5, false},
	{restart, "live heap", "%.1f MB", 1e6, 0.5, false},

	{created, "objects per second", "%.0f", 1, 0, false},
	{created, "reconciles per object", "%.2f", 1, 0, false},
	{created, "CPU per object", "%.0f µs", 1e-6, 0.6, false},
	{created, "CPU per reconcile", "%.0f µs", 1e-6, 0, false},
	{created, "allocated per object", "%.1f kB", 1e3, 0, false},
	{created, "allocations per object", "%.0f", 1, 0, false},
	{created, "requests per object", "%.2f", 1, 0, false},
	{created, "409 (conflicts, repeated creates)", "%.0f", 1, 0, true},

	{paced, "change to status, p50", "%.2f ms", 1e-3, 0, false},
	{paced, "change to status, p99", "%.2f ms", 1e-3, 0.7, false},
	{paced, "reconciles per object", "%.2f", 1, 0, false},
	{paced, "CPU per object", "%.0f µs", 1e-6, 0.6, false},
	{paced, "CPU per reconcile", "%.0f µs", 1e-6, 0, false},
	{paced, "allocated per object", "%.1f kB", 1e3, 0, false},
	{paced, "requests per object", "%.2f", 1, 0, false},
	{paced, "409 (conflicts, repeated creates)", "%.0f", 1, 0, true},

	{changed, "objects per second", "%.0f", 1, 0, false},
	{changed, "reconciles per object", "%.2f", 1, 0, false},
	{changed, "CPU per object", "%.0f µs", 1e-6, 0.6, false},
	{changed, "CPU per reconcile", "%.0f µs", 1e-6, 0, false},
	{changed, "allocated per object", "%.1f kB", 1e3, 0, false},
	{changed, "requests per object", "%.2f", 1, 0, false},
	{changed, "409 (conflicts, repeated creates)", "%.0f", 1, 0, true},
	{changed, "peak RSS", "%.1f MB", 1e6, 0.5, false},
	{changed, "live heap", "%.1f MB", 1e6, 0.5, false},

	{takeover, "after SIGTERM", "%.2f s", 1, 0, false},
	{takeover, "after SIGKILL", "%.2f s", 1, 0, false},
}

// table returns the medians, and the ratios with their minimum and maximum over the runs.
func (r results) table(title string) report.Table {
	table := report.Table{{title + ", medians", theirs, waiting, ours, "ratio", "least-greatest", "target", ""}}
	for _, row := range rows {
		measured := r[row.phase][row.name]
		if measured == nil {
			continue
		}
		third := ""
		if values := measured[waiting]; values != nil {
			third = fmt.Sprintf(row.format, report.Median(values)/row.unit)
		}
		c := comparison(row.phase+": "+row.name, row.format, row.unit, report.Median(measured[theirs]), report.Median(measured[ours]), row.target)
		spread := ""
		if all := ratios(measured[ours], measured[theirs]); len(all) > 0 {
			c[3] = fmt.Sprintf("%.2f", report.Median(all))
			spread = fmt.Sprintf("%.2f-%.2f", slices.Min(all), slices.Max(all))
			if row.target > 0 {
				c[5] = verdict(report.Median(all) <= row.target)
			}
		}
		if row.zero {
			c[3], spread, c[4], c[5] = "", "", "0", verdict(slices.Max(measured[ours]) == 0)
		}
		table.Add(c[0], c[1], third, c[2], c[3], spread, c[4], c[5])
	}
	return table
}

// comparison returns the cells of a row: name, both values, ratio, target, and whether the target
// is met.
func comparison(name, format string, unit, theirs, ours, target float64) []string {
	c := []string{name, fmt.Sprintf(format, theirs/unit), fmt.Sprintf(format, ours/unit), "", "", ""}
	if theirs != 0 {
		c[3] = fmt.Sprintf("%.2f", ours/theirs)
	}
	if target > 0 {
		c[4], c[5] = fmt.Sprintf("<= %.2f", target), verdict(ours <= target*theirs)
	}
	return c
}

// ratios divides the values of the two sides run by run.
func ratios(over, under []float64) (all []float64) {
	for n := range min(len(over), len(under)) {
		if under[n] != 0 {
			all = append(all, over[n]/under[n])
		}
	}
	return all
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "missed"
}

// requests returns a table of each side's requests with their results.
func (r results) requests(set settings) report.Table {
	table := report.Table{{"requests, medians", theirs, waiting, ours}}
	for _, phase := range []string{restart, created, paced, changed} {
		var kinds []string
		for row := range r[phase] {
			if what, is := strings.CutPrefix(row, requestRow); is {
				kinds = append(kinds, what)
			}
		}
		slices.Sort(kinds)
		for _, what := range kinds {
			cells := []string{phase + ": " + what}
			for _, side := range []string{theirs, waiting, ours} {
				// In a round without such a request, its number is 0.
				values := slices.Clone(r[phase][requestRow+what][side])
				for len(values) < set.runs {
					values = append(values, 0)
				}
				cells = append(cells, fmt.Sprintf("%.0f", report.Median(values)))
			}
			table.Add(cells...)
		}
	}
	return table
}

// isConflict reports whether requests in this row ended with status 409.
func isConflict(what string) bool { return strings.HasSuffix(what, ": 409") }
