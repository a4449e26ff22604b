package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// observerMetrics has the metrics that no snapshot contains: histograms, and counts by status code
// or reason. Observers update them.
type observerMetrics struct {
	limits   *nameLimits
	names    *partNames
	families []family
	vecs     []prometheus.Collector

	responses, warnings, failures          *prometheus.CounterVec
	responseSeconds, streamSeconds         *prometheus.HistogramVec
	listSeconds, watchSeconds              *prometheus.HistogramVec
	fifoWait, handlerWait, handlerRun      *prometheus.HistogramVec
	queueWait, queueRun                    *prometheus.HistogramVec
	leaseSeconds, eventsSeconds, limitWait *prometheus.HistogramVec

	clientGo *clientGoMetrics // nil without Options.ClientGoNames
}

func newObserverMetrics(opts Options) observerMetrics {
	o := observerMetrics{limits: &nameLimits{}, names: newPartNames(opts.MaxParts)}
	o.limits.add(o.names)
	o.responses = o.counter("kinform_client_responses_total", "Responses to requests, by status code; \"error\" for requests without a response.", "client", "verb", "resource", "code")
	o.responseSeconds = o.seconds(opts, "kinform_client_response_seconds", "Time from sending a request to the headers of the response, or to the failure.", "client", "verb", "resource")
	o.streamSeconds = o.seconds(opts, "kinform_client_stream_seconds", "Time from the headers of a list or a watch to its end.", "client", "verb", "resource")
	o.limitWait = o.seconds(opts, "kinform_client_limit_wait_seconds", "Time that requests waited for the client's own limit.", "client")
	o.warnings = o.counter("kinform_client_warnings_total", "Warnings from the server, such as about deprecated versions.", "client")
	o.listSeconds = o.seconds(opts, "kinform_reflector_list_seconds", "Time of a successful list, plain or streaming, with all pages.", "informer")
	o.watchSeconds = o.seconds(opts, "kinform_reflector_watch_seconds", "Time that a watch lasted.", "informer")
	o.failures = o.counter("kinform_reflector_failures_total", "Failed attempts, by phase and reason.", "informer", "phase", "reason")
	o.fifoWait = o.seconds(opts, "kinform_deltafifo_wait_seconds", "Time that the oldest delta of a batch waited between reflector and store.", "informer")
	o.handlerWait = o.seconds(opts, "kinform_handler_wait_seconds", "Time that an event waited in the mailbox of a handler.", "informer", "handler")
	o.handlerRun = o.seconds(opts, "kinform_handler_run_seconds", "Time that a handler took for an event.", "informer", "handler")
	o.queueWait = o.seconds(opts, "kinform_workqueue_wait_seconds", "Time from when a key became dirty until a worker took the key.", "queue")
	o.queueRun = o.seconds(opts, "kinform_workqueue_run_seconds", "Time that a key was with a worker.", "queue")
	o.leaseSeconds = o.seconds(opts, "kinform_lease_attempt_seconds", "Time of an attempt to read, take, renew or release the lease.", "lease", "result")
	o.eventsSeconds = o.seconds(opts, "kinform_events_request_seconds", "Time of a request that sends an event.", "recorder", "result")
	if opts.ClientGoNames {
		o.clientGo = o.newClientGoMetrics()
	}
	return o
}

func (o *observerMetrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	o.families = append(o.families, family{name: name, help: help, kind: "counter", labels: labels})
	o.vecs = append(o.vecs, v)
	return v
}

func (o *observerMetrics) seconds(opts Options, name, help string, labels ...string) *prometheus.HistogramVec {
	h := prometheus.HistogramOpts{Name: name, Help: help, Buckets: opts.Buckets}
	if opts.NativeHistograms {
		nativeBuckets(&h)
	}
	return o.histogram(h, labels)
}

func (o *observerMetrics) histogram(h prometheus.HistogramOpts, labels []string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(h, labels)
	o.families = append(o.families, family{name: h.Name, help: h.Help, kind: "histogram", labels: labels})
	o.vecs = append(o.vecs, v)
	return v
}

// nativeBuckets adds native buckets: at most a hundred, each a tenth wider than the previous
// bucket.
func nativeBuckets(h *prometheus.HistogramOpts) {
	h.NativeHistogramBucketFactor, h.NativeHistogramMaxBucketNumber, h.NativeHistogramMinResetDuration = 1.1, 100, time.Hour
}

// named returns the name of a part as a label of histograms. If a kind has too many names, all
// further names share one label, because the series of observers are never removed.
func (o *observerMetrics) named(kind, name string) string {
	return o.names.capped(kind, labelValue(name))
}

func (o *observerMetrics) describe(out chan<- *prometheus.Desc) {
	for _, v := range o.vecs {
		v.Describe(out)
	}
}

func (o *observerMetrics) collect(out chan<- prometheus.Metric) {
	for _, v := range o.vecs {
		v.Collect(out)
	}
}

func (o *observerMetrics) leftOut() int { return o.limits.leftOut() }

// results has the histograms of an operation that succeeds or fails.
type results struct{ succeeded, failed prometheus.Observer }

func newResults(seconds *prometheus.HistogramVec, name string) results {
	return results{seconds.WithLabelValues(name, "success"), seconds.WithLabelValues(name, "error")}
}

func (r results) observe(d time.Duration, err error) {
	if err != nil {
		r.failed.Observe(d.Seconds())
		return
	}
	r.succeeded.Observe(d.Seconds())
}
