package workqueue

// Cancel takes back the turn that is due on the key, and its delay. A turn is due if the key is ready, held
// back, or was added again while it is processed. Cancel reports
// whether there was a turn or a delay. A turn that has begun goes on, and Park and
// MinInterval hold back later turns as before.
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
	q.undelayLocked(e)
	q.stats.Cancelled++
	q.entries.release(e)
	q.closeIfDrainedLocked()
	return true
}

// dropLocked takes a key out of dirty, and out of ready if it is there.
func (q *Queue[K]) dropLocked(e *entry[K]) {
	if e.ready() {
		q.ready.remove(e)
	}
	e.dirty = false
	q.stats.Dropped++
}
