package deltafifo

import "time"

// Stats is what a queue counts. It is one consistent view.
type Stats struct {
	// Keys and Deltas are pending now. Pop computes the tombstones of vanished
	// keys, and resyncs; these are not among them before that.
	Keys, Deltas int

	// OldestAge is for how long something has been pending, 0 if nothing is.
	OldestAge time.Duration

	// InFlight is the number of keys in the batch that was handed out last and is
	// not yet known to be applied.
	InFlight int

	// ResourceVersion is the newest version that the producer told.
	ResourceVersion string

	// Queued counts all deltas ever: those told by the producer, and tombstones
	// and resyncs.
	Queued uint64
	// Batches counts the batches that were handed out.
	Batches uint64
	// Replaces counts calls of Replace.
	Replaces uint64
	// Merged counts deltas that nobody will see because of Options.MaxDeltasPerKey:
	// updates lost in a newer one, and objects that came and went. If it grows, the
	// consumer is too slow.
	Merged uint64
	// Collapsed counts deletes that followed a delete (DF-3).
	Collapsed uint64
	// Dropped counts deletes of keys that the consumer never heard of (DF-6).
	Dropped uint64
}

// Stats returns the current numbers. It is cheap: no work depends on how much is
// pending.
func (f *FIFO[T]) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()

	s := f.stats
	s.Keys, s.Deltas = len(f.pending.stacks), f.pending.deltas
	s.ResourceVersion = f.resourceVersion
	if !f.pending.empty() {
		s.OldestAge = time.Since(f.pending.since)
	}
	return s
}
