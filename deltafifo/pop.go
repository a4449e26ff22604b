package deltafifo

import (
	"context"
	"time"
)

// Pop returns all pending deltas as one batch, and waits until there are deltas. Each call confirms
// that the consumer has applied the last batch to Known. Pop does not hand out any part of that
// batch again, even if the consumer failed to apply it.
//
// A batch always has stacks, a Replace, or a newer resourceVersion. If ctx has ended, Pop returns
// its error, even if there are pending deltas. No delta is lost then, and Pop may be called again.
// After Close it hands out the pending deltas, and then returns ErrClosed.
//
// There is one consumer: Pop panics if it is called while another Pop runs. Pop of
// plain/deltafifo.go hands out one key, and holds the lock while the consumer works; the package
// comment compares the two.
func (f *FIFO[T]) Pop(ctx context.Context) (Batch[T], error) {
	if !f.popping.CompareAndSwap(false, true) {
		panic("deltafifo: Pop was called by two goroutines at once; a queue has one consumer")
	}
	defer f.popping.Store(false)

	for {
		if err := ctx.Err(); err != nil {
			f.markApplied()
			return Batch[T]{}, err
		}
		s, resourceVersion, err := f.takePending()
		if err != nil {
			return Batch[T]{}, err
		}
		if !s.empty() {
			if batch, ok := f.makeBatch(s, resourceVersion); ok {
				return batch, nil
			}
			continue
		}
		select {
		case <-f.ready:
		case <-ctx.Done():
		}
	}
}

// markApplied records that the consumer has applied the batch in flight.
func (f *FIFO[T]) markApplied() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.markAppliedLocked()
}

func (f *FIFO[T]) markAppliedLocked() {
	if keys := f.inFlight.stackIndex; keys != nil && len(keys) <= maxReuse {
		clear(keys)
		f.spareIndex = keys
	}
	f.inFlight = footprint{}
	f.applied = f.popped
	f.stats.InFlight = 0
}

// maxReuse limits the length of maps that are reused. A map never shrinks, and clearing it takes
// time in proportion to the largest length it ever had.
const maxReuse = 64

// takePending takes the pending deltas with their resourceVersion, and leaves an empty value. From
// then on the keys are in flight. The returned pendingDeltas is empty if nothing is pending.
func (f *FIFO[T]) takePending() (pendingDeltas[T], string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.markAppliedLocked()

	s := f.pending
	if s.empty() {
		if f.closed {
			return s, "", ErrClosed
		}
		return s, "", nil
	}
	s.verify()
	f.popped++
	f.inFlight = s.footprint
	f.pending = pendingDeltas[T]{footprint: footprint{stackIndex: f.spareIndex}}
	f.spareIndex = nil
	return s, f.resourceVersion, nil
}

// makeBatch makes a batch from the result of takePending. It reads Known without the lock: the
// producer cannot reach s, and the consumer, the only writer of Known, waits in Pop. Meanwhile
// HasVersion finds the keys that get a tombstone in the footprint in flight. makeBatch returns
// false if the batch would be empty.
func (f *FIFO[T]) makeBatch(s pendingDeltas[T], resourceVersion string) (Batch[T], bool) {
	waited := time.Since(s.since)
	reported := s.deltas
	dropped := f.resolveUndecided(&s)
	if s.replaced || s.resync {
		s = f.addKnown(s)
	}

	f.mu.Lock()
	f.stats.Dropped += uint64(dropped)
	f.stats.Queued += uint64(s.deltas + dropped - reported)
	if len(s.stacks) == 0 && !s.replaced && resourceVersion == f.poppedVersion {
		f.mu.Unlock()
		return Batch[T]{}, false
	}
	f.stats.Batches++
	f.stats.InFlight = len(s.stacks)
	f.poppedVersion = resourceVersion
	number := f.popped
	f.mu.Unlock()

	f.observer.batch(BatchInfo{
		Keys: len(s.stacks), Deltas: s.deltas,
		ResourceVersion: resourceVersion,
		Replaced:        s.replaced, Initial: s.initial,
		Waited: waited,
	})
	return Batch[T]{
		Stacks:          s.stacks,
		Number:          number,
		ResourceVersion: resourceVersion,
		Replaced:        s.replaced, Initial: s.initial, Resynced: s.resync,
	}, true
}
