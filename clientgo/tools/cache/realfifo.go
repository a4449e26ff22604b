package cache

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
)

// defaultBatch is the maximal number of deltas per PopBatch.
const defaultBatch = 1000

// RealFIFOOptions are the settings of a RealFIFO.
type RealFIFOOptions struct {
	// Logger logs errors that have no caller to return to. Defaults to klog.Background().
	Logger *klog.Logger
	// Name is the queue's name in logs. Defaults to the Identifier's name, then to "RealFIFO".
	Name string
	// KeyFunction defaults to [MetaNamespaceKeyFunc].
	KeyFunction KeyFunc
	// KnownObjects has the objects that the consumer has. It is required without AtomicEvents and
	// must be nil with AtomicEvents.
	KnownObjects KeyListerGetter
	// Transformer changes objects before they are queued. May be nil.
	Transformer TransformFunc
	// AtomicEvents makes Replace queue one ReplacedAll, and Resync one SyncAll.
	AtomicEvents bool
	// UnlockWhileProcessing unlocks the queue while the consumer processes an item, unless many
	// deltas are queued. It requires AtomicEvents and a single consumer.
	UnlockWhileProcessing bool
	// Identifier names the queue in metrics.
	Identifier InformerNameAndResource
	// MetricsProvider makes the metrics. Defaults to the provider of the process.
	MetricsProvider InformerMetricsProvider
	// EmitDeltaTypeBookmark makes Bookmark queue a delta. It requires AtomicEvents.
	EmitDeltaTypeBookmark bool
}

// RealFIFO is a queue of deltas in order of arrival, across all keys.
//
// It does not use kinform's queue, which merges the changes of a key.
type RealFIFO struct {
	name        string
	logger      klog.Logger
	keyFunc     KeyFunc
	known       KeyListerGetter
	transformer TransformFunc
	atomic      bool
	unlock      bool
	bookmarks   bool
	batch       int
	identifier  InformerNameAndResource
	queued      GaugeMetric
	latency     HistogramMetric
	pending     atomic.Int64 // deltas that are queued or being processed

	mu      sync.Mutex // guards following
	cond    sync.Cond
	items   []Delta
	tracker syncTracker
	closed  bool
}

var (
	_ QueueWithBatch = &RealFIFO{}
)

// NewRealFIFO returns an empty queue. It panics if knownObjects is nil.
func NewRealFIFO(keyFunc KeyFunc, knownObjects KeyListerGetter, transformer TransformFunc) *RealFIFO {
	return NewRealFIFOWithOptions(RealFIFOOptions{KeyFunction: keyFunc, KnownObjects: knownObjects, Transformer: transformer})
}

// NewRealFIFOWithOptions returns an empty queue. It panics if the options contradict each other.
func NewRealFIFOWithOptions(opts RealFIFOOptions) *RealFIFO {
	switch {
	case opts.AtomicEvents && opts.KnownObjects != nil:
		panic("coding error: RealFIFOOptions.KnownObjects must be nil with AtomicEvents")
	case !opts.AtomicEvents && opts.KnownObjects == nil:
		panic("coding error: RealFIFOOptions.KnownObjects is required without AtomicEvents")
	case !opts.AtomicEvents && opts.UnlockWhileProcessing:
		panic("coding error: RealFIFOOptions.UnlockWhileProcessing needs AtomicEvents")
	case !opts.AtomicEvents && opts.EmitDeltaTypeBookmark:
		panic("coding error: RealFIFOOptions.EmitDeltaTypeBookmark needs AtomicEvents")
	}
	f := &RealFIFO{name: opts.Name, keyFunc: opts.KeyFunction, known: opts.KnownObjects, transformer: opts.Transformer,
		atomic: opts.AtomicEvents, unlock: opts.UnlockWhileProcessing, bookmarks: opts.EmitDeltaTypeBookmark,
		batch: defaultBatch, identifier: opts.Identifier, queued: noMetric{}, latency: noMetric{}, tracker: newSyncTracker()}
	if f.keyFunc == nil {
		f.keyFunc = MetaNamespaceKeyFunc
	}
	if f.name == "" {
		f.name = opts.Identifier.Name()
	}
	if f.name == "" {
		f.name = "RealFIFO"
	}
	if opts.Identifier.Reserved() {
		provider := informerMetricsProvider(opts.MetricsProvider)
		f.queued = provider.NewQueuedItemMetric(opts.Identifier)
		f.latency = provider.NewProcessingLatencyMetric(opts.Identifier)
	}
	f.logger = queueLogger(opts.Logger, f.name)
	f.cond.L = &f.mu
	return f
}

