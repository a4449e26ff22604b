package tracing

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/internal/testing/fakesource"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/workqueue"
)

// pipeline is an informer whose handler fills a queue, and a worker of the queue, without a network
// and without a manager.
type pipeline struct {
	tap    fakesource.Source[*configMap]
	queue  *workqueue.Queue[keyed]
	object *configMap
	sent   int
	turn   func(context.Context, keyed) error
}

// newPipeline returns a pipeline. It has no tracing if traced is nil.
func newPipeline(t testing.TB, traced *Tracing) *pipeline {
	p := &pipeline{tap: fakesource.New[*configMap](), object: &configMap{}}
	p.turn = func(context.Context, keyed) error { return nil }
	p.queue = workqueue.New(workqueue.Options[keyed]{Name: "maps", Timed: true, Logger: silent})
	opts := informer.Options[*configMap]{Name: "maps", Logger: silent}
	handler := enqueue.Object[*configMap](p.queue)
	if traced != nil {
		opts = InformerOptions(traced, opts)
		handler = Handler(traced, "maps", "maps", p.queue, enqueue.Object[*configMap])
		p.turn = traced.Reconcile("maps", p.turn)
	}
	inf, err := informer.New(p.tap, opts)
	require.NoError(t, err)
	_, err = inf.AddHandler(handler, informer.HandlerOptions{Name: "enqueue"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- inf.Run(ctx) }()
	require.NoError(t, inf.WaitForSync(ctx))
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	return p
}

// event sends an event through the pipeline, and waits until its key is processed.
func (p *pipeline) event() {
	p.sent++
	p.tap.Events <- listwatch.Event[*configMap]{Type: listwatch.Modified, Item: listwatch.Item[*configMap]{
		Key: keyOf("a"), Object: p.object, ResourceVersion: strconv.Itoa(1_000_000 + p.sent),
	}}
	key, err := p.queue.Get(context.Background())
	if err != nil {
		panic(err)
	}
	_ = p.turn(context.Background(), key)
	p.queue.Done(key)
}

func watchEvent(name string, version int) reflector.EventInfo {
	return reflector.EventInfo{Phase: reflector.Watching, Type: listwatch.Added, Key: keyOf(name), ResourceVersion: strconv.Itoa(version)}
}

// Tracing adds no allocations to an event that is not sampled, even while another event is traced.
func TestUnsampledChangesAllocateNothing(t *testing.T) {
	const events = 2000
	without := fakesource.Allocations(events, newPipeline(t, nil).event)
	traced, err := New(sdk.NewTracerProvider(), Options{Ratio: -1})
	require.NoError(t, err)
	p := newPipeline(t, traced)
	none := fakesource.Allocations(events, p.event)
	traced.all = true
	p.event()
	traced.all = false
	require.Positive(t, traced.Stats().Open)
	open := fakesource.Allocations(events, p.event)
	t.Logf("allocations of an event: %.2f without tracing, %.2f not sampled, %.2f not sampled while another is open", without, none, open)
	require.LessOrEqual(t, none, without+0.1)
	require.LessOrEqual(t, open, without+0.1)
}

// BenchmarkPipeline sends an event from a watch through queue and store to a handler, which adds a
// key to a work queue. It then reconciles the key. A processor drops the spans.
func BenchmarkPipeline(b *testing.B) {
	for _, with := range []struct {
		name  string
		ratio float64
	}{{"off", 0}, {"ratio=0", -1}, {"ratio=1%", 0.01}, {"ratio=100%", 1}} {
		b.Run(with.name, func(b *testing.B) {
			var traced *Tracing
			if with.ratio != 0 {
				var err error
				traced, err = New(sdk.NewTracerProvider(sdk.WithSpanProcessor(discard{})), Options{Ratio: with.ratio})
				require.NoError(b, err)
			}
			p := newPipeline(b, traced)
			b.ReportAllocs()
			for b.Loop() {
				p.event()
			}
		})
	}
}

// discard is a processor that drops all spans.
type discard struct{}

func (discard) OnStart(context.Context, sdk.ReadWriteSpan) {}
func (discard) OnEnd(sdk.ReadOnlySpan)                     {}
func (discard) Shutdown(context.Context) error             { return nil }
func (discard) ForceFlush(context.Context) error           { return nil }
