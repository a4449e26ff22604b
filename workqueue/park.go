package workqueue

import (
	"context"
	"log/slog"
	"sync"
)

// Park holds the key back until the function has returned: it is not handed out
// before, however often it is added, and an add of that time is not lost. It does
// not add the key. A worker that has written an object parks its key until the
// store has seen the write, and so never acts on an older object:
//
//	queue.Park(key, func(ctx context.Context) error {
//		return store.WaitRV(ctx, written.ResourceVersion)
//	})
//
// The function runs in a goroutine of its own, and should return when its context
// ends, which it does at ShutDown; a key that is parked then has no turn any more.
// When the function fails or panics, that is logged and the key is free again.
// A key that is parked several times is held back until all have returned. One
// that is with a worker stays there.
//
// After ShutDown, Park only discards the turn that is due on the key, if there is
// one: the store may not have seen by then what its worker wrote. To
// wait for no longer than some time, give the function a context of its own:
// otherwise, an event that never comes holds the key back for ever.
func (q *Queue[K]) Park(key K, until func(context.Context) error) {
	q.park(key, q.hash(key), q.groupOf(key), until)
}

// parking is the goroutines in which the functions run that Park was given.
type parking struct {
	ctx   context.Context // of their functions
	end   context.CancelFunc
	waits sync.WaitGroup
}

func (q *Queue[K]) park(key K, hash uint32, g group, until func(context.Context) error) {
	q.mu.Lock()
	defer q.unlock()
	if q.refuseLocked() {
		q.discardLocked(q.entries.find(key, hash))
		return
	}
	e := q.obtainLocked(key, hash, g)
	if e.ready() {
		q.ready.remove(e)
	}
	if e.parked == 0 {
		q.parked++
	}
	e.parked++
	q.pending++
	q.parking.waits.Go(func() {
		contained(
			func() error { return until(q.parking.ctx) },
			func(err error) { q.unpark(e, err) },
		)
	})
}

// unpark ends one wait of a parked key.
func (q *Queue[K]) unpark(e *entry[K], err error) {
	key := e.key // which does not change while the entry is parked
	if err != nil && q.parking.ctx.Err() == nil {
		defer q.log(q.parking.ctx, slog.LevelWarn, "parked key goes on although its wait failed", key, err)
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

// abandonLocked ends the waits of parked keys, and discards the turns that were
// due on them: whether these are safe was for the waits to tell.
func (q *Queue[K]) abandonLocked() {
	q.parking.end()
	if q.parked == 0 {
		return
	}
	for e := range q.entries.all {
		if e.parked > 0 {
			q.discardLocked(e)
		}
	}
}

// discardLocked drops the turn that is due on an entry, if there is an entry and a turn.
func (q *Queue[K]) discardLocked(e *entry[K]) {
	if e == nil || !e.dirty {
		return
	}
	q.dropLocked(e)
	q.stats.Discarded++
	q.entries.release(e)
	q.closeIfDrainedLocked()
}
