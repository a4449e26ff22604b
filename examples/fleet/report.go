package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// report has the measurements.
type report struct {
	phases         []phase
	takeovers      []takeover
	ready          []time.Duration // from the start of each replica until its caches were complete
	replicaReports []replicaReport
	late           int

	leaderPeak, standbyPeak int64 // in bytes
}

// phase is a part of the test, with the durations of its orders.
type phase struct {
	name string
	took []time.Duration // the shortest first
	wall time.Duration
}

// takeover is the time from a signal to the leader until the first status that the other replica
// writes.
type takeover struct {
	signal string
	took   time.Duration
}

// replicaReport has the last report of a replica, and the kernel's figures.
type replicaReport struct {
	name                                  string
	statuses                              int
	reconciles, failures, events, dropped uint64
	cpu                                   time.Duration
}

// memory records the peak memory of the replicas so far.
func (r *report) memory(replicas []*process) {
	r.leaderPeak = max(r.leaderPeak, replicas[0].peak())
	for _, p := range replicas[1:] {
		r.standbyPeak = max(r.standbyPeak, p.peak())
	}
}

// end stops a replica, unless it is ending already, and records its last report.
func (r *report) end(p *process, w *watcher) error {
	if err := p.stop(); err != nil {
		return err
	}
	e := replicaReport{name: p.name, statuses: w.leader(p.name).statuses, cpu: p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()}
	line, _, _ := p.line("ended")
	if _, err := fmt.Sscanf(line, "reconciles=%d failures=%d events=%d dropped=%d", &e.reconciles, &e.failures, &e.events, &e.dropped); err != nil {
		return fmt.Errorf("%s printed %q at its end: %w", p.name, line, err)
	}
	r.replicaReports = append(r.replicaReports, e)
	return nil
}

// print writes the report as tables in Markdown.
func (r *report) print(out io.Writer, l *load) error {
	looks := "looked at"
	if l.watch {
		looks = "watched"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %d robots, two replicas with %d workers, a lease of %v that is %s; %s, %d CPUs, %s/%s\n\n",
		time.Now().UTC().Format(time.DateOnly), l.objects, l.workers, l.lease, looks, runtime.Version(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	table := tabwriter.NewWriter(&text, 0, 0, 1, ' ', 0)
	row := func(cells ...any) {
		for _, cell := range cells {
			fmt.Fprintf(table, "| %v\t", cell)
		}
		fmt.Fprintln(table, "|")
	}
	row("orders given and done", "orders", "wall", "per second", "p50", "p99", "longest")
	row("---", "---:", "---:", "---:", "---:", "---:", "---:")
	for _, p := range r.phases {
		row(p.name, len(p.took), short(p.wall), fmt.Sprintf("%.0f", float64(len(p.took))/p.wall.Seconds()), short(p.percentile(50)), short(p.percentile(99)), short(p.percentile(100)))
	}
	_ = table.Flush() // cannot fail with a strings.Builder
	text.WriteString("\n")
	row("replicas", "")
	row("---", "---:")
	for _, t := range r.takeovers {
		row("the other works after "+t.signal, short(t.took))
	}
	var slowest time.Duration
	for _, d := range r.ready {
		slowest = max(slowest, d)
	}
	row("start until the caches are complete, the slowest of all", short(slowest))
	if r.leaderPeak > 0 {
		row("peak memory of a leader", fmt.Sprintf("%d MB", r.leaderPeak>>20))
		row("peak memory of a standby", fmt.Sprintf("%d MB", r.standbyPeak>>20))
	}
	var failures, dropped uint64
	for _, e := range r.replicaReports {
		if e.statuses > 0 {
			row(fmt.Sprintf("%s: CPU for each of %d orders, all else included", e.name, e.statuses), short(e.cpu/time.Duration(e.statuses)))
			row(e.name+": reconciles", e.reconciles)
		}
		failures, dropped = failures+e.failures, dropped+e.dropped
	}
	row("reconciles that failed", failures)
	row("events that were dropped", dropped)
	row("statuses of an earlier leader after a later one's", r.late)
	_ = table.Flush()
	_, err := io.WriteString(out, text.String())
	return err
}

// percentile returns the time within which this percentage of the orders was done.
func (p phase) percentile(percent int) time.Duration {
	if len(p.took) == 0 {
		return 0
	}
	return p.took[(len(p.took)*percent+99)/100-1]
}

// short rounds a duration to its significant digits.
func short(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond)
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(time.Microsecond)
}
