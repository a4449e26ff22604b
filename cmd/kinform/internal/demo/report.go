package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Summary is what a run amounts to.
type Summary struct {
	// Objects is how many the store holds, Events how many the handler was given.
	Objects int    `json:"objects"`
	Events  uint64 `json:"events"`
	// Enqueued counts the keys that the workqueue accepted, Reconciled the runs of
	// workers: less than events, as keys that wait are merged.
	Enqueued   uint64 `json:"enqueued"`
	Reconciled uint64 `json:"reconciled"`
	// Relists counts lists after the first one.
	Relists int64 `json:"relists"`
	// Stale counts keys whose last reconciled state is not the server's.
	Stale int `json:"stale"`
}

// report shows a run to whoever watches it. Its methods are called by several
// goroutines.
type report interface {
	started(opts Options, url string)
	syncing(items, total int)
	synced(objects int, took time.Duration)
	traveled(j journey)
	fault(what string)
	failed(err error)
	draining()
	summary(s Summary)
}

// jsonReport writes one JSON object a line.
type jsonReport struct {
	mu  sync.Mutex // guards following
	out *json.Encoder
}

func newJSONReport(out io.Writer) *jsonReport { return &jsonReport{out: json.NewEncoder(out)} }

func (r *jsonReport) write(line any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.out.Encode(line) // Whoever closed our output does not want to know more.
}

func (r *jsonReport) started(opts Options, url string) {
	r.write(struct {
		Type    string  `json:"type"`
		URL     string  `json:"url"`
		Pods    int     `json:"pods"`
		Churn   float64 `json:"churn"`
		Workers int     `json:"workers"`
		Faults  bool    `json:"faults"`
	}{"started", url, opts.Pods, opts.Churn, opts.Workers, opts.Faults})
}

func (r *jsonReport) syncing(int, int) {}

func (r *jsonReport) synced(objects int, took time.Duration) {
	r.write(struct {
		Type    string `json:"type"`
		Objects int    `json:"objects"`
		TookUS  int64  `json:"took_us"`
	}{"synced", objects, took.Microseconds()})
}

func (r *jsonReport) traveled(j journey) {
	type stages struct {
		Queue     int64 `json:"queue"`
		Mailbox   int64 `json:"mailbox"`
		Workqueue int64 `json:"workqueue"`
		Worker    int64 `json:"worker"`
		Total     int64 `json:"total"`
	}
	r.write(struct {
		Type            string `json:"type"`
		Event           string `json:"event"`
		Cause           string `json:"cause"`
		Key             string `json:"key"`
		ResourceVersion string `json:"resourceVersion"`
		Merged          int    `json:"merged,omitempty"`
		StagesUS        stages `json:"stages_us"`
	}{"event", j.Type.String(), j.Cause.String(), j.Key.String(), j.ResourceVersion, j.Merged, stages{
		j.Queue.Microseconds(), j.Mailbox.Microseconds(), j.Workqueue.Microseconds(), j.Worker.Microseconds(), j.total().Microseconds(),
	}})
}

func (r *jsonReport) fault(what string) {
	r.write(struct {
		Type  string `json:"type"`
		Fault string `json:"fault"`
	}{"fault", what})
}

func (r *jsonReport) failed(err error) {
	r.write(struct {
		Type  string `json:"type"`
		Error string `json:"error"`
	}{"error", err.Error()})
}

func (r *jsonReport) draining() {
	r.write(struct {
		Type string `json:"type"`
	}{"draining"})
}

func (r *jsonReport) summary(s Summary) {
	r.write(struct {
		Type string `json:"type"`
		Summary
	}{"summary", s})
}

// linesPerSecond is how many journeys the text report shows at most: more than
// an eye can follow, and few enough for a slow terminal.
const linesPerSecond = 25

// textReport writes for a person at a terminal.
type textReport struct {
	mu        sync.Mutex // guards following
	out       io.Writer
	bar       *progressbar.ProgressBar
	barOut    io.Writer
	second    time.Time
	lines     int
	unshown   int
	latencies latencies
}

func newTextReport(out, progress io.Writer) *textReport {
	return &textReport{out: out, barOut: progress}
}

func (r *textReport) printf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.printfLocked(format, args...)
}

func (r *textReport) printfLocked(format string, args ...any) {
	fmt.Fprintf(r.out, format+"\n", args...)
}

func (r *textReport) started(opts Options, url string) {
	r.printf("An API server with %d pods in %d namespaces listens at %s, in this process.", opts.Pods, opts.Namespaces, url)
}

func (r *textReport) syncing(items, total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.barOut == nil {
		return
	}
	if r.bar == nil {
		r.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(r.barOut),
			progressbar.OptionSetDescription("first list"),
			progressbar.OptionShowCount(),
			progressbar.OptionSetWidth(40),
			progressbar.OptionOnCompletion(func() { fmt.Fprintln(r.barOut) }),
		)
	}
	_ = r.bar.Set(min(items, total))
}

func (r *textReport) synced(objects int, took time.Duration) {
	r.syncing(objects, objects)
	r.printf("Synced: %d pods are listed, stored, handled and queued after %v.\n", objects, took.Round(10*time.Microsecond))
	r.printf("%-12s  %-8s  %-28s %-8s  %10s  %10s  %10s  %10s  %10s", "TIME", "EVENT", "POD", "VERSION", "→ STORE", "→ HANDLER", "→ WORKER", "WORK", "TOTAL")
}

func (r *textReport) traveled(j journey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.latencies.add(j.total())
	if now.Sub(r.second) >= time.Second {
		if r.unshown > 0 {
			r.printfLocked("%14s… and %d more", "", r.unshown)
		}
		r.second, r.lines, r.unshown = now, 0, 0
	}
	if r.lines >= linesPerSecond {
		r.unshown++
		return
	}
	r.lines++
	r.printfLocked("%s  %-8s  %-28s %-8s  %10v  %10v  %10v  %10v  %10v", now.Format("15:04:05.000"),
		j.Type, j.Key.String(), j.ResourceVersion, round(j.Queue), round(j.Mailbox), round(j.Workqueue), round(j.Worker), round(j.total()))
}

// round keeps what a person compares.
func round(d time.Duration) time.Duration { return d.Round(100 * time.Nanosecond) }

func (r *textReport) fault(what string) { r.printf("%14s** fault: %s", "", what) }

func (r *textReport) failed(err error) { r.printf("%14s!! %v", "", err) }

func (r *textReport) draining() {
	r.printf("\nThe churn has stopped. Draining: what is on its way is finished first ...")
}

func (r *textReport) summary(s Summary) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p50, p99 := r.latencies.percentiles()
	r.printfLocked(`
objects in the store     %8d
events to the handler    %8d
keys enqueued            %8d
keys reconciled          %8d
lists after the first    %8d
stale keys               %8d   (last reconciled state is not the server's)
event to end of work     %8v median, %v p99`, s.Objects, s.Events, s.Enqueued, s.Reconciled, s.Relists, s.Stale, round(p50), round(p99))
}
