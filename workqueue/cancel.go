package workqueue

// Cancel removes the key's pending run and its delay. A run is pending if the key is ready, held
// back, or was added again while it is processed. Cancel reports whether it removed a run or a
// delay. A run that has begun continues, and Park and MinInterval hold back later runs as before.
func (q *Queue[K]) Cancel(key K) bool {
	hash := q.hash(key)
	q.mu.Lock()
	defer q.unlock()

	e := q.entries.find(key, hash)
	if e == nil || !e.dirty && !e.delayed() {
		return false
	}
	if e.dirty {
		q.dropLocked(e)
	}
	q.removeDelayLocked(e)
	q.stats.Cancelled++
	q.entries.release(e)
	q.closeIfDrainedLocked()
	return true
}

// dropLocked removes a key from dirty, and from ready if it is there.
func (q *Queue[K]) dropLocked(e *entry[K]) {
	if e.ready() {
		q.ready.remove(e)
	}
	e.dirty = false
	q.stats.Dropped++
}
