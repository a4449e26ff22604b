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

// queueBuckets returns the buckets of client-go's histograms of queues: from 10 nanoseconds to
// 1,000 seconds.
func queueBuckets() []float64 { return prometheus.ExponentialBuckets(10e-9, 10, 12) }

var clientGoRequestBuckets = []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}

var clientGoReconcileBuckets = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
	1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60}

// clientGoMetrics has the metrics of client-go and controller-runtime that observers update.
type clientGoMetrics struct {
	requests, retries           *prometheus.CounterVec
	requestSeconds              *prometheus.HistogramVec
	queueDuration, workDuration *prometheus.HistogramVec
	reconcileTime               *prometheus.HistogramVec
}

func (o *observerMetrics) newClientGoMetrics() *clientGoMetrics {
	seconds := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		h := prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}
		nativeBuckets(&h)
		return o.markClientGo(o.histogram(h, labels))
	}
	f := &clientGoMetrics{
		requestSeconds: seconds("rest_client_request_duration_seconds", "Request latency in seconds. Broken down by verb and host.", clientGoRequestBuckets, "verb", "host"),
		queueDuration:  seconds("workqueue_queue_duration_seconds", "How long in seconds an item stays in workqueue before being requested", queueBuckets(), "name", "controller"),
		workDuration:   seconds("workqueue_work_duration_seconds", "How long in seconds processing an item from workqueue takes.", queueBuckets(), "name", "controller"),
		reconcileTime:  seconds("controller_runtime_reconcile_time_seconds", "Length of time per reconciliation per controller", clientGoReconcileBuckets, "controller"),
	}
	f.requests = o.counter("rest_client_requests_total", "Number of HTTP requests, partitioned by status code, method, and host.", "code", "method", "host")
	f.retries = o.counter("rest_client_request_retries_total", "Number of request retries, partitioned by status code, verb, and host.", "code", "verb", "host")
	o.families[len(o.families)-1].clientGo, o.families[len(o.families)-2].clientGo = true, true
	return f
}

// markClientGo marks the family that was added last as a metric of client-go.
func (o *observerMetrics) markClientGo(v *prometheus.HistogramVec) *prometheus.HistogramVec {
	o.families[len(o.families)-1].clientGo = true
	return v
}

// clientGoClient counts the responses that one client gets.
type clientGoClient struct {
	requests *cappedMap[clientGoResponse, prometheus.Counter]
	retries  *cappedMap[clientGoResponse, prometheus.Counter]
	seconds  *cappedMap[clientGoResponse, prometheus.Observer]
}

type clientGoResponse struct {
	code         int
	method, host string
}

var overflowResponse = clientGoResponse{code: overflowCode, method: other, host: other}

// noResponse is the label code of a request that got no response.
const noResponse = "<error>"

// client returns counters for the responses that a client gets, or nil if f is nil.
func (f *clientGoMetrics) client(opts Options, all *nameLimits) *clientGoClient {
	if f == nil {
		return nil
	}
	c := &clientGoClient{
		requests: newCappedMap(opts.MaxParts, overflowResponse, func(a clientGoResponse) prometheus.Counter {
			return f.requests.WithLabelValues(codeOf(a.code, noResponse), labelValue(a.method), labelValue(a.host))
		}),
		retries: newCappedMap(opts.MaxParts, overflowResponse, func(a clientGoResponse) prometheus.Counter {
			return f.retries.WithLabelValues(codeOf(a.code, noResponse), labelValue(a.method), labelValue(a.host))
		}),
		seconds: newCappedMap(opts.MaxParts, overflowResponse, func(a clientGoResponse) prometheus.Observer {
			return f.requestSeconds.WithLabelValues(labelValue(a.method), labelValue(a.host))
		}),
	}
	all.add(c.requests)
	all.add(c.retries)
	return c
}

func (c *clientGoClient) responded(a rest.ResponseInfo) {
	if c == nil {
		return
	}
	to := clientGoResponse{a.StatusCode, a.Method, hostOf(a.URL)}
	c.requests.get(to).Inc()
	if a.Verb != "watch" { // client-go has no such metric for watches
		to.code = 0
		c.seconds.get(to).Observe(a.Latency.Seconds())
	}
}

func (c *clientGoClient) retried(r rest.RetryInfo) {
	if c != nil {
		c.retries.get(clientGoResponse{r.Err.StatusCode, r.Err.Method, hostOf(r.Err.URL)}).Inc()
	}
}

