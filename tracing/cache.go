package tracing

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/hooks"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// change is a traced change. The cache keeps it from its event until the change is too old or a
// limit drops it. Meanwhile handlers can handle it.
type change struct {
	key       types.NamespacedName
	version   string
	kind      listwatch.EventType
	received  time.Time
	span      trace.SpanContext // set when the store has the change or a newer one
	handledBy []consumer        // consumers that have handled the change
}

// consumer is a consumer of a change: a handler, by its name, or the tracedQueue of a handler.
type consumer struct {
	handler string
	queue   *tracedQueue
}

// cache has the traced changes of one informer.
type cache struct {
	tracing *Tracing
	name    string
	open    atomic.Int64 // number of changes; at 0, calls return without the lock
	waiting atomic.Int64 // length of unstored; at 0, calls return without the lock

	mu       sync.Mutex // guards following
	changes  map[types.NamespacedName][]*change
	order    []*change // all traced changes, the oldest first
	unstored []*change // changes without a span
	popped   time.Time // when the last batch was taken from the queue
}

// received begins to trace a change if the sampling selects it.
func (c *cache) received(e reflector.EventInfo) {
	if e.Phase != reflector.Watching || !c.tracing.sample() {
		return
	}
	switch e.Type {
	case listwatch.Added, listwatch.Modified, listwatch.Deleted:
	default:
		return
	}
	c.tracing.counts.sampled.Add(1)
	now := time.Now()
	ch := &change{key: e.Key, version: e.ResourceVersion, kind: e.Type, received: now}
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.order) > 0 {
		first, full := c.order[0], len(c.order) >= c.tracing.opts.MaxOpen
		if !full && now.Sub(first.received) <= c.tracing.opts.MaxAge {
			break
		}
		if !first.span.IsValid() || full && len(first.handledBy) == 0 {
			c.tracing.counts.dropped.Add(1)
		}
		c.forgetLocked(first)
	}
	c.order = append(c.order, ch)
	c.unstored = append(c.unstored, ch)
	c.changes[ch.key] = append(c.changes[ch.key], ch)
	c.open.Add(1)
	c.waiting.Add(1)
	if same := c.changes[ch.key]; len(same) > maxLinks { // A reconcile can have this many links.
		if len(same[0].handledBy) == 0 {
			c.tracing.counts.dropped.Add(1)
		}
		c.forgetLocked(same[0])
	}
}

func (c *cache) forgetLocked(ch *change) {
	n := slices.Index(c.order, ch)
	if n < 0 {
		return
	}
	c.order = slices.Delete(c.order, n, n+1)
	c.open.Add(-1)
	same := func(other *change) bool { return other == ch }
	if before := len(c.unstored); before > 0 {
		c.unstored = slices.DeleteFunc(c.unstored, same)
		c.waiting.Add(int64(len(c.unstored) - before))
	}
	left := slices.DeleteFunc(c.changes[ch.key], same)
	if len(left) == 0 {
		delete(c.changes, ch.key)
	} else {
		c.changes[ch.key] = left
	}
}

// batchTaken records that the informer has taken a batch from the DeltaFIFO.
func (c *cache) batchTaken() {
	if c.waiting.Load() == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.popped = time.Now()
}

// stored makes the spans of the changes that the store has reached.
func (c *cache) stored(version string) {
	if c.waiting.Load() == 0 {
		return
	}
	now := time.Now()
	due, popped := c.takeStored(version)
	for _, ch := range due {
		// This runs without the lock, because it calls the provider's processors.
		span := c.spans(ch, popped, now)
		c.mu.Lock()
		if span.IsSampled() {
			ch.span = span
			c.tracing.counts.traced.Add(1)
		} else {
			c.forgetLocked(ch)
		}
		c.mu.Unlock()
	}
}

// takeStored removes and returns the changes without a span that have reached the store.
func (c *cache) takeStored(version string) (due []*change, popped time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unstored = slices.DeleteFunc(c.unstored, func(ch *change) bool {
		is := reaches(version, ch.version)
		if is {
			due = append(due, ch)
		}
		return is
	})
	c.waiting.Add(-int64(len(due)))
	return due, c.popped
}

// spans makes the spans of a change, from the event until the store has it.
func (c *cache) spans(ch *change, popped, stored time.Time) trace.SpanContext {
	attrs := c.tracing.object(ch.key, attribute.String("kinform.informer", c.name), attribute.String("kinform.event", ch.kind.String()),
		attribute.String("kinform.resource_version", ch.version))
	ctx, span := c.tracer().Start(context.Background(), "change "+c.name, trace.WithNewRoot(), trace.WithTimestamp(ch.received),
		trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attrs...))
	if popped.After(ch.received) {
		c.tracing.span(ctx, "deltafifo", ch.received, popped)
		c.tracing.span(ctx, "store", popped, stored)
	}
	span.End(trace.WithTimestamp(stored))
	return span.SpanContext()
}

