package tracing

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"
)

// Tracing makes the spans of a program. It is safe for concurrent use, has no goroutines, and needs
// no Close: the function that starts a span also ends it.
type Tracing struct {
	opts      Options
	tracer    trace.Tracer
	threshold uint64 // A change is sampled if its random number is below this one.
	all       bool
	counts    counts

	mu     sync.Mutex // guards following
	caches map[string]*cache
	queues map[string]*queue
}

type counts struct{ sampled, traced, dropped atomic.Uint64 }

// Stats counts changes by their outcome.
type Stats struct {
	// Sampled are the changes that Options.Ratio has selected. Traced are those sampled changes
	// that have a span. They have reached the store, and the sampler of the provider has selected
	// them as well.
	Sampled, Traced uint64

	// Dropped are the changes, and the keys of queues, that were dropped because of Options.MaxOpen
	// or Options.MaxAge. A change that has reached the store counts only if a limit was reached
	// before any handler handled it: MaxOpen, or 16 changes of one object.
	Dropped uint64

	// Open is the current number of traced changes and keys.
	Open int
}

// New returns a Tracing that makes spans with this provider, for example a TracerProvider of
// go.opentelemetry.io/otel/sdk/trace. The caller shuts the provider down after all parts have
// ended.
func New(provider trace.TracerProvider, opts Options) (*Tracing, error) {
	if provider == nil {
		return nil, errors.New("tracing: New needs a trace.TracerProvider")
	}
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Tracing{
		opts:      opts,
		tracer:    provider.Tracer("github.com/kinform/kinform/tracing"),
		threshold: uint64(max(opts.Ratio, 0) * math.MaxUint32),
		all:       opts.Ratio >= 1,
		caches:    map[string]*cache{},
		queues:    map[string]*queue{},
	}, nil
}

// Stats returns the counters since New.
func (t *Tracing) Stats() Stats {
	s := Stats{Sampled: t.counts.sampled.Load(), Traced: t.counts.traced.Load(), Dropped: t.counts.dropped.Load()}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.caches {
		s.Open += int(c.open.Load())
	}
	for _, q := range t.queues {
		s.Open += int(q.open.Load())
	}
	return s
}

// sample decides at random whether the next change is traced.
func (t *Tracing) sample() bool { return t.all || uint64(rand.Uint32()) < t.threshold }

// cache returns the cache for the informer with this name. It makes the cache if necessary.
func (t *Tracing) cache(name string) *cache {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.caches[name]
	if c == nil {
		c = &cache{tracing: t, name: name, changes: map[types.NamespacedName][]*change{}}
		t.caches[name] = c
	}
	return c
}

// queue returns the queue with this name. It makes the queue if necessary.
func (t *Tracing) queue(name string) *queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[name]
	if q == nil {
		q = &queue{tracing: t, name: name, pending: map[types.NamespacedName]*pending{}, running: map[types.NamespacedName]trace.TraceID{}}
		t.queues[name] = q
	}
	return q
}

// object adds the name of an object to attributes, unless Options.WithoutNames is set.
func (t *Tracing) object(key types.NamespacedName, attrs ...attribute.KeyValue) []attribute.KeyValue {
	if t.opts.WithoutNames {
		return attrs
	}
	if key.Namespace != "" {
		attrs = append(attrs, attribute.String("k8s.namespace.name", key.Namespace))
	}
	return append(attrs, attribute.String("kinform.object.name", key.Name))
}