// clientGoQueue is a snapshot of a queue, with all priorities that the queue has had so far.
type clientGoQueue struct {
	workqueue.Stats
	depth *clientGoDepth
}

// clientGoDepth remembers all priorities that a queue has had, like controller-runtime. Without
// this, a series would end instead of becoming 0, and a graph would have a gap.
type clientGoDepth struct {
	mu   sync.Mutex // guards following
	seen []int
	many bool
}

func newClientGoDepth() *clientGoDepth { return &clientGoDepth{seen: []int{0}} }

// maxPriorities is the maximum number of priorities that have their own series. If a queue has
// more, all priorities share the series tooManyPriorities.
const (
	maxPriorities     = 25
	tooManyPriorities = "exceeded_cardinality_limit"
)

func (d *clientGoDepth) each(s workqueue.Stats, set func(float64, ...string)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ready := map[int]int{}
	left := s.Dirty // dirty keys that are not ready; they count as priority 0
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

var clientGoQueueMetrics = func() snapshotMetrics[clientGoQueue] {
	r := snapshotMetrics[clientGoQueue]{part: []string{"name", "controller"}}
	r.gauges("workqueue_depth", "Current depth of workqueue by workqueue and priority",
		func(q clientGoQueue, set func(float64, ...string)) { q.depth.each(q.Stats, set) }, "priority")
	r.counter("workqueue_adds_total", "Total number of adds handled by workqueue", func(q clientGoQueue) uint64 { return q.Adds })
	r.gauge("workqueue_unfinished_work_seconds", "How many seconds of work has been done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
		func(q clientGoQueue) float64 { return q.Unfinished.Seconds() })
	r.gauge("workqueue_longest_running_processor_seconds", "How many seconds has the longest running processor for workqueue been running.",
		func(q clientGoQueue) float64 { return q.LongestRunning.Seconds() })
	r.counter("workqueue_retries_total", "Total number of items added to the workqueue with a non-zero delay (rate-limited requeues, explicit RequeueAfter or AddAfter calls)",
		func(q clientGoQueue) uint64 { return q.Retries })
	return asClientGo(r)
}()

// clientGoController is a controller's queue with its number of workers.
type clientGoController struct {
	workqueue.Stats
	workers int
}

var clientGoControllerMetrics = func() snapshotMetrics[clientGoController] {
	r := snapshotMetrics[clientGoController]{part: []string{"controller"}}
	failed := func(c clientGoController) uint64 { return c.Outcomes.Retried + c.Outcomes.Dropped }
	r.counters("controller_runtime_reconcile_total", "Total number of reconciliations per controller",
		func(c clientGoController, set func(float64, ...string)) {
			set(float64(c.Outcomes.Succeeded), "success")
			set(float64(failed(c)), "error")
			set(float64(c.Outcomes.RequeuedAfter), "requeue_after")
			set(float64(c.Outcomes.RequeuedWhen), "requeue")
		}, "result")
	r.counter("controller_runtime_reconcile_errors_total", "Total number of reconciliation errors per controller", failed)
	r.counter("controller_runtime_terminal_reconcile_errors_total", "Total number of terminal reconciliation errors per controller",
		func(c clientGoController) uint64 { return c.Outcomes.Dropped })
	r.counter("controller_runtime_reconcile_panics_total", "Total number of reconciliation panics per controller",
		func(c clientGoController) uint64 { return c.Panics })
	r.gauge("controller_runtime_max_concurrent_reconciles", "Maximum number of concurrent reconciles per controller",
		func(c clientGoController) float64 { return float64(c.workers) })
	r.gauge("controller_runtime_active_workers", "Number of currently used workers per controller",
		func(c clientGoController) float64 { return float64(c.Processing) })
	return asClientGo(r)
}()

var clientGoLeaseMetrics = func() snapshotMetrics[lease.Stats] {
	r := snapshotMetrics[lease.Stats]{part: []string{"name"}}
	r.gauge("leader_election_master_status", "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
		func(s lease.Stats) float64 { return boolValue(s.Leading) })
	return asClientGo(r)
}()

func asClientGo[S any](r snapshotMetrics[S]) snapshotMetrics[S] {
	for i := range r.all {
		r.all[i].clientGo = true
	}
	return r
}