// Name returns the queue's name.
func (f *RealFIFO) Name() string { return f.name }

// Transformer returns the Transformer of the options.
func (f *RealFIFO) Transformer() TransformFunc { return f.transformer }

// Done is closed when the queue has synced.
func (f *RealFIFO) Done() <-chan struct{} { return f.tracker.synced }

// HasSynced reports whether the consumer has processed the whole first list, or the queue received
// a change before any list.
func (f *RealFIFO) HasSynced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tracker.syncedLocked()
}

// HasSyncedChecker returns the queue.
func (f *RealFIFO) HasSyncedChecker() DoneChecker { return f }

// Close makes Pop return an error once all deltas are popped.
func (f *RealFIFO) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.cond.Broadcast()
}

// IsClosed reports whether Close was called.
func (f *RealFIFO) IsClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// waitLocked waits for a delta. It returns false when the queue is closed and empty.
func (f *RealFIFO) waitLocked() bool {
	for len(f.items) == 0 {
		if f.closed {
			return false
		}
		f.cond.Wait()
	}
	return true
}

// takeLocked removes the first n deltas and passes them to the function work. If
// UnlockWhileProcessing is set, it unlocks the queue during the call of work. The deltas count as
// popped when work has returned.
func (f *RealFIFO) takeLocked(n int, work func(taken []Delta, initial bool) error) error {
	initial := !f.tracker.syncedLocked()
	taken := make([]Delta, n)
	copy(taken, f.items)
	clear(f.items[:n])
	f.items = f.items[n:]
	f.measureLocked()
	began := time.Now()
	defer func() {
		f.pending.Add(int64(-n))
		f.tracker.poppedLocked(n)
		if f.identifier.Reserved() {
			f.latency.Observe(time.Since(began).Seconds())
		}
	}()
	if f.unlock && len(f.items) < 2*f.batch {
		f.mu.Unlock()
		defer f.mu.Lock()
	}
	return work(taken, initial)
}

func (f *RealFIFO) measureLocked() {
	if f.identifier.Reserved() {
		f.queued.Set(float64(len(f.items)))
	}
}

// Pop waits for a delta and passes it to process as [Deltas] of length one.
func (f *RealFIFO) Pop(process PopProcessFunc) (interface{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.waitLocked() {
		return nil, ErrFIFOClosed
	}
	var deltas Deltas
	err := f.takeLocked(1, func(taken []Delta, initial bool) error {
		deltas = taken
		return process(deltas, initial)
	})
	return deltas, err
}

// PopBatch waits for a delta, and adds the following deltas to the batch. The batch ends before a
// delta that is not about exactly one object, or whose key is in the batch already.
func (f *RealFIFO) PopBatch(processBatch ProcessBatchFunc, processSingle PopProcessFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.waitLocked() {
		return ErrFIFOClosed
	}
	return f.takeLocked(f.prefixLocked(), func(taken []Delta, initial bool) error {
		if len(taken) == 1 {
			return processSingle(Deltas(taken), initial)
		}
		return processBatch(taken, initial)
	})
}

// prefixLocked returns the number of deltas in the next batch.
func (f *RealFIFO) prefixLocked() int {
	limit := min(len(f.items), f.batch)
	if f.tracker.remaining > 0 {
		limit = min(limit, f.tracker.remaining)
	}
	keys := make(map[string]struct{}, limit)
	for i, delta := range f.items[:limit] {
		switch delta.Type {
		case Sync, Replaced, Added, Updated, Deleted:
		default:
			return max(i, 1)
		}
		key, err := queueKey(f.keyFunc, delta.Object)
		if err != nil {
			return i + 1
		}
		if _, twice := keys[key]; twice {
			return i
		}
		keys[key] = struct{}{}
	}
	return limit
}
