package workqueue

// Cancel takes back whatever is due on the key: its turn, if it is ready, held
// back, or was added again while it is processed, and its delay. It reports
// whether there was any. A turn that has begun goes on, and so does what Park and
// MinInterval say of later ones.
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

// dropLocked takes back the turn that is due on an entry.
func (q *Queue[K]) dropLocked(e *entry[K]) {
	if e.ready() {
		q.ready.remove(e)
	}
	e.dirty = false
	q.stats.Dropped++
}
