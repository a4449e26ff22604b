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

// maxLinks is the maximum number of changes to which the span of a reconcile has links.
const maxLinks = 16

// pending has the changes that the next reconcile of a key will handle.
type pending struct {
	links    []link // the first change, and the last ones
	changes  int    // number of all changes
	attempts int    // number of failed reconciles
	last     trace.SpanContext
	since    time.Time
}

// link is a change that waits for a reconcile.
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

// queue has those keys of a queue whose next reconcile is traced.
type queue struct {
	tracing  *Tracing
	name     string
	open     atomic.Int64 // length of pending and running; at 0, calls return without the lock
	observed atomic.Bool  // an observer reports the end of each reconcile

	mu      sync.Mutex // guards following
	pending map[types.NamespacedName]*pending
	running map[types.NamespacedName]trace.TraceID
}

// update changes the pending entry of a key.
func (q *queue) update(key types.NamespacedName, change func(*pending)) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.pending[key]
	if p == nil {
		if len(q.pending) >= q.tracing.opts.MaxOpen {
			q.expireLocked(now)
		}
		if len(q.pending) >= q.tracing.opts.MaxOpen {
			q.tracing.counts.dropped.Add(1)
			return
		}
		p = &pending{since: now}
		q.pending[key] = p
		q.open.Add(1)
	}
	change(p)
}

// expireLocked drops keys that have waited too long, for example in a queue that has been shut
// down.
func (q *queue) expireLocked(now time.Time) {
	for key, p := range q.pending {
		if now.Sub(p.since) > q.tracing.opts.MaxAge {
			delete(q.pending, key)
			q.open.Add(-1)
			q.tracing.counts.dropped.Add(1)
		}
	}
}

// take returns the changes of a key for a reconcile that begins now, or nil.
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
		q.tracing.counts.dropped.Add(1)
		return nil
	}
	if _, ok := q.running[key]; !ok {
		q.open.Add(1)
	}
	q.running[key] = p.links[0].span.TraceID()
	return p
}

// done forgets the trace of a reconcile that has ended.
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

// TracesOfReconciles returns two functions for metrics.Options.Traces, for exemplars. The function
// next returns the trace id of a key's next reconcile, until that begins. The function ended
// returns the trace id of the reconcile that was started last, until the observer of the queue has
// received its end. Both return "" if the reconcile is not traced. The queue with this name needs a
// [Tracing.QueueObserver]; a manager's queues have one.
//
// Another worker may begin the next reconcile of a key before an observer receives the end of the
// last one. The function ended then returns another trace id, or "".
func (t *Tracing) TracesOfReconciles(queue string) (next, ended func(key types.NamespacedName) (traceID string)) {
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

// QueueObserver returns an observer for a queue without a manager. Only exemplars need this
// observer. It calls next first, so that the observer of package metrics can still find the trace
// of a reconcile. The argument name is the name of the queue, as in [Handler].
func (t *Tracing) QueueObserver(name string, next *workqueue.Observer[types.NamespacedName]) *workqueue.Observer[types.NamespacedName] {
	q := t.queue(name)
	q.observed.Store(true)
	o := hooks.CopyOf(next)
	o.OnDone = hooks.Chain2(o.OnDone, func(key types.NamespacedName, _ time.Duration) { q.done(key) })
	return o
}

// Reconcile returns a function for a queue's Run, which calls next in a span if the key has traced
// changes. The argument name is the name of the queue, as in [Handler].
func (t *Tracing) Reconcile(name string, next func(context.Context, types.NamespacedName) error) func(context.Context, types.NamespacedName) error {
	q := t.queue(name)
	return func(ctx context.Context, key types.NamespacedName) error {
		p := q.take(key)
		if p == nil {
			return next(ctx, key)
		}
		if !q.observed.Load() { // Otherwise the observer reports the end.
			defer q.done(key)
		}
		return q.reconcile(ctx, key, p, next)
	}
}

// reconcile runs next, which reconciles a key, in a span.
func (q *queue) reconcile(ctx context.Context, key types.NamespacedName, p *pending, next func(context.Context, types.NamespacedName) error) (err error) {
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
		failed, retried := workqueue.Classify(err)
		interrupted := err != nil && ctx.Err() != nil
		switch {
		case !returned:
			failed, retried = true, true
			span.SetStatus(codes.Error, "panicked, or ended its goroutine")
		case interrupted:
			span.SetStatus(codes.Error, "interrupted: "+ctx.Err().Error())
		case retried:
			span.SetStatus(codes.Error, "failed")
		case failed:
			span.SetStatus(codes.Error, "failed, and is not retried")
		case err != nil:
			span.AddEvent("requeue requested")
		}
		span.End()
		if retried && !interrupted {
			q.keepForRetry(key, p, span.SpanContext())
		}
	}()
	err = next(ctx, key)
	returned = true
	return err
}

