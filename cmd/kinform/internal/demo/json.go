package demo

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/kinform/kinform/reflector"
)

// jsonReport writes one JSON object per line.
type jsonReport struct {
	mu        sync.Mutex // guards following
	out       *json.Encoder
	latencies latencies
}

func newJSONReport(out io.Writer) *jsonReport {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return &jsonReport{out: encoder}
}

func (r *jsonReport) write(line any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.out.Encode(line) // The output keeps the error.
}

func (r *jsonReport) started(opts Options, url, page string) {
	r.write(struct {
		Type    string  `json:"type"`
		URL     string  `json:"url"`
		Pods    int     `json:"pods"`
		Churn   float64 `json:"churn"`
		Workers int     `json:"workers"`
		Faults  bool    `json:"faults"`
		View    string  `json:"view,omitempty"`
	}{"started", url, opts.Pods, opts.Churn, opts.Workers, opts.Faults, page})
}

func (r *jsonReport) synced(objects int, took time.Duration) {
	r.write(struct {
		Type    string `json:"type"`
		Objects int    `json:"objects"`
		TookUS  int64  `json:"took_us"`
	}{"synced", objects, took.Microseconds()})
}

func (r *jsonReport) journeyEnded(j journey) {
	r.mu.Lock()
	r.latencies.add(j.total())
	r.mu.Unlock()
	type stages struct {
		FIFO      *int64 `json:"fifo,omitempty"`
		Mailbox   *int64 `json:"mailbox,omitempty"`
		Workqueue int64  `json:"workqueue"`
		Worker    int64  `json:"worker"`
		Total     int64  `json:"total"`
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
		known(j.FIFO), known(j.Mailbox), j.Workqueue.Microseconds(), j.Worker.Microseconds(), j.total().Microseconds(),
	}})
}

// known returns a duration in microseconds, or nil if it was not measured.
func known(d time.Duration) *int64 {
	if d == unknown {
		return nil
	}
	return new(d.Microseconds())
}

func (r *jsonReport) attemptEnded(a attempt) {
	r.write(struct {
		Type    string `json:"type"`
		Key     string `json:"key"`
		Attempt int    `json:"attempt"`
		AfterUS int64  `json:"after_us"`
		Failed  bool   `json:"failed"`
	}{"attempt", a.key.String(), a.number, a.after.Microseconds(), a.failed})
}

func (r *jsonReport) slowSynced(calls uint64, took time.Duration) {
	r.write(struct {
		Type   string `json:"type"`
		Calls  uint64 `json:"calls"`
		TookUS int64  `json:"took_us"`
	}{"slow_handler_synced", calls, took.Microseconds()})
}

func (r *jsonReport) fault(what string) {
	r.write(struct {
		Type  string `json:"type"`
		Fault string `json:"fault"`
	}{"fault", what})
}

func (r *jsonReport) failed(err reflector.Error) {
	r.write(struct {
		Type      string `json:"type"`
		Phase     string `json:"phase"`
		Error     string `json:"error"`
		Failures  int    `json:"failures"`
		RetryInMS int64  `json:"retry_in_ms"`
	}{"error", err.Phase.String(), rootCause(err.Err).Error(), err.Failures, max(err.RetryIn, 0).Milliseconds()})
}

func (r *jsonReport) draining() {
	r.write(struct {
		Type string `json:"type"`
	}{"draining"})
}

func (r *jsonReport) summary(s Summary) {
	type latency struct {
		Median int64 `json:"median"`
		P99    int64 `json:"p99"`
	}
	r.mu.Lock()
	median, p99 := r.latencies.percentiles()
	r.mu.Unlock()
	r.write(struct {
		Type string `json:"type"`
		Summary
		LatencyUS latency `json:"latency_us"` // from a change to the end of its reconcile
	}{"summary", s, latency{median.Microseconds(), p99.Microseconds()}})
}
