package instrumented

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace/noop"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/internal/testing/fakesource"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/metrics"
	"github.com/kinform/kinform/tracing"
	"github.com/kinform/kinform/workqueue"
)

// pipeline is an informer whose handler fills a queue, and a worker of this queue. It uses no
// network.
type pipeline struct {
	tap    fakesource.Source[*corev1.ConfigMap]
	queue  *workqueue.Queue[types.NamespacedName]
	turn   func(context.Context, types.NamespacedName) error
	object *corev1.ConfigMap
	sent   int
}

// newPipeline returns a pipeline with all observers and collectors of m and traces. Each of m and
// traces may be nil.
func newPipeline(t testing.TB, m *metrics.Metrics, traces *tracing.Tracing) *pipeline {
	p := &pipeline{tap: fakesource.New[*corev1.ConfigMap](), object: &corev1.ConfigMap{}}
	opts := informer.Options[*corev1.ConfigMap]{Name: "maps", Logger: silent}
	queue := workqueue.Options[types.NamespacedName]{Name: "maps", Timed: true, Logger: silent}
	p.turn = func(context.Context, types.NamespacedName) error { return nil }
	if m != nil {
		opts = metrics.InformerOptions(m, opts)
		queue.Observer = metrics.QueueObserver(m, queue.Name, queue.Observer)
	}
	if traces != nil { // A manager adds the observers in the opposite order.
		opts = tracing.InformerOptions(traces, opts)
		queue.Observer = traces.QueueObserver(queue.Name, queue.Observer)
		p.turn = traces.Reconcile(queue.Name, p.turn)
	}
	p.queue = workqueue.New(queue)
	inf, err := informer.New(p.tap, opts)
	require.NoError(t, err)
	handler := enqueue.Object[*corev1.ConfigMap](p.queue)
	if traces != nil {
		handler = tracing.Handler(traces, opts.Name, queue.Name, p.queue, enqueue.Object[*corev1.ConfigMap])
	}
	_, err = inf.AddHandler(handler, informer.HandlerOptions{Name: "enqueue"})
	require.NoError(t, err)
	if m != nil {
		m.Informer(inf)
		m.Queue(p.queue)
		require.NoError(t, prometheus.NewPedanticRegistry().Register(m))
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- inf.Run(ctx) }()
	require.NoError(t, inf.WaitForSync(ctx))
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	return p
}

// event sends an event, and processes the key of its object.
func (p *pipeline) event() {
	p.sent++
	p.tap.Events <- listwatch.Event[*corev1.ConfigMap]{Type: listwatch.Modified, Item: listwatch.Item[*corev1.ConfigMap]{
		Key: key, Object: p.object, ResourceVersion: strconv.Itoa(1_000_000 + p.sent),
	}}
	next, err := p.queue.Get(context.Background())
	if err != nil {
		panic(err)
	}
	_ = p.turn(context.Background(), next)
	p.queue.Done(next)
}

// allMetrics returns metrics with all options that make an event cost more.
func allMetrics(t testing.TB) *metrics.Metrics {
	traced, err := tracing.New(noop.NewTracerProvider(), tracing.Options{})
	require.NoError(t, err)
	m, err := metrics.New(metrics.Options{ClientGoNames: true, Traces: traced})
	require.NoError(t, err)
	return m
}

// From the watch to the end of the reconcile, an event causes no more allocations with metrics than
// without.
func TestMetricsAllocateNothingForAnEvent(t *testing.T) {
	const events = 2000
	cost := func(m *metrics.Metrics) float64 {
		p := newPipeline(t, m, nil)
		// Native histograms add buckets on demand, at most a hundred.
		fakesource.Allocations(events, p.event)
		return fakesource.Allocations(events, p.event) // AllocsPerRun drops the fraction.
	}
	without, with := cost(nil), cost(allMetrics(t))
	require.LessOrEqual(t, with, without+0.1, "metrics must not add an allocation to an event")
	t.Logf("allocations of an event: %.2f without metrics, %.2f with all", without, with)
}

// BenchmarkPipeline measures an event with and without metrics. The event goes from a watch through
// queue and store to a handler, which fills a work queue. The event ends with the reconcile of its
// key.
func BenchmarkPipeline(b *testing.B) {
	for _, with := range []bool{false, true} {
		b.Run(fmt.Sprintf("metrics=%v", with), func(b *testing.B) {
			var m *metrics.Metrics
			if with {
				m = allMetrics(b)
			}
			p := newPipeline(b, m, nil)
			b.ReportAllocs()
			for b.Loop() {
				p.event()
			}
		})
	}
}
