package workqueue

import (
	"context"
	"time"

	"github.com/kinform/kinform/internal/invariant"
)

// Item is a key that has been handed out, with what is known of its turn.
type Item[K comparable] struct {
	Key      K
	Priority int
	Causes   Causes
	Waited   time.Duration // since the key became dirty; 0 if no times are kept, see Options.Timed
}

// Get hands out the key whose turn it is: of the highest priority, of its groups
// in turn, the one that has been ready longest. It blocks while there is none.
// The caller must call Done with the key; until then, nobody else gets it.
//
// Get returns ErrShutDown when the queue is shut down and nothing is ready, and
// the context's cause when it ended before. A worker that got ErrShutDown need
// not come back: a key that becomes ready later does so in the Done of another
// worker, whose next Get returns it (WQ-11).
func (q *Queue[K]) Get(ctx context.Context) (key K, err error) {
	if q.opts.Observer != nil {
		item, err := q.GetItem(ctx)
		return item.Key, err
	}
	err = q.get(ctx, &key, nil)
	return key, err
}

// GetItem is Get, and says as well why the key has a turn and how long it waited.
// Lookup says so later, until Done.
func (q *Queue[K]) GetItem(ctx context.Context) (Item[K], error) {
	var item Item[K]
	if err := q.get(ctx, &item.Key, &item); err != nil {
		return item, err
	}
	q.opts.Observer.got(&item)
	return item, nil
}

// get is GetItem for those who may not want the item.
func (q *Queue[K]) get(ctx context.Context, key *K, item *Item[K]) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for {
		q.mu.Lock()
		result := q.takeLocked(key, item)
		q.unlock()
		switch result {
		case taken:
			return nil
		case over:
			return ErrShutDown
		}
		select {
		case <-q.over:
		case <-q.wake:
			if ctx.Err() != nil { // also where both were true, so that nothing is begun after the end
				q.mu.Lock()
				q.unlock() // passes on the token, which was for whoever takes the key
				return context.Cause(ctx)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// TryGet is Get for those who don't want to wait: ok is false when no key is ready.
func (q *Queue[K]) TryGet() (key K, ok bool) {
	var item Item[K]
	q.mu.Lock()
	result := q.takeLocked(&item.Key, &item)
	q.unlock()
	if result != taken {
		return key, false
	}
	q.opts.Observer.got(&item)
	return item.Key, true
}

// GetBatch is Get for as many keys as are ready and fit into keys, and at least
// one. It returns their number; each needs its own Done. It panics if keys has no
// room.
func (q *Queue[K]) GetBatch(ctx context.Context, keys []K) (int, error) {
	first := &keys[0] // before a key is taken that would have no place
	key, err := q.Get(ctx)
	if err != nil {
		return 0, err
	}
	*first = key
	n := 1
	for ; n < len(keys); n++ {
		key, ok := q.TryGet()
		if !ok {
			break
		}
		keys[n] = key
	}
	return n, nil
}

// takeResult is what a Get found.
type takeResult uint8

const (
	nothing takeResult = iota // no key is ready now
	over                      // no key is ready, and the queue is shutting down
	taken
)

// takeLocked hands out a key, and fills in the rest of an item if there is one.
func (q *Queue[K]) takeLocked(key *K, item *Item[K]) takeResult {
	e := q.ready.pop()
	if e == nil {
		if q.shuttingDown {
			return over
		}
		return nothing
	}
	invariant.Check(e.dirty && !e.processing && e.parked == 0, "a ready key is dirty, with no worker, and not held back")
	now := q.timeLocked()
	if q.opts.MinInterval > 0 {
		e.cool = min(later(now, q.opts.MinInterval), never-1)
	}
	e.dirty, e.processing = false, true
	e.running = e.work
	e.since = now
	q.processing.push(e)
	q.stats.Gets++
	*key = e.key
	if item != nil {
		item.Priority, item.Causes = int(e.running.priority), e.running.causes()
		if q.timed {
			item.Waited = now - e.added
		}
	}
	return taken
}

// Done says that the worker which got the key has finished with it. If the key
// was added meanwhile, it becomes ready at once, or when Park and MinInterval
// allow it. Done for a key that is not processing is a bug of the caller; it is
// counted and has no effect (D2).
func (q *Queue[K]) Done(key K) {
	if ran, ok := q.finish(key); ok && q.opts.Observer != nil {
		q.opts.Observer.done(key, ran)
	}
}

func (q *Queue[K]) finish(key K) (ran time.Duration, ok bool) {
	q.mu.Lock()
	defer q.unlock() // also if the key is not hashable

	e := q.processing.first
	if e == nil || e.key != key { // otherwise it is the only one, or there for longest
		e = q.entries.find(key, q.hash(key))
	}
	if e == nil || !e.processing {
		q.stats.StrayDones++
		return 0, false
	}
	now := q.timeLocked()
	ran = now - e.since
	q.processing.remove(e)
	e.processing = false
	q.stats.Dones++
	if e.cool <= now || q.shuttingDown {
		e.cool = 0
		if !e.delayed() { // it was, if there is an alarm, until a Cancel
			q.alarms.unset(e)
		}
	} else {
		q.alarmLocked(e, now)
	}
	q.settleLocked(e, now)
	q.entries.release(e)
	q.closeIfDrainedLocked()
	return ran, true
}
