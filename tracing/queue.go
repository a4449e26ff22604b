package tracing

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/internal/hooks"
	"github.com/kinform/kinform/workqueue"
)

// maxLinks is how many changes a turn has links to.
const maxLinks = 16

// pending is what the next turn of a key answers.
type pending struct {
	links    []link // the first one, and the last ones
	changes  int    // that there were
	attempts int    // that have failed
	last     trace.SpanContext
	since    time.Time
}

// link is a change that waits for a turn.
type link struct {
	span  trace.SpanContext
	added time.Time // zero if its wait has a span already
}

func (p *pending) add(l link) {
	p.changes++
	if len(p.links) == maxLinks {
		copy(p.links[1:], p.links[2:])
		p.links = p.links[:maxLinks-1]
	}
	p.links = append(p.links, l)
}

// queue has the keys of a queue whose next turn is traced.
type queue struct {
	tracing  *Tracing
	name     string
	open     atomic.Int64 // of pending and running: while there are none, nobody takes the lock
	observed atomic.Bool  // An observer says when a turn is over.

	mu      sync.Mutex // guards following
	pending map[types.NamespacedName]*pending
	running map[types.NamespacedName]trace.TraceID
}

// put notes what the next turn of a key answers.
func (q *queue) put(key types.NamespacedName, change func(*pending)) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.pending[key]
	if p == nil {
		if len(q.pending) >= q.tracing.opts.MaxOpen {
			q.expireLocked(now)
		}
		if len(q.pending) >= q.tracing.opts.MaxOpen {
			q.tracing.counts.lost.Add(1)
			return
		}
		p = &pending{since: now}
		q.pending[key] = p
		q.open.Add(1)
	}
	change(p)
}

// expireLocked forgets the keys whose turn does not come, as those of a queue that is shut down.
func (q *queue) expireLocked(now time.Time) {
	for key, p := range q.pending {
		if now.Sub(p.since) > q.tracing.opts.MaxAge {
			delete(q.pending, key)
			q.open.Add(-1)
			q.tracing.counts.lost.Add(1)
		}
	}
}

// take returns what a turn that begins now answers, or nil.
func (q *queue) take(key types.NamespacedName) *pending {
	if q.open.Load() == 0 {
		return nil
	}
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.pending[key]
	if p == nil {
		return nil
	}
	delete(q.pending, key)
	q.open.Add(-1)
	if now.Sub(p.since) > q.tracing.opts.MaxAge {
		q.tracing.counts.lost.Add(1)
		return nil
	}
	if _, ok := q.running[key]; !ok {
		q.open.Add(1)
	}
	q.running[key] = p.links[0].span.TraceID()
	return p
}

// done forgets which trace a turn was of.
func (q *queue) done(key types.NamespacedName) {
	if q.open.Load() == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.running[key]; ok {
		delete(q.running, key)
		q.open.Add(-1)
	}
}

// TracesOfTurns returns two functions, for exemplars, see metrics.Options.Traces: which trace the
// next turn of a key is of, until it begins; and which one the turn that has begun last is of, until
// the observer of the queue has heard of its end. Both return "" if it is not traced. queue is the
// name of the queue, and needs a [Tracing.QueueObserver], which a manager's have.
//
// Observers may hear of the end of a turn after the next one of its key has begun, by another worker.
// The end is of the wrong trace then, or of none.
func (t *Tracing) TracesOfTurns(queue string) (next, ended func(key types.NamespacedName) (traceID string)) {
	q := t.queue(queue)
	return q.nextTrace, q.endedTrace
}

