package metrics

import (
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
)

// Traces knows traces. A *tracing.Tracing is one. All functions are safe for concurrent use, must be
// quick, and return "" for what is not traced. An id of more than 64 bytes is no exemplar.
type Traces interface {
	// TracesOfEvents returns a function that has the id of the trace of the change that a
	// handler was told of. informer is the name of its informer.
	TracesOfEvents(informer string) (of func(informer.DeliverInfo) (traceID string))

	// TracesOfTurns returns a function that has the id of the trace of the next turn of a key
	// when that is handed to a worker, and another for the turn that has ended when the key comes
	// back. queue is the name of the queue.
	TracesOfTurns(queue string) (next, ended func(key types.NamespacedName) (traceID string))
}

// maxTraceID is the longest id that becomes an exemplar: Prometheus' client panics at 128
// characters, the name of the label included.
const maxTraceID = 64

// observe takes note of a time, with the trace that it is of as an exemplar unless that is "".
func observe(h prometheus.Observer, took time.Duration, traceID string) {
	if traceID != "" && len(traceID) <= maxTraceID && utf8.ValidString(traceID) {
		if with, ok := h.(prometheus.ExemplarObserver); ok {
			with.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": traceID})
			return
		}
	}
	h.Observe(took.Seconds())
}

// histograms are those of one kind of time, under each of its names.
type histograms []prometheus.Observer

func (all histograms) observe(took time.Duration, traceID string) {
	for _, h := range all {
		observe(h, took, traceID)
	}
}

// tracesOfEvents returns what has the traces of the events of an informer.
func (m *Metrics) tracesOfEvents(informerName string) func(informer.DeliverInfo) string {
	if m.opts.Traces == nil {
		return func(informer.DeliverInfo) string { return "" }
	}
	return m.opts.Traces.TracesOfEvents(informerName)
}

// tracesOf returns known for a queue whose keys have names of objects. Keys of another type have no
// traces.
func tracesOf[K comparable](known func(types.NamespacedName) string) func(K) string {
	if of, ok := any(known).(func(K) string); ok && of != nil {
		return of
	}
	return func(K) string { return "" }
}
