package main

import (
	"fmt"
	"slices"

	"github.com/kinform/kinform/bench/internal/report"
	"github.com/kinform/kinform/bench/internal/subject"
)

// metric is a measured quantity.
type metric struct {
	name, unit   string
	short        string // the name in tables with many columns
	format       string
	divisor      float64 // divides the values to get the unit
	moreIsBetter bool    // a higher value is better
}

var (
	syncWall    = &metric{"first sync, wall", "s", "sync: wall", "%.2f", 1, false}
	syncCPU     = &metric{"first sync, CPU", "s", "sync: CPU", "%.2f", 1, false}
	peakRSS     = &metric{"first sync, peak RSS", "MB", "sync: peak RSS", "%.0f", 1e6, false}
	liveHeap    = &metric{"live heap per pod", "KB", "live heap per pod", "%.2f", 1e3, false}
	relistBytes = &metric{"relist, unchanged: allocated", "MB", "relist: allocated", "%.1f", 1e6, false}
	relistCPU   = &metric{"relist, unchanged: CPU", "s", "relist: CPU", "%.2f", 1, false}
	eventRate   = &metric{"watch, events", "per s", "watch: events", "%.0f", 1, true}
	eventCPU    = &metric{"watch, CPU per event", "µs", "watch: CPU per event", "%.1f", 1e-6, false}

	syncMetrics  = []*metric{syncWall, syncCPU, peakRSS, liveHeap, relistBytes, relistCPU}
	watchMetrics = []*metric{eventRate, eventCPU}
)

func (m *metric) number(value float64) string { return fmt.Sprintf(m.format, value/m.divisor) }

// verdict returns the text of a target, and whether a ratio reaches the target. A goal of 0 means
// no target.
func (m *metric) verdict(ratio, goal float64) (target, verdict string) {
	if goal == 0 {
		return "", ""
	}
	target, verdict = fmt.Sprintf("<= %.2f", goal), "missed"
	if m.moreIsBetter {
		target = fmt.Sprintf(">= %.2f", goal)
	}
	if ratio == goal || m.moreIsBetter == (ratio > goal) {
		verdict = "met"
	}
	return target, verdict
}

// results has all values of each metric of each kind.
type results map[kind]map[*metric][]float64

func (r results) add(k kind, m *metric, value float64) {
	if r[k] == nil {
		r[k] = make(map[*metric][]float64)
	}
	r[k][m] = append(r[k][m], value)
}

// median returns the median of a metric. ok is false if there are no values.
func (r results) median(k kind, m *metric) (value float64, ok bool) {
	values := r[k][m]
	return report.Median(values), len(values) > 0
}

// best returns the mode in which a program has its best value, and this value.
func (r results) best(program, encoding, shape string, m *metric) (mode string, value float64, ok bool) {
	for _, candidate := range []string{subject.List, subject.WatchList} {
		v, measured := r.median(kind{program, encoding, candidate, shape}, m)
		if measured && (!ok || m.moreIsBetter && v > value || !m.moreIsBetter && v < value) {
			mode, value, ok = candidate, v, true
		}
	}
	return mode, value, ok
}

type goal struct {
	metric                *metric
	encoding, shape, than string
	ratio                 float64 // target of kinform / client-go; 0 means no target
}

