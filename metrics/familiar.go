package metrics

import (
	"slices"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// The names, labels, types, buckets and help texts in this file equal those of controller-runtime
// v0.25. This includes the metrics of client-go v0.37. Dashboards depend on them, and so do
// registries that contain both. bench/metrics compares them with the originals.

// exponential returns the buckets of the familiar histograms of queues: from 10 nanoseconds to
// 1,000 seconds.
func exponential() []float64 { return prometheus.ExponentialBuckets(10e-9, 10, 12) }

var familiarRequestBuckets = []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}

var familiarReconcileBuckets = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
	1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60}

// familiar has those familiar metrics that observers update.
type familiar struct {
	requests, retries           *prometheus.CounterVec
	requestSeconds              *prometheus.HistogramVec
	queueDuration, workDuration *prometheus.HistogramVec
	reconcileTime               *prometheus.HistogramVec
}

func (o *observed) newFamiliar() *familiar {
	seconds := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		h := prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}
		nativeBuckets(&h)
		return o.markFamiliar(o.histogram(h, labels))
	}
	f := &familiar{
		requestSeconds: seconds("rest_client_request_duration_seconds", "Request latency in seconds. Broken down by verb and host.", familiarRequestBuckets, "verb", "host"),
		queueDuration:  seconds("workqueue_queue_duration_seconds", "How long in seconds an item stays in workqueue before being requested", exponential(), "name", "controller"),
		workDuration:   seconds("workqueue_work_duration_seconds", "How long in seconds processing an item from workqueue takes.", exponential(), "name", "controller"),
		reconcileTime:  seconds("controller_runtime_reconcile_time_seconds", "Length of time per reconciliation per controller", familiarReconcileBuckets, "controller"),
	}
	f.requests = o.counter("rest_client_requests_total", "Number of HTTP requests, partitioned by status code, method, and host.", "code", "method", "host")
	f.retries = o.counter("rest_client_request_retries_total", "Number of request retries, partitioned by status code, verb, and host.", "code", "verb", "host")
	o.families[len(o.families)-1].familiar, o.families[len(o.families)-2].familiar = true, true
	return f
}

// markFamiliar marks the family that was added last as familiar.
func (o *observed) markFamiliar(v *prometheus.HistogramVec) *prometheus.HistogramVec {
	o.families[len(o.families)-1].familiar = true
	return v
}

// familiarClient counts the responses that one client gets.
type familiarClient struct {
	requests *bounded[familiarAnswer, prometheus.Counter]
	retries  *bounded[familiarAnswer, prometheus.Counter]
	seconds  *bounded[familiarAnswer, prometheus.Observer]
}

type familiarAnswer struct {
	code         int
	method, host string
}

var beyondAnswer = familiarAnswer{code: beyondCode, method: other, host: other}

// noAnswer is the code of a request that got no response.
const noAnswer = "<error>"

// client returns counters for the responses that a client gets, or nil if f is nil.
func (f *familiar) client(opts Options, all *bounds) *familiarClient {
	if f == nil {
		return nil
	}
	c := &familiarClient{
		requests: newBounded(opts.MaxParts, beyondAnswer, func(a familiarAnswer) prometheus.Counter {
			return f.requests.WithLabelValues(codeOf(a.code, noAnswer), labelValue(a.method), labelValue(a.host))
		}),
		retries: newBounded(opts.MaxParts, beyondAnswer, func(a familiarAnswer) prometheus.Counter {
			return f.retries.WithLabelValues(codeOf(a.code, noAnswer), labelValue(a.method), labelValue(a.host))
		}),
		seconds: newBounded(opts.MaxParts, beyondAnswer, func(a familiarAnswer) prometheus.Observer {
			return f.requestSeconds.WithLabelValues(labelValue(a.method), labelValue(a.host))
		}),
	}
	all.add(c.requests)
	all.add(c.retries)
	return c
}

func (c *familiarClient) answered(a rest.Answered) {
	if c == nil {
		return
	}
	to := familiarAnswer{a.StatusCode, a.Method, hostOf(a.URL)}
	c.requests.get(to).Inc()
	if a.Verb != "watch" { // client-go has no such metric for watches
		to.code = 0
		c.seconds.get(to).Observe(a.Wait.Seconds())
	}
}

func (c *familiarClient) retried(r rest.Retry) {
	if c != nil {
		c.retries.get(familiarAnswer{r.Err.StatusCode, r.Err.Method, hostOf(r.Err.URL)}).Inc()
	}
}

