package metrics

import (
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
)

// Traces returns the ids of traces, for exemplars. A *tracing.Tracing implements it. The returned
// functions are safe for concurrent use, must be quick, and return "" if there is no trace. An id
// of more than 64 bytes is not used as an exemplar.
type Traces interface {
	// TracesOfEvents returns a function for an informer with this name. The returned function
	// returns the trace id of the change for which a handler was called.
	TracesOfEvents(informer string) (of func(informer.DeliverInfo) (traceID string))

	// TracesOfReconciles returns two functions for a queue with this name. The function next
	// returns the trace id of a key's next reconcile, when a worker takes the key. The function
	// ended returns the trace id of the reconcile that has just ended.
	TracesOfReconciles(queue string) (next, ended func(key types.NamespacedName) (traceID string))
}

// maxTraceID is the maximum length of an id that becomes an exemplar. Prometheus' client panics at
// 128 characters, including the name of the label.
const maxTraceID = 64

// observe records a duration, with the trace id as an exemplar unless it is "".
func observe(h prometheus.Observer, took time.Duration, traceID string) {
	if traceID != "" && len(traceID) <= maxTraceID && utf8.ValidString(traceID) {
		if with, ok := h.(prometheus.ExemplarObserver); ok {
			with.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": traceID})
			return
		}
	}
	h.Observe(took.Seconds())
}

// histograms has the histograms of the same duration under several names.
type histograms []prometheus.Observer

func (all histograms) observe(took time.Duration, traceID string) {
	for _, h := range all {
		observe(h, took, traceID)
	}
}

// tracesOfEvents returns a function that returns the trace id of an informer's event, or "".
func (m *Metrics) tracesOfEvents(informerName string) func(informer.DeliverInfo) string {
	if m.opts.Traces == nil {
		return func(informer.DeliverInfo) string { return "" }
	}
	return m.opts.Traces.TracesOfEvents(informerName)
}

// keyTraces converts the function known to a function for keys of type K. If K is not
// types.NamespacedName, or known is nil, the result always returns "".
func keyTraces[K comparable](known func(types.NamespacedName) string) func(K) string {
	if of, ok := any(known).(func(K) string); ok && of != nil {
		return of
	}
	return func(K) string { return "" }
}
