package workqueue

import (
	"math"
	"slices"
	"time"
)

// AddAfter adds the key when d has passed, or at once if d is not positive
// (WQ-20). A key has one time to be added at: of several, the earliest stands
// (WQ-21). Keys that are due together are added in the order of their times, and
// for equal times in the order of the calls (WQ-22).
//
// AddAfter never blocks, and it does nothing after ShutDown.
func (q *Queue[K]) AddAfter(key K, d time.Duration) {
	result := q.addAfter(key, d)
	if result != refused {
		q.opts.Observer.retried(key, d)
	}
	q.opts.Observer.added(key, result)
}

func (q *Queue[K]) addAfter(key K, d time.Duration) addResult {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.shuttingDown {
		q.stats.Refused++
		return refused
	}
	e := q.entries.obtain(key)
	q.stats.Retries++
	if d <= 0 {
		return q.markLocked(e, now)
	}
	if q.delayed.schedule(e, later(now, d)) && e == q.delayed.first() {
		q.armLocked(now)
	}
	return scheduled
}

// AddRateLimited adds the key after the time that the rate limiter gives for it
// (WQ-30).
func (q *Queue[K]) AddRateLimited(key K) { q.AddAfter(key, q.opts.RateLimiter.When(key)) }

// Forget tells the rate limiter that work on the key has succeeded, or is given
// up: its next failure counts as the first. Forget takes nothing out of the queue.
func (q *Queue[K]) Forget(key K) { q.opts.RateLimiter.Forget(key) }

// NumRequeues returns how often in a row the key has failed, according to the
// rate limiter.
func (q *Queue[K]) NumRequeues(key K) int { return q.opts.RateLimiter.NumRequeues(key) }

// armLocked sets the timer to the first delayed key, if there is one.
func (q *Queue[K]) armLocked(now time.Duration) {
	first := q.delayed.first()
	switch {
	case first == nil:
	case q.timer == nil:
		q.timer = time.AfterFunc(first.due-now, q.fire)
		q.pending++
	case !q.timer.Reset(first.due - now): // otherwise it was scheduled, and has been moved
		q.pending++
	}
}

// fire adds the keys that are due, and arms the timer for the next. It takes the
// lock for each key anew, so that workers can begin while thousands are due.
func (q *Queue[K]) fire() {
	for {
		key, result, ok := q.fireOne()
		if !ok {
			return
		}
		q.opts.Observer.added(key, result)
	}
}

func (q *Queue[K]) fireOne() (key K, result addResult, ok bool) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()

	e := q.delayed.first()
	if e == nil || e.due > now {
		q.armLocked(now)
		q.pending--
		q.closeIfDrainedLocked()
		return key, refused, false
	}
	q.delayed.pop()
	result = q.markLocked(e, now)
	return e.key, result, true
}

// discardLocked drops all delayed keys and stops the timer.
func (q *Queue[K]) discardLocked() {
	q.stats.Discarded += uint64(q.delayed.len())
	for _, e := range q.delayed.clear() {
		q.entries.release(e)
	}
	if q.timer != nil && q.timer.Stop() {
		q.pending--
	}
}

// later returns now + d, or the latest time there is. d must not be negative.
func later(now, d time.Duration) time.Duration {
	if sum := now + d; sum >= now {
		return sum
	}
	return math.MaxInt64
}

// delayHeap is a binary heap of delayed entries, the earliest first. The entry
// at slots[i] has its children at 2i and 2i+1; slots[0] is not used, so that slot
// 0 of an entry can mean that it is not delayed.
type delayHeap[K comparable] struct {
	slots []*entry[K]
	seq   uint64 // number of the latest schedule
}

func (h *delayHeap[K]) len() int { return max(len(h.slots)-1, 0) }

// first returns the entry that is due first, or nil.
func (h *delayHeap[K]) first() *entry[K] {
	if h.len() == 0 {
		return nil
	}
	return h.slots[1]
}

// schedule sets when the entry is due, and reports whether that changed anything:
// an entry that is due earlier, or at that time, stays as it is.
func (h *delayHeap[K]) schedule(e *entry[K], due time.Duration) bool {
	if e.slot != 0 && e.due <= due {
		return false
	}
	h.seq++
	e.due, e.seq = due, h.seq
	if e.slot == 0 {
		if h.slots == nil {
			h.slots = make([]*entry[K], 1, 16)
		}
		h.slots = append(h.slots, e)
		e.slot = h.len()
	}
	h.up(e)
	return true
}

// pop removes the first entry; there must be one.
func (h *delayHeap[K]) pop() {
	h.slots[1].slot = 0
	end := h.len()
	last := h.slots[end]
	h.slots[end] = nil
	h.slots = h.slots[:end]
	if end > 1 {
		last.slot = 1
		h.down(last)
	}
	if cap(h.slots) > roomy && len(h.slots) <= cap(h.slots)/sparse {
		h.slots = slices.Clone(h.slots)
	}
}

// clear empties the heap and returns what was in it.
func (h *delayHeap[K]) clear() []*entry[K] {
	if h.len() == 0 {
		return nil
	}
	all := h.slots[1:]
	for _, e := range all {
		e.slot = 0
	}
	h.slots = nil
	return all
}

// up moves the entry from its slot, which is the only one out of order, towards
// the root.
func (h *delayHeap[K]) up(e *entry[K]) {
	i := e.slot
	for ; i > 1 && e.before(h.slots[i/2]); i /= 2 {
		h.put(i, h.slots[i/2])
	}
	h.put(i, e)
}

// down moves the entry from its slot, which may be empty, away from the root.
func (h *delayHeap[K]) down(e *entry[K]) {
	i, end := e.slot, h.len()
	for 2*i <= end {
		child := 2 * i
		if child < end && h.slots[child+1].before(h.slots[child]) {
			child++
		}
		if !h.slots[child].before(e) {
			break
		}
		h.put(i, h.slots[child])
		i = child
	}
	h.put(i, e)
}

func (h *delayHeap[K]) put(i int, e *entry[K]) {
	h.slots[i] = e
	e.slot = i
}

// before orders delayed entries by time, then by the order of scheduling.
func (e *entry[K]) before(other *entry[K]) bool {
	return e.due < other.due || e.due == other.due && e.seq < other.seq
}
