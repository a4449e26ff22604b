// The work queue. Handlers do not do the work. They record which object needs work, by its key:
// when a worker takes the key, only the newest state of the object matters. A key is in up to two
// of three places. dirty has the keys that need work. queue has the dirty keys that a worker may
// take, in order. processing has the keys that workers have.
//
// Add does nothing if a key is dirty already, so a thousand changes cause one reconcile. A key that
// is added while a worker has it becomes dirty and is not queued, because two workers must never
// have the same key. So that the change is not lost, Done queues that key.

package plain

import (
	"sync"
	"time"
)

// Queue hands each key to one worker at a time. It is safe for concurrent use.
type Queue[K comparable] struct {
	mu         sync.Mutex // guards following
	changed    *sync.Cond // signals that there is a key for Get, or that the queue was shut down
	dirty      map[K]bool // keys that need work
	processing map[K]bool // keys that workers have
	queue      []K        // the dirty keys that a worker may take, in order
	shutDown   bool

	waiting  delayHeap[K]    // see delay.go
	due      map[K]*delay[K] // the same, by key
	timer    *time.Timer     // fires when the root of waiting is due
	failures map[K]int       // consecutive failures of each key
}

// NewQueue returns an empty queue.
func NewQueue[K comparable]() *Queue[K] {
	q := &Queue[K]{dirty: map[K]bool{}, processing: map[K]bool{}, due: map[K]*delay[K]{}, failures: map[K]int{}}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// Add queues a key, unless it is dirty already.
func (q *Queue[K]) Add(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.addLocked(key)
}

func (q *Queue[K]) addLocked(key K) {
	if q.shutDown || q.dirty[key] {
		return
	}
	q.dirty[key] = true
	if !q.processing[key] {
		q.queue = append(q.queue, key)
		q.changed.Signal()
	}
}

// Get waits for a key. The caller has the key until it calls Done. Get returns false when the queue
// was shut down and is empty.
func (q *Queue[K]) Get() (key K, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.queue) == 0 && !q.shutDown {
		q.changed.Wait()
	}
	if len(q.queue) == 0 {
		return key, false
	}
	key, q.queue = q.queue[0], q.queue[1:]
	q.processing[key] = true
	delete(q.dirty, key) // from now on, an Add is a new change
	return key, true
}

// Done ends the caller's work on a key. If the key was added meanwhile, Done queues it.
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

// Len returns the number of keys that workers may take.
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queue)
}

// AddRateLimited adds a key whose work has failed, after a wait that grows with each failure: 5 ms
// at first, at most 1000 s.
func (q *Queue[K]) AddRateLimited(key K) {
	q.mu.Lock()
	before := q.failures[key]
	q.failures[key]++
	q.mu.Unlock()
	q.AddAfter(key, backoff(5*time.Millisecond, 1000*time.Second, before))
}

// Forget resets the failures of a key.
func (q *Queue[K]) Forget(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.failures, key)
}

// ShutDown makes the queue refuse further keys. Workers still get the queued keys. Delayed keys are
// dropped.
func (q *Queue[K]) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shutDown, q.waiting, q.due = true, nil, nil
	if q.timer != nil {
		q.timer.Stop()
	}
	q.changed.Broadcast()
}

// Package workqueue does more than this file, for these reasons:
//
//   - The three sets are bits and links in the entries of one table, so an operation needs one
//     hash. It takes half of the time, and does not allocate.
//   - Keys can have priorities, and can be in groups that get equal shares. Here, one busy
//     namespace makes all others wait.
//   - A key can be parked until a condition holds, so that no worker waits for the condition.
//   - A program can see where each key is and how long it has waited. The queue measures its depth,
//     waits and work, for metrics.