func (c *cache) tracer() trace.Tracer { return c.tracing.tracer }

// span makes a span for a past interval.
func (t *Tracing) span(ctx context.Context, name string, from, to time.Time, attrs ...attribute.KeyValue) {
	_, span := t.tracer.Start(ctx, name, trace.WithTimestamp(from), trace.WithAttributes(attrs...))
	span.End(trace.WithTimestamp(to))
}

// takeChanges returns the traced changes that led to an event, except changes that this consumer
// has handled before. It marks the returned changes as handled by the consumer.
func (c *cache) takeChanges(by consumer, key types.NamespacedName, version string) (spans []trace.SpanContext) {
	if c.open.Load() == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range c.changes[key] {
		if ch.span.IsValid() && !slices.Contains(ch.handledBy, by) && reaches(version, ch.version) {
			ch.handledBy = append(ch.handledBy, by)
			spans = append(spans, ch.span)
		}
	}
	return spans
}

// delivered makes the spans of a handler call.
func (c *cache) delivered(info informer.DeliverInfo) {
	if c.open.Load() == 0 || info.Cause == informer.Initial || info.Cause == informer.Resync {
		return
	}
	spans := c.takeChanges(consumer{handler: info.Handler}, info.Key, info.ResourceVersion)
	ended := time.Now()
	began := ended.Add(-info.Ran)
	for _, span := range spans {
		ctx := trace.ContextWithSpanContext(context.Background(), span)
		c.tracing.span(ctx, "mailbox", began.Add(-info.Waited), began, attribute.String("kinform.handler", info.Handler))
		c.tracing.span(ctx, "handle "+info.Handler, began, ended, attribute.String("kinform.handler", info.Handler))
	}
}

// TracesOfEvents returns a function for metrics.Options.Traces, for exemplars. The returned
// function returns the trace id of the change for which a handler was called, or "" if the change
// is not traced.
func (t *Tracing) TracesOfEvents(informer string) func(informer.DeliverInfo) (traceID string) {
	return t.cache(informer).traceOf
}

func (c *cache) traceOf(info informer.DeliverInfo) string {
	if c.open.Load() == 0 || info.Cause == informer.Initial || info.Cause == informer.Resync {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range slices.Backward(c.changes[info.Key]) {
		if ch.span.IsValid() && ch.version == info.ResourceVersion {
			return ch.span.TraceID().String()
		}
	}
	return ""
}

// reaches reports whether the version have is not older than the version want. It returns true if
// the versions cannot be compared. For example, the versions of merged sources are not numbers.
func reaches(have, want string) bool {
	if !number(have) || !number(want) || have == want {
		return true
	}
	if len(have) != len(want) {
		return len(have) > len(want)
	}
	return have > want
}

func number(version string) bool {
	for _, r := range version {
		if r < '0' || r > '9' {
			return false
		}
	}
	return version != ""
}

// observe returns observers of all stages of a cache. They also call the given observers.
func (c *cache) observe(i *informer.Observer, r *reflector.Observer, f *deltafifo.Observer, s *indexer.Observer) (*informer.Observer, *reflector.Observer, *deltafifo.Observer, *indexer.Observer) {
	i, r, f, s = hooks.CopyOf(i), hooks.CopyOf(r), hooks.CopyOf(f), hooks.CopyOf(s)
	r.OnEvent = hooks.Chain(c.received, r.OnEvent)
	f.OnBatch = hooks.Chain(func(deltafifo.BatchInfo) { c.batchTaken() }, f.OnBatch)
	s.OnApplied = hooks.Chain(func(info indexer.AppliedInfo) { c.stored(info.ResourceVersion) }, s.OnApplied)
	i.OnDeliver = hooks.Chain(c.delivered, i.OnDeliver)
	return i, r, f, s
}

// InformerOptions returns opts with observers, for an informer without a manager. Set opts.Name,
// which identifies the informer. Observers that are already set are called as well.
func InformerOptions[T any](t *Tracing, opts informer.Options[T]) informer.Options[T] {
	opts.Observer, opts.Reflector.Observer, opts.Queue.Observer, opts.Store.Observer =
		t.cache(opts.Name).observe(opts.Observer, opts.Reflector.Observer, opts.Queue.Observer, opts.Store.Observer)
	return opts
}
