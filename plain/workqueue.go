// The work queue. Handlers do not work themselves, they note which object needs work: its key, not the
// object, as by the time that a worker gets to it only the newest state counts. A key is in up to two of
// three places. dirty has the keys that need work; of these, queue has in order those that a worker may take;
// processing has those that a worker has. A key that is added while it is dirty is there already, so a
// thousand changes are one piece of work. A key that is added while it is being processed becomes dirty but
// not queued: two workers must never have the same object, and yet nothing may be lost, so Done queues it
// again.

package plain

import (
	"sync"
	"time"
)

// Queue hands each key to one worker at a time. It is safe for concurrent use.
type Queue[K comparable] struct {
	delays   delays[K]
	failures failures[K]

	mu         sync.Mutex // guards following
	changed    *sync.Cond // there is a key to take, or none will come
	dirty      map[K]bool
	processing map[K]bool
	queue      []K
	down       bool
}

// NewQueue returns an empty queue.
func NewQueue[K comparable]() *Queue[K] {
	q := &Queue[K]{dirty: map[K]bool{}, processing: map[K]bool{}}
	q.delays = delays[K]{add: q.Add, due: map[K]*delay[K]{}}
	q.failures = failures[K]{counts: map[K]int{}}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// Add marks a key as in need of work.
func (q *Queue[K]) Add(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.down || q.dirty[key] {
		return
	}
	q.dirty[key] = true
	if !q.processing[key] {
		q.queue = append(q.queue, key)
		q.changed.Signal()
	}
}

// Get waits for a key, which is the caller's until its Done. It says false when the queue was shut down and
// is empty.
func (q *Queue[K]) Get() (key K, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.queue) == 0 && !q.down {
		q.changed.Wait()
	}
	if len(q.queue) == 0 {
		return key, false
	}
	key, q.queue = q.queue[0], q.queue[1:]
	q.processing[key] = true
	delete(q.dirty, key) // From here on, an add is news.
	return key, true
}

// Done gives a key back. If it was added meanwhile, it is queued now.
func (q *Queue[K]) Done(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	had := q.processing[key]
	delete(q.processing, key)
	if had && q.dirty[key] {
		q.queue = append(q.queue, key)
		q.changed.Signal()
	}
}

// Len returns how many keys a worker could take.
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queue)
}

// AddAfter adds a key after a while.
func (q *Queue[K]) AddAfter(key K, after time.Duration) {
	if after <= 0 {
		q.Add(key)
		return
	}
	q.delays.until(key, time.Now().Add(after))
}

// AddRateLimited adds a key whose work has failed, after a while that grows with each failure.
func (q *Queue[K]) AddRateLimited(key K) { q.AddAfter(key, q.failures.next(key)) }

// Forget ends the row of failures of a key.
func (q *Queue[K]) Forget(key K) { q.failures.forget(key) }

// ShutDown lets workers take what is queued, and nothing else in. What waits for its time is dropped.
func (q *Queue[K]) ShutDown() {
	q.delays.stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.down = true
	q.changed.Broadcast()
}

// What package workqueue does beyond this file:
//
//   - dirty, processing and the place in the queue are bits and links in one entry of one table, found by one
//     hash: half of the time, and no allocation.
//   - Keys can have priorities, and groups that get equal shares: here, one loud namespace makes all others
//     wait.
//   - A key can be parked until something happens, and one can see for each key where it is and how long it
//     has waited.
//   - Depth, waits and work are counted, for metrics.