// familiarQueue is a queue with all priorities that it has had so far.
type familiarQueue struct {
	workqueue.Stats
	depth *familiarDepth
}

// familiarDepth remembers all priorities that a queue has had, like controller-runtime. Without
// this, a series would end instead of becoming 0, and a graph would have a gap.
type familiarDepth struct {
	mu   sync.Mutex // guards following
	seen []int
	many bool
}

func newFamiliarDepth() *familiarDepth { return &familiarDepth{seen: []int{0}} }

// maxPriorities is the maximum number of priorities that have their own series. If a queue has
// more, all priorities share the series tooManyPriorities.
const (
	maxPriorities     = 25
	tooManyPriorities = "exceeded_cardinality_limit"
)

func (d *familiarDepth) each(s workqueue.Stats, set func(float64, ...string)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ready := map[int]int{}
	left := s.Dirty // Dirty keys that are not ready count as priority 0 here.
	for _, l := range s.Levels {
		ready[l.Priority] = l.Ready
		left -= l.Ready
		if !slices.Contains(d.seen, l.Priority) {
			d.seen = append(d.seen, l.Priority)
		}
	}
	if d.many = d.many || len(d.seen) > maxPriorities; d.many {
		d.seen = d.seen[:0]
		set(float64(s.Dirty), tooManyPriorities)
		return
	}
	ready[0] += max(left, 0)
	for _, priority := range d.seen {
		set(float64(ready[priority]), strconv.Itoa(priority))
	}
}

var familiarQueueReadings = func() readings[familiarQueue] {
	r := readings[familiarQueue]{part: []string{"name", "controller"}}
	r.gauges("workqueue_depth", "Current depth of workqueue by workqueue and priority",
		func(q familiarQueue, set func(float64, ...string)) { q.depth.each(q.Stats, set) }, "priority")
	r.counter("workqueue_adds_total", "Total number of adds handled by workqueue", func(q familiarQueue) uint64 { return q.Adds })
	r.gauge("workqueue_unfinished_work_seconds", "How many seconds of work has been done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
		func(q familiarQueue) float64 { return q.Unfinished.Seconds() })
	r.gauge("workqueue_longest_running_processor_seconds", "How many seconds has the longest running processor for workqueue been running.",
		func(q familiarQueue) float64 { return q.LongestRunning.Seconds() })
	r.counter("workqueue_retries_total", "Total number of items added to the workqueue with a non-zero delay (rate-limited requeues, explicit RequeueAfter or AddAfter calls)",
		func(q familiarQueue) uint64 { return q.Retries })
	return asFamiliar(r)
}()

// familiarController is a controller's queue with its number of workers.
type familiarController struct {
	workqueue.Stats
	workers int
}

var familiarControllerReadings = func() readings[familiarController] {
	r := readings[familiarController]{part: []string{"controller"}}
	failed := func(c familiarController) uint64 { return c.Turns.Retried + c.Turns.Dropped }
	r.counters("controller_runtime_reconcile_total", "Total number of reconciliations per controller",
		func(c familiarController, set func(float64, ...string)) {
			set(float64(c.Turns.Succeeded), "success")
			set(float64(failed(c)), "error")
			set(float64(c.Turns.RequeuedAfter), "requeue_after")
			set(float64(c.Turns.RequeuedWhen), "requeue")
		}, "result")
	r.counter("controller_runtime_reconcile_errors_total", "Total number of reconciliation errors per controller", failed)
	r.counter("controller_runtime_terminal_reconcile_errors_total", "Total number of terminal reconciliation errors per controller",
		func(c familiarController) uint64 { return c.Turns.Dropped })
	r.counter("controller_runtime_reconcile_panics_total", "Total number of reconciliation panics per controller",
		func(c familiarController) uint64 { return c.Panics })
	r.gauge("controller_runtime_max_concurrent_reconciles", "Maximum number of concurrent reconciles per controller",
		func(c familiarController) float64 { return float64(c.workers) })
	r.gauge("controller_runtime_active_workers", "Number of currently used workers per controller",
		func(c familiarController) float64 { return float64(c.Processing) })
	return asFamiliar(r)
}()

var familiarLeaseReadings = func() readings[lease.Stats] {
	r := readings[lease.Stats]{part: []string{"name"}}
	r.gauge("leader_election_master_status", "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
		func(s lease.Stats) float64 { return truth(s.Leading) })
	return asFamiliar(r)
}()

func asFamiliar[S any](r readings[S]) readings[S] {
	for i := range r.all {
		r.all[i].familiar = true
	}
	return r
}