func (q *queue) nextTrace(key types.NamespacedName) string {
	if q.open.Load() == 0 {
		return ""
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if p := q.pending[key]; p != nil {
		return p.links[0].span.TraceID().String()
	}
	return ""
}

func (q *queue) endedTrace(key types.NamespacedName) string {
	if q.open.Load() == 0 {
		return ""
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if id, ok := q.running[key]; ok {
		return id.String()
	}
	return ""
}

// QueueObserver returns an observer for a queue without a manager, which calls next as well, and
// before: that of package metrics hears of a turn while the turn still has a trace. Only exemplars
// need it. name is that of the queue, as in [Handler].
func (t *Tracing) QueueObserver(name string, next *workqueue.Observer[types.NamespacedName]) *workqueue.Observer[types.NamespacedName] {
	q := t.queue(name)
	q.observed.Store(true)
	o := hooks.Copied(next)
	o.OnDone = hooks.Then2(o.OnDone, func(key types.NamespacedName, _ time.Duration) { q.done(key) })
	return o
}

// Reconcile returns what a queue's Run is to call in place of next, a reconcile function. name
// is that of the queue, as in [Handler].
func (t *Tracing) Reconcile(name string, next func(context.Context, types.NamespacedName) error) func(context.Context, types.NamespacedName) error {
	q := t.queue(name)
	return func(ctx context.Context, key types.NamespacedName) error {
		p := q.take(key)
		if p == nil {
			return next(ctx, key)
		}
		if !q.observed.Load() { // Otherwise the observer says when it is over.
			defer q.done(key)
		}
		return q.turn(ctx, key, p, next)
	}
}

// turn calls next with a span.
func (q *queue) turn(ctx context.Context, key types.NamespacedName, p *pending, next func(context.Context, types.NamespacedName) error) (err error) {
	began := time.Now()
	options := []trace.SpanStartOption{
		trace.WithTimestamp(began),
		trace.WithAttributes(q.tracing.object(key, attribute.String("kinform.controller", q.name),
			attribute.Int("kinform.attempt", p.attempts+1), attribute.Int("kinform.changes", p.changes))...),
	}
	for n, l := range p.links {
		if !l.added.IsZero() {
			q.tracing.span(trace.ContextWithSpanContext(context.Background(), l.span), "workqueue", l.added, began, attribute.String("kinform.controller", q.name))
		}
		if n > 0 {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: l.span}))
		}
	}
	if p.last.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: p.last, Attributes: []attribute.KeyValue{attribute.Bool("kinform.previous_attempt", true)}}))
	}
	ctx, span := q.tracing.tracer.Start(trace.ContextWithSpanContext(ctx, p.links[0].span), "reconcile "+q.name, options...)
	returned := false
	defer func() {
		failed, again := workqueue.Judge(err)
		interrupted := err != nil && ctx.Err() != nil
		switch {
		case !returned:
			failed, again = true, true
			span.SetStatus(codes.Error, "panicked, or ended its goroutine")
		case interrupted:
			span.SetStatus(codes.Error, "interrupted: "+ctx.Err().Error())
		case again:
			span.SetStatus(codes.Error, "failed")
		case failed:
			span.SetStatus(codes.Error, "failed, and is not tried again")
		case err != nil:
			span.AddEvent("asks for another turn")
		}
		span.End()
		if again && !interrupted {
			q.again(key, p, span.SpanContext())
		}
	}()
	err = next(ctx, key)
	returned = true
	return err
}

// again has the next turn answer what one that failed did not.
func (q *queue) again(key types.NamespacedName, p *pending, last trace.SpanContext) {
	if p.attempts+1 >= q.tracing.opts.MaxAttempts {
		return
	}
	now := time.Now()
	q.put(key, func(next *pending) {
		newer := next.links
		next.attempts, next.last, next.changes, next.links = p.attempts+1, last, p.changes-len(p.links)+next.changes-len(newer), nil
		for n, l := range p.links {
			l.added = time.Time{}
			if n == 0 {
				l.added = now
			}
			next.add(l)
		}
		for _, l := range newer { // added while the turn went on
			next.add(l)
		}
	})
}

// filler is a queue as one handler fills it.
type filler struct {
	to    enqueue.Queue
	queue *queue
	cache *cache
	told  []trace.SpanContext // what the event tells of that the handler is called with
}

// event is called before the handler.
func (f *filler) event(key types.NamespacedName, version string) {
	f.told = f.cache.answered(hearer{filler: f}, key, version)
}

// AddWith adds a key, for the changes that the handler is told of.
func (f *filler) AddWith(key types.NamespacedName, how workqueue.AddOptions) {
	if len(f.told) > 0 {
		f.add(key)
	}
	f.to.AddWith(key, how) // afterwards, as the turn may begin at once
}

func (f *filler) add(key types.NamespacedName) {
	now := time.Now()
	f.queue.put(key, func(p *pending) {
		for _, span := range f.told {
			p.add(link{span, now})
		}
	})
}

// fill returns what a handler fills, and what it tells of each event.
func (t *Tracing) fill(controller, cache string, to enqueue.Queue) (enqueue.Queue, func(types.NamespacedName, string)) {
	f := &filler{to: to, queue: t.queue(controller), cache: t.cache(cache)}
	return f, f.event
}

// Handler returns a handler that fills a queue, as filling makes it, such as enqueue.Object: for
// an informer and a queue without a manager. cache and name are the names of informer and queue.
// A handler is for one registration.
func Handler[T any](t *Tracing, cache, name string, queue enqueue.Queue, filling func(enqueue.Queue) func(informer.Event[T])) func(informer.Event[T]) {
	if queue == nil {
		return filling(nil) // which is nil, and refused by AddHandler
	}
	to, event := t.fill(name, cache, queue)
	handle := filling(to)
	return func(e informer.Event[T]) {
		event(e.Key, e.ResourceVersion)
		handle(e)
	}
}
