package workqueue

import (
	"context"
	"time"
)

// Item is a key that has been handed out, and its turn.
type Item[K comparable] struct {
	Key      K
	Priority int
	Causes   Causes
	Waited   time.Duration // since the key became dirty; 0 if no times are kept, see Options.Timed
}

// describeLocked fills in the item of an entry that has just been handed out.
func (q *Queue[K]) describeLocked(item *Item[K], e *entry[K]) {
	item.Key, item.Priority, item.Causes = e.key, int(e.running.priority), e.running.causes()
	if q.timed {
		item.Waited = e.since - e.added
	}
}

// GetItem is Get, and says as well why the key has a turn and how long it waited.
// Lookup says so later, until Done.
func (q *Queue[K]) GetItem(ctx context.Context) (Item[K], error) {
	var item Item[K]
	if err := q.get(ctx, &item.Key, &item); err != nil {
		return item, err
	}
	q.tellGot(&item)
	return item, nil
}

// tellGot tells the observer of a key that is handed out. If that ends the goroutine, nobody works on
// the key, which is handed out again after a pause: the observer may end each goroutine.
func (q *Queue[K]) tellGot(item *Item[K]) {
	if q.opts.Observer == nil {
		return
	}
	returned := false
	defer func() {
		if !returned {
			defer q.done(item.Key, cutShort) // also if the observer of again ends the goroutine
			q.again(item.Key, unconcluded)
		}
	}()
	q.opts.Observer.got(item)
	returned = true
}

// TryGet is Get for callers that don't want to wait: ok is false when no key is ready.
func (q *Queue[K]) TryGet() (key K, ok bool) {
	var item Item[K]
	q.mu.Lock()
	taken := q.takeLocked(&item.Key, &item)
	q.unlock()
	if !taken {
		return key, false
	}
	q.tellGot(&item)
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
