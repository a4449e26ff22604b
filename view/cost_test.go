package view

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/internal/testing/fakesource"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/workqueue"
)

type configMap = corev1.ConfigMap

// pipelineStub is a pipeline without a network, from a watch to the end of a reconcile.
type pipelineStub struct {
	tap    fakesource.Source[*configMap]
	queue  *workqueue.Queue[types.NamespacedName]
	object *configMap
	keys   []types.NamespacedName
	sent   int
}

// newPipelineStub returns a pipeline shown by v, which may be nil.
func newPipelineStub(t testing.TB, v *View) *pipelineStub {
	p := &pipelineStub{tap: fakesource.New[*configMap](), object: &configMap{}}
	for n := range 1000 {
		p.keys = append(p.keys, types.NamespacedName{Namespace: "shop", Name: "map-" + strconv.Itoa(n)})
	}
	opts := informer.Options[*configMap]{Name: "maps", Logger: silent}
	queue := workqueue.Options[types.NamespacedName]{Name: "maps", Timed: true, Logger: silent}
	if v != nil {
		opts, queue = InformerOptions(v, opts), QueueOptions(v, queue)
	}
	p.queue = workqueue.New(queue)
	inf, err := informer.New(p.tap, opts)
	require.NoError(t, err)
	_, err = inf.AddHandler(enqueue.Object[*configMap](p.queue), informer.HandlerOptions{Name: "enqueue"})
	require.NoError(t, err)
	if v != nil {
		Informer(v, inf)
		Queue(v, p.queue)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- inf.Run(ctx) }()
	require.NoError(t, inf.WaitForSync(ctx))
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	for range p.keys {
		p.event()
	}
	return p
}

// event sends an event and processes its key.
func (p *pipelineStub) event() {
	p.sent++
	p.tap.Events <- listwatch.Event[*configMap]{Type: listwatch.Modified, Item: listwatch.Item[*configMap]{
		Key: p.keys[p.sent%len(p.keys)], Object: p.object, ResourceVersion: strconv.Itoa(1_000_000 + p.sent),
	}}
	key, err := p.queue.Get(context.Background())
	if err != nil {
		panic(err)
	}
	p.queue.Done(key)
}

// startViewer watches the first pipeline until the test ends.
func startViewer(t testing.TB, v *View) {
	ctx, cancel := context.WithCancel(context.Background())
	var looking sync.WaitGroup
	began := make(chan bool)
	looking.Go(func() {
		_, frames, err := v.Frames(ctx, "")
		if err != nil {
			panic(err)
		}
		first := true
		for range frames {
			if first {
				close(began)
			}
			first = false
		}
	})
	<-began
	t.Cleanup(func() { cancel(); looking.Wait() })
}

// A view adds no allocations per event, from the watch to the end of the reconcile. With a viewer,
// only the frames allocate.
func TestViewAllocatesNothingPerEvent(t *testing.T) {
	const events = 3000
	cost := func(v *View) float64 {
		p := newPipelineStub(t, v)
		fakesource.Allocations(events, p.event)
		return fakesource.Allocations(events, p.event) // AllocsPerRun would drop the fraction.
	}
	v, err := New(Options{})
	require.NoError(t, err)
	without, unseen := cost(nil), cost(v)
	require.LessOrEqual(t, unseen, without+0.1, "without viewers, a view must add no allocation to an event")

	v, err = New(Options{})
	require.NoError(t, err)
	p := newPipelineStub(t, v)
	startViewer(t, v)
	fakesource.Allocations(events, p.event)
	began := time.Now()
	seen := fakesource.Allocations(20*events, p.event)
	frames := time.Since(began)/v.opts.FrameInterval + 2
	ofFrames := 2500 * float64(frames) / (20 * events) // an upper bound
	t.Logf("allocations of an event: %.2f without a view, %.2f without viewers, %.2f with a viewer and %d frames", without, unseen, seen, frames)
	require.LessOrEqual(t, seen-ofFrames, without+0.1)
}

// BenchmarkView sends an event from a watch through queue and store to a handler, which adds a key
// to a work queue. It then reconciles the key. It compares no view, a view without viewers, and a
// view with a viewer.
func BenchmarkView(b *testing.B) {
	for _, who := range []string{"none", "nobody", "viewer"} {
		b.Run("looks="+who, func(b *testing.B) {
			var v *View
			if who != "none" {
				var err error
				v, err = New(Options{})
				require.NoError(b, err)
			}
			p := newPipelineStub(b, v)
			if who == "viewer" {
				startViewer(b, v)
			}
			b.ReportAllocs()
			for b.Loop() {
				p.event()
			}
		})
	}
}

// Without viewers, the view neither records nor counts events: each event costs one atomic load.
func TestNoEventsAreKeptWithoutViewers(t *testing.T) {
	t.Parallel()
	v, err := New(Options{})
	require.NoError(t, err)
	newPipelineStub(t, v)
	for _, rec := range []*recorder{v.informers[0].rec, v.queues[0].rec} {
		require.Zero(t, rec.ring.newest())
		require.Zero(t, rec.ring.keyQuota.lost.Load())
		for _, h := range append(rec.histogramsOf(func(t *handlerTimes) *histogram { return &t.run }), &rec.wait, &rec.run, &rec.fifoWait) {
			require.Equal(t, counts{}, h.counts())
		}
	}
}
