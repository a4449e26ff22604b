package workqueue

import (
	"context"
	"time"
)

// Item is a key that was handed out, with details of its run.
type Item[K comparable] struct {
	Key      K
	Priority int
	Causes   Causes
	Waited   time.Duration // since the key became dirty; 0 if times are not kept, see Options.Timed
}

// describeLocked fills in the item of an entry that was just handed out.
func (q *Queue[K]) describeLocked(item *Item[K], e *entry[K]) {
	item.Key, item.Priority, item.Causes = e.key, int(e.running.priority), e.running.causes()
	if q.timed {
		item.Waited = e.since - e.added
	}
}

// GetItem is Get, and also returns why the key runs and how long it waited. Lookup returns the same
// causes until Done.
func (q *Queue[K]) GetItem(ctx context.Context) (Item[K], error) {
	var item Item[K]
	if err := q.get(ctx, &item.Key, &item); err != nil {
		return item, err
	}
	q.notifyGot(&item)
	return item, nil
}

// notifyGot passes a key that was handed out to the observer. If the observer ends the goroutine,
// the key has no worker, so notifyGot adds it again. It does so after a pause, because the observer
// may end every goroutine.
func (q *Queue[K]) notifyGot(item *Item[K]) {
	if q.opts.Observer == nil {
		return
	}
	returned := false
	defer func() {
		if !returned {
			// deferred, because q.requeue calls the observer, which may end the goroutine
			defer q.done(item.Key, interrupted)
			q.requeue(item.Key, hookFailureDelay)
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
	q.notifyGot(&item)
	return item.Key, true
}
