package workqueue

import (
	"context"
	"log/slog"
	"sync"
)

// Park holds the key back until the function has returned. The key is not handed out before,
// however often it is added, and no add is lost. Park does not add the key. A worker that has
// written an object parks its key until the store has seen the write, and so never acts on an older
// object:
//
//	queue.Park(key, func(ctx context.Context) error {
//		return store.WaitRV(ctx, written.ResourceVersion)
//	})
//
// The function runs in a goroutine of its own, and should return when its context ends, which
// happens at ShutDown. A key that is parked at ShutDown does not run again. If the function fails
// or panics, that is logged and the key is no longer held back. A key that is parked several times
// is held back until all functions have returned. Park does not affect a run in progress.
//
// After ShutDown, Park only discards the key's pending run, if there is one, because the store may
// not have its worker's write by then. To limit the wait, give the function a context with a
// timeout: otherwise an event that never comes holds the key back for ever.
func (q *Queue[K]) Park(key K, until func(context.Context) error) {
	q.park(key, q.hash(key), q.groupOf(key), until)
}

// parking is the state of the goroutines that run the functions passed to Park.
type parking struct {
	ctx    context.Context // of the functions
	cancel context.CancelFunc
	waits  sync.WaitGroup
}

func (q *Queue[K]) park(key K, hash uint32, g group, until func(context.Context) error) {
	q.mu.Lock()
	defer q.unlock()
	if q.refuseLocked() {
		q.discardLocked(q.entries.find(key, hash))
		return
	}
	e := q.getOrInsertLocked(key, hash, g)
	if e.ready() {
		q.ready.remove(e)
	}
	if e.parked == 0 {
		q.parked++
	}
	e.parked++
	q.pending++
	q.parking.waits.Go(func() {
		callContained(
			func() error { return until(q.parking.ctx) },
			func(err error) { q.unpark(e, err) },
		)
	})
}

// unpark ends one wait of a parked key.
func (q *Queue[K]) unpark(e *entry[K], err error) {
	key := e.key // the key does not change while the entry is parked
	if err != nil && q.parking.ctx.Err() == nil {
		defer q.log(q.parking.ctx, slog.LevelWarn, "a parked key continues although its wait failed", key, err)
	}
	q.mu.Lock()
	defer q.unlock()
	e.parked--
	q.pending--
	if e.parked == 0 {
		q.parked--
		q.readyLocked(e, q.timeLocked())
		q.entries.release(e)
	}
	q.closeIfDrainedLocked()
}

// discardParkedLocked ends the waits of parked keys, and discards their pending runs: without a
// completed wait, a run may be unsafe.
func (q *Queue[K]) discardParkedLocked() {
	q.parking.cancel()
	if q.parked == 0 {
		return
	}
	for e := range q.entries.all {
		if e.parked > 0 {
			q.discardLocked(e)
		}
	}
}

// discardLocked drops the pending run of an entry, if there is an entry and a run.
func (q *Queue[K]) discardLocked(e *entry[K]) {
	if e == nil || !e.dirty {
		return
	}
	q.dropLocked(e)
	q.stats.Discarded++
	q.entries.release(e)
	q.closeIfDrainedLocked()
}
