package main

import (
	"fmt"

	"github.com/kinform/kinform/bench/internal/report"
)

// rows returns the rows of the report, with kinform's targets: a ratio or an absolute number.
func rows() (rows []row) {
	for _, p := range sendRates {
		for _, q := range quantiles {
			r := row{name: p.name + ", " + q.name, unit: "µs"}
			if q.name == "p99" {
				r.ratio = 0.5
			}
			rows = append(rows, r)
		}
	}
	return append(rows, row{name: "goroutines per informer", most: 3}, row{name: "goroutines per handler", most: 1})
}

type row struct {
	name, unit  string
	ratio, most float64 // targets; 0 means no target
}

// compare returns the table of medians. Ratios are computed between consecutive measurements,
// because the speed of the machine drifts over minutes.
func compare(measured map[string]map[string][]float64) string {
	table := report.Table{{"medians", "bare", "client-go", "plain", "kinform", "ratio", "target", ""}}
	for _, r := range rows() {
		theirs, ours := report.Median(measured[r.name]["client-go"]), report.Median(measured[r.name]["kinform"])
		ratio := report.Median(ratios(measured[r.name]["kinform"], measured[r.name]["client-go"]))
		target, met := "", ""
		without := func(name string) string { // the median of a side without a target
			if values := measured[r.name][name]; values != nil {
				return number(report.Median(values), r.unit)
			}
			return ""
		}
		switch {
		case r.ratio > 0:
			target, met = fmt.Sprintf("<= %.2f", r.ratio), verdict(ratio <= r.ratio)
		case r.most > 0:
			target, met = fmt.Sprintf("<= %.0f", r.most), verdict(ours <= r.most)
		}
		table.Add(r.name, without("bare"), number(theirs, r.unit), without("plain"), number(ours, r.unit), fmt.Sprintf("%.2f", ratio), target, met)
	}
	return table.String()
}

// ratios divides the numbers of each run.
func ratios(over, under []float64) (all []float64) {
	for n := range min(len(over), len(under)) {
		all = append(all, over[n]/under[n])
	}
	return all
}

func number(value float64, unit string) string {
	if unit == "" {
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "missed"
}
