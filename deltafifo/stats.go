package deltafifo

import "time"

// Stats has the counters of a queue, all of the same moment.
type Stats struct {
	// Keys and Deltas count pending keys and deltas, without the tombstones and Syncs that Pop will
	// add.
	Keys, Deltas int

	// OldestAge is how long the oldest delta has been pending, or 0 if nothing is pending.
	OldestAge time.Duration

	// InFlight is the number of keys in the last batch. It is 0 after the next call of Pop, which
	// confirms that the batch has been applied.
	InFlight int

	// ResourceVersion is the newest version that the producer has reported.
	ResourceVersion string

	// Queued counts all deltas so far: the producer's, tombstones and Syncs.
	Queued uint64
	// Batches counts the batches that were handed out.
	Batches uint64
	// Replaces counts calls of Replace.
	Replaces uint64
	// Merged counts deltas that the consumer does not get because of Options.MaxDeltasPerKey. A
	// newer state replaced them, or they are of objects that were created and deleted in between.
	// If Merged grows, the consumer is too slow.
	Merged uint64
	// Collapsed counts deletes of an object that directly followed a delete (DF-3).
	Collapsed uint64
	// Dropped counts deletes of objects that the consumer never had (DF-6).
	Dropped uint64
}

// Stats returns the current numbers. Its cost does not depend on how much is pending.
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
