package demo

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/kinform/kinform/reflector"
)

// linesPerSecond limits how many journeys the text report shows. It is more than an eye can follow,
// but not too much for a slow terminal.
const linesPerSecond = 25

// textReport writes for a person at a terminal with at least 80 columns.
type textReport struct {
	out io.Writer

	mu        sync.Mutex // guards following
	began     time.Time  // start of the churn
	second    time.Time  // start of the second that lines counts
	lines     int
	omitted   int
	latencies latencies
}

func newTextReport(out io.Writer) *textReport { return &textReport{out: out} }

func (r *textReport) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(r.out, format+"\n", args...) // The output keeps the error.
}

func (r *textReport) started(opts Options, url, page string) {
	r.printf("An API server with %d pods in %d namespaces starts in this process:\n%s (for this process alone)", opts.Pods, opts.Namespaces, url)
	if page != "" {
		r.printf("See it at work in a browser:\n%s", page)
	}
}

func (r *textReport) synced(objects int, took time.Duration) {
	r.printf(`Synced: %d pods are listed, stored, handled and enqueued after %v.

Changes, and the time that each spent in the DeltaFIFO, in the mailbox of the
handler, in the workqueue and with a worker:
%8s %-7s %-20s %7s %6s %6s %6s %6s %6s`, objects, brief(took),
		"", "EVENT", "POD", "VERSION", "FIFO", "MAIL", "QUEUE", "WORK", "TOTAL")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.began = time.Now()
}

func (r *textReport) journeyEnded(j journey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latencies.add(j.total())
	if now := time.Now(); now.Sub(r.second) >= time.Second {
		r.writeOmittedLocked()
		r.second, r.lines = now, 0
	}
	if r.lines >= linesPerSecond {
		r.omitted++
		return
	}
	r.lines++
	r.printf("%s %-7s %-20s %7s %6v %6v %6v %6v %6v", r.elapsedLocked(), j.Type, j.Key.String(), j.ResourceVersion,
		brief(j.FIFO), brief(j.Mailbox), brief(j.Workqueue), brief(j.Worker), brief(j.total()))
}

// writeOmittedLocked writes how many changes have been left out since its last call.
func (r *textReport) writeOmittedLocked() {
	if r.omitted > 0 {
		r.printf("%8s and %d more", "", r.omitted)
	}
	r.omitted = 0
}

// elapsedLocked returns the time since the start of the churn, as text.
func (r *textReport) elapsedLocked() string {
	at := 0.0
	if !r.began.IsZero() {
		at = time.Since(r.began).Seconds()
	}
	return fmt.Sprintf("%7.2fs", at)
}

func (r *textReport) attemptEnded(a attempt) {
	said, later := "succeeds", ""
	if a.failed {
		said = "fails"
	}
	if a.number > 1 {
		later = ", " + brief(a.after) + " later"
	}
	r.note("-- %s, attempt %d%s: %s", a.key, a.number, later, said)
}

func (r *textReport) slowSynced(calls uint64, took time.Duration) {
	r.note("-- the slow handler is synced %v after the start: %d calls have returned", brief(took), calls)
}

// note writes a line between the changes.
func (r *textReport) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.printf("%s "+format, append([]any{r.elapsedLocked()}, args...)...)
}

func (r *textReport) fault(what string) { r.note("** fault: %s", what) }

func (r *textReport) failed(err reflector.Error) {
	next := ""
	if err.RetryIn != unknown {
		next = ", next attempt in " + brief(err.RetryIn)
	}
	r.note("!! %v failed%s: %v", err.Phase, next, rootCause(err.Err))
}

func (r *textReport) draining() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writeOmittedLocked()
	r.printf("\nThe churn has stopped. Draining: what is on its way is finished first ...")
}

func (r *textReport) summary(s Summary) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writeOmittedLocked()
	p50, p99 := r.latencies.percentiles()
	r.printf(`
objects in the store     %8d
events to the handler    %8d
keys enqueued            %8d
keys reconciled          %8d
lists after the first    %8d
stale keys               %8d   (last reconciled state is not the server's)
change to end of work    %8v   median, 99th percentile %v`, s.Objects, s.Events, s.Enqueued, s.Reconciled, s.Relists, s.Stale, brief(p50), brief(p99))
	r.experimentsLocked(s.ExperimentResults)
}

func (r *textReport) experimentsLocked(t ExperimentResults) {
	if t.SlowCalls != nil {
		r.printf("calls of slow handler    %8d", *t.SlowCalls)
	}
	if t.Resyncs != nil {
		r.printf("events by resync         %8d", *t.Resyncs)
	}
	if l := t.Lookup; l != nil {
		r.printf("pods of %-16s %8d   by index in %v, one by one in %v", l.Node, l.Pods, brief(l.ByIndex), brief(l.OneByOne))
	}
}

// brief formats a duration with three digits.
func brief(d time.Duration) string {
	if d == unknown {
		return "-"
	}
	unit := time.Duration(1)
	for d >= 1000*unit {
		unit *= 10
	}
	return d.Round(unit).String()
}