// keepForRetry keeps the changes of a failed reconcile for the next reconcile of the key. last is
// the span of the failed reconcile.
func (q *queue) keepForRetry(key types.NamespacedName, p *pending, last trace.SpanContext) {
	if p.attempts+1 >= q.tracing.opts.MaxAttempts {
		return
	}
	now := time.Now()
	q.update(key, func(next *pending) {
		newer := next.links
		next.attempts, next.last, next.changes, next.links = p.attempts+1, last, p.changes-len(p.links)+next.changes-len(newer), nil
		for n, l := range p.links {
			l.added = time.Time{}
			if n == 0 {
				l.added = now
			}
			next.add(l)
		}
		for _, l := range newer { // These were added during the reconcile.
			next.add(l)
		}
	})
}

// tracedQueue is a queue as one handler uses it. For each key that the handler adds, it records the
// changes that led to the event.
type tracedQueue struct {
	to    enqueue.Queue
	queue *queue
	cache *cache
	spans []trace.SpanContext // changes that led to the event of the current handler call
}

// event is called with each event, before the handler.
func (f *tracedQueue) event(key types.NamespacedName, version string) {
	f.spans = f.cache.takeChanges(consumer{queue: f}, key, version)
}

// AddWith adds a key. It records that the changes of the handler's event are the cause.
func (f *tracedQueue) AddWith(key types.NamespacedName, opts workqueue.AddOptions) {
	if len(f.spans) > 0 {
		f.add(key)
	}
	f.to.AddWith(key, opts) // This comes last, because the reconcile may begin at once.
}

func (f *tracedQueue) add(key types.NamespacedName) {
	now := time.Now()
	f.queue.update(key, func(p *pending) {
		for _, span := range f.spans {
			p.add(link{span, now})
		}
	})
}

// traceQueue returns the queue to which a handler adds its keys, and a function to call before each
// call of that handler.
func (t *Tracing) traceQueue(controller, cache string, to enqueue.Queue) (enqueue.Queue, func(types.NamespacedName, string)) {
	f := &tracedQueue{to: to, queue: t.queue(controller), cache: t.cache(cache)}
	return f, f.event
}

// Handler returns the handler that newHandler makes, for example enqueue.Object, with tracing. The
// handler adds keys to queue. Handler is for an informer and a queue without a manager. The
// arguments cache and name are the names of the informer and of the queue. Each registration needs
// its own Handler.
func Handler[T any](t *Tracing, cache, name string, queue enqueue.Queue, newHandler func(enqueue.Queue) func(informer.Event[T])) func(informer.Event[T]) {
	if queue == nil {
		return newHandler(nil) // returns nil, which AddHandler refuses
	}
	to, event := t.traceQueue(name, cache, queue)
	handle := newHandler(to)
	return func(e informer.Event[T]) {
		event(e.Key, e.ResourceVersion)
		handle(e)
	}
}