// goals are kinform's targets with its defaults. The rows without sharing have no targets; they
// show what sharing saves. Informers that keep less of a pod are compared twice: with client-go's
// informer of whole pods, which is the usual alternative, and with the client-go informer that
// keeps the least.
var goals = []goal{
	{syncWall, subject.Protobuf, subject.Full, subject.Full, 0.5},
	{syncCPU, subject.Protobuf, subject.Full, subject.Full, 0.5},
	{syncWall, subject.JSON, subject.Full, subject.Full, 0.33},
	{syncCPU, subject.JSON, subject.Full, subject.Full, 0},
	{peakRSS, subject.Protobuf, subject.Full, subject.Full, 0.5},
	{peakRSS, subject.JSON, subject.Full, subject.Full, 0.5},
	{liveHeap, subject.Protobuf, subject.Full, subject.Full, 0.5},
	{liveHeap, subject.JSON, subject.Full, subject.Full, 0.5},
	{liveHeap, subject.Protobuf, subject.Stripped, subject.Full, 0.45},
	{liveHeap, subject.Protobuf, subject.Metadata, subject.Full, 0.15},
	{liveHeap, subject.Protobuf, subject.Stripped, subject.Stripped, 0},
	{liveHeap, subject.Protobuf, subject.Metadata, subject.Metadata, 0},
	{liveHeap, subject.Protobuf, subject.Transformed, subject.Transformed, 0.55},
	{liveHeap, subject.JSON, subject.Transformed, subject.Transformed, 0.55},
	{peakRSS, subject.Protobuf, subject.Transformed, subject.Transformed, 0.55},
	{peakRSS, subject.JSON, subject.Transformed, subject.Transformed, 0.55},
	{eventRate, subject.Protobuf, subject.Full, subject.Full, 2.5},
	{eventRate, subject.JSON, subject.Full, subject.Full, 4},
	{eventCPU, subject.Protobuf, subject.Full, subject.Full, 0},
	{eventCPU, subject.JSON, subject.Full, subject.Full, 0},
	{relistBytes, subject.Protobuf, subject.Full, subject.Full, 0.1},
	{relistBytes, subject.JSON, subject.Full, subject.Full, 0.1},
	{relistCPU, subject.Protobuf, subject.Full, subject.Full, 0},
	{relistCPU, subject.JSON, subject.Full, subject.Full, 0},
}

// withoutTarget returns the same row without a target.
func (g goal) withoutTarget() goal {
	g.ratio = 0
	return g
}

// comparison compares client-go in its best mode, row by row, with kinform in its default mode of
// listing. kinform has two rows: with its defaults, and without sharing, which has no target. plain
// has a column without a target, which is empty if plain does not support the row.
func (r results) comparison() report.Table {
	t := report.Table{{"medians", "client-go", "its mode", "plain", "kinform", "ratio", "target", ""}}
	for _, g := range goals {
		r.compare(&t, g, kinform, "default")
		r.compare(&t, g.withoutTarget(), withoutSharing, "without sharing")
	}
	return t
}

// compare adds a row, if both sides have been measured.
func (r results) compare(t *report.Table, g goal, program, how string) {
	ours, ok := r.median(kind{program, g.encoding, subject.List, g.shape}, g.metric)
	mode, theirs, measured := r.best(clientgo, g.encoding, g.than, g.metric)
	if ok && measured {
		name := fmt.Sprintf("%s, %s, %s", g.metric.name, g.encoding, how)
		switch {
		case g.shape != g.than:
			name += fmt.Sprintf(", %s against %s", g.shape, g.than)
		case g.shape != subject.Full:
			name += fmt.Sprintf(", %s both", g.shape)
		}
		ratio := ours / theirs
		target, verdict := g.metric.verdict(ratio, g.ratio)
		textbook := ""
		if v, ok := r.median(kind{plain, g.encoding, subject.List, g.shape}, g.metric); ok {
			textbook = g.metric.number(v) + " " + g.metric.unit
		}
		t.Add(name, g.metric.number(theirs)+" "+g.metric.unit, mode, textbook, g.metric.number(ours)+" "+g.metric.unit,
			fmt.Sprintf("%.2f", ratio), target, verdict)
	}
}

// details shows every kind, with the least and the greatest value.
func (r results) details(kinds []kind, metrics []*metric) report.Table {
	shown := slices.DeleteFunc(slices.Clone(metrics), func(m *metric) bool {
		return !slices.ContainsFunc(kinds, func(k kind) bool { return len(r[k][m]) > 0 })
	})
	header := []string{"medians (least-greatest)"}
	for _, m := range shown {
		header = append(header, m.short+", "+m.unit)
	}
	t := report.Table{header}
	for _, k := range kinds {
		row := []string{k.String()}
		for _, m := range shown {
			cell := "-"
			if v, ok := r.median(k, m); ok {
				cell = fmt.Sprintf("%s (%s-%s)", m.number(v), m.number(slices.Min(r[k][m])), m.number(slices.Max(r[k][m])))
			}
			row = append(row, cell)
		}
		t.Add(row...)
	}
	return t
}
