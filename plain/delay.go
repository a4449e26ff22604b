// The delays. Some keys are to be added later: after a failure, or because a certificate is valid
// for another hour. A timer for each key would work, but ten thousand keys would need ten thousand
// timers, and most timers are changed before they fire. A heap needs one timer. It is a tree in a
// slice whose root is due first, and the timer is set for the root. A key is in the heap once. If
// it is added with two times, the earlier time counts. Work that comes too early finds nothing to
// do, but work that comes too late does harm.

package plain

import (
	"container/heap"
	"time"
)

// delay is a waiting key. A Queue has each delay in two places: by key in due, and in the heap
// waiting.
type delay[K comparable] struct {
	key   K
	at    time.Time
	index int // in the heap
}

// AddAfter adds a key after a while. If the key is waiting already, the earlier time counts.
func (q *Queue[K]) AddAfter(key K, after time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := time.Now().Add(after)
	switch w := q.due[key]; {
	case q.shutDown:
		return
	case after <= 0:
		q.addLocked(key)
	case w == nil:
		q.due[key] = &delay[K]{key: key, at: at}
		heap.Push(&q.waiting, q.due[key])
	case at.Before(w.at):
		w.at = at
		heap.Fix(&q.waiting, w.index)
	}
	q.setTimerLocked()
}

// fire adds the keys that are due.
func (q *Queue[K]) fire() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) > 0 && !q.waiting[0].at.After(time.Now()) {
		w := heap.Pop(&q.waiting).(*delay[K])
		delete(q.due, w.key)
		q.addLocked(w.key)
	}
	q.setTimerLocked()
}

// setTimerLocked sets the timer for the root.
func (q *Queue[K]) setTimerLocked() {
	if len(q.waiting) == 0 {
		return
	}
	after := time.Until(q.waiting[0].at)
	if q.timer == nil {
		q.timer = time.AfterFunc(after, func() { q.fire() })
	} else {
		q.timer.Reset(after)
	}
}

// delayHeap has the methods that container/heap needs.
type delayHeap[K comparable] []*delay[K]

func (h delayHeap[K]) Len() int           { return len(h) }
func (h delayHeap[K]) Less(a, b int) bool { return h[a].at.Before(h[b].at) }
func (h delayHeap[K]) Swap(a, b int)      { h[a], h[b] = h[b], h[a]; h[a].index, h[b].index = a, b }
func (h *delayHeap[K]) Push(w any)        { w.(*delay[K]).index = len(*h); *h = append(*h, w.(*delay[K])) }
func (h *delayHeap[K]) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}

// Package workqueue does more than this file, for these reasons:
//
//   - Times are in a radix heap, whose nodes are the entries of the table of keys. Setting, moving
//     and removing a time allocates nothing, and costs the same for any number of waiting keys.
