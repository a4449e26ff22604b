// The delays. Some keys are to be added later: after a failure, or because a certificate is good for another
// hour. A timer for each would do; ten thousand timers for ten thousand keys, most of which are moved before
// they fire, are what a heap is for. It is a tree in a slice whose root is due first, so one timer, set for
// the root, is enough. A key waits once: of two times the earlier counts, as work that comes too early finds
// nothing to do, and work that comes too late is late.

package plain

import (
	"container/heap"
	"sync"
	"time"
)

// delays are keys that are to be added later.
type delays[K comparable] struct {
	add func(K)

	mu      sync.Mutex // guards following
	waiting heapOf[K]
	due     map[K]*delay[K] // what waits, by key
	timer   *time.Timer     // fires when the root is due
	stopped bool
}

type delay[K comparable] struct {
	key   K
	at    time.Time
	index int // in the heap
}

// until has a key added at a moment, unless it waits for an earlier one.
func (d *delays[K]) until(key K, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	if w := d.due[key]; w == nil {
		d.due[key] = &delay[K]{key: key, at: at}
		heap.Push(&d.waiting, d.due[key])
	} else if at.Before(w.at) {
		w.at = at
		heap.Fix(&d.waiting, w.index)
	}
	d.setTimerLocked()
}

// fire adds what is due.
func (d *delays[K]) fire() {
	d.mu.Lock()
	var ready []K
	for len(d.waiting) > 0 && !d.waiting[0].at.After(time.Now()) {
		w := heap.Pop(&d.waiting).(*delay[K])
		delete(d.due, w.key)
		ready = append(ready, w.key)
	}
	d.setTimerLocked()
	d.mu.Unlock()
	for _, key := range ready {
		d.add(key)
	}
}

func (d *delays[K]) setTimerLocked() {
	if len(d.waiting) == 0 || d.stopped {
		return
	}
	after := time.Until(d.waiting[0].at)
	if d.timer == nil {
		d.timer = time.AfterFunc(after, d.fire)
	} else {
		d.timer.Reset(after)
	}
}

func (d *delays[K]) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped, d.waiting, d.due = true, nil, nil
	if d.timer != nil {
		d.timer.Stop()
	}
}

// heapOf has what container/heap needs.
type heapOf[K comparable] []*delay[K]

func (h heapOf[K]) Len() int           { return len(h) }
func (h heapOf[K]) Less(a, b int) bool { return h[a].at.Before(h[b].at) }
func (h heapOf[K]) Swap(a, b int)      { h[a], h[b] = h[b], h[a]; h[a].index, h[b].index = a, b }
func (h *heapOf[K]) Push(w any)        { w.(*delay[K]).index = len(*h); *h = append(*h, w.(*delay[K])) }
func (h *heapOf[K]) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}

// What package workqueue does beyond this file: times lie in a radix heap whose nodes are the entries of the
// table of keys, so that setting, moving and taking out a time costs no allocation, and the same however many wait.
