package deltafifo

import (
	"context"
	"time"
)

// Pop returns everything that is pending as one batch, and waits if there is
// nothing. To call it is to say that the batch which it returned last has been
// applied to Known, whatever it returns this time; a consumer that failed to
// apply something has done with it all the same.
//
// A batch always has something to say: stacks, a Replace, or a newer
// resourceVersion. If ctx has ended Pop returns its error, even with something
// pending; nothing is lost, and Pop may be called again. After Close it hands out
// what is left, then returns ErrClosed.
//
// plain's Pop hands out one key, and holds the lock while the consumer works: see the
// package comment for what that costs.
//
// There is one consumer: Pop panics if it is called while another Pop runs.
func (f *FIFO[T]) Pop(ctx context.Context) (Batch[T], error) {
	if !f.popping.CompareAndSwap(false, true) {
		panic("deltafifo: Pop was called by two goroutines at once; a queue has one consumer")
	}
	defer f.popping.Store(false)

	for {
		if err := ctx.Err(); err != nil {
			f.settle()
			return Batch[T]{}, err
		}
		s, resourceVersion, err := f.take()
		if err != nil {
			return Batch[T]{}, err
		}
		if !s.empty() {
			if batch, ok := f.finish(s, resourceVersion); ok {
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

// settle notes that the batch in flight has been applied.
func (f *FIFO[T]) settle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settleLocked()
}

func (f *FIFO[T]) settleLocked() {
	if keys := f.flight.place; keys != nil && len(keys) <= maxSpare {
		clear(keys)
		f.spare = keys
	}
	f.flight = footprint{}
	f.applied = f.taken
	f.stats.InFlight = 0
}

// maxSpare limits the maps that are used again. A map never shrinks, and
// clearing it takes time in proportion to the most that it ever held.
const maxSpare = 64

// take takes the pending shelf down, with the version through which it tells.
// From here on its keys are in flight. The shelf is empty if nothing is pending.
func (f *FIFO[T]) take() (shelf[T], string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settleLocked()

	s := f.pending
	if s.empty() {
		if f.closed {
			return s, "", ErrClosed
		}
		return s, "", nil
	}
	s.verify()
	f.taken++
	f.flight = s.footprint
	f.pending = shelf[T]{footprint: footprint{place: f.spare}}
	f.spare = nil
	return s, f.resourceVersion, nil
}

// finish turns a shelf that was taken down into a batch. It reads Known without
// the lock: the shelf is out of the producer's reach, and nobody changes Known, as its
// only writer, the consumer, waits in Pop. The keys to which a tombstone is added
// meanwhile are covered by the footprint in flight. The result is not ok if the shelf
// turns out to have nothing to say.
func (f *FIFO[T]) finish(s shelf[T], resourceVersion string) (Batch[T], bool) {
	waited := time.Since(s.since)
	told := s.deltas
	dropped := f.decide(&s)
	if s.replaced || s.resync {
		s = f.addKnown(s)
	}

	f.mu.Lock()
	f.stats.Dropped += uint64(dropped)
	f.stats.Queued += uint64(s.deltas + dropped - told)
	if len(s.stacks) == 0 && !s.replaced && resourceVersion == f.handedOut {
		f.mu.Unlock()
		return Batch[T]{}, false
	}
	f.stats.Batches++
	f.stats.InFlight = len(s.stacks)
	f.handedOut = resourceVersion
	turn := f.taken
	f.mu.Unlock()

	f.observer.batch(BatchInfo{
		Keys: len(s.stacks), Deltas: s.deltas,
		ResourceVersion: resourceVersion,
		Replaced:        s.replaced, Initial: s.initial,
		Waited: waited,
	})
	return Batch[T]{
		Stacks:          s.stacks,
		Turn:            turn,
		ResourceVersion: resourceVersion,
		Replaced:        s.replaced, Initial: s.initial, Resynced: s.resync,
	}, true
}
