package workqueue

// groupQueue holds the ready keys of one group at one level of priority, in the order in which they
// became ready.
type groupQueue[K comparable] struct {
	keys   fifo[K]
	level  *level[K]
	weight int32 // number of keys that the group gets in a row
	credit int32 // how many of them are left in this round

	prev, next *groupQueue[K] // neighbours in the level's groupRing
}

// groupRing is the ring of a level's group queues that have ready keys. Each group queue is served
// as many keys in a row as its weight, and then moves to the end.
type groupRing[K comparable] struct{ first *groupQueue[K] }

// push appends a group queue.
func (r *groupRing[K]) push(l *groupQueue[K]) {
	l.credit = l.weight
	if r.first == nil {
		l.prev, l.next = l, l
		r.first = l
		return
	}
	l.prev, l.next = r.first.prev, r.first
	l.prev.next, l.next.prev = l, l
}

// remove removes a group queue.
func (r *groupRing[K]) remove(l *groupQueue[K]) {
	if l.next == l {
		r.first = nil
	} else {
		l.prev.next, l.next.prev = l.next, l.prev
		if r.first == l {
			r.first = l.next
		}
	}
	l.prev, l.next = nil, nil
}

// rotate makes the first group queue the last.
func (r *groupRing[K]) rotate() {
	r.first.credit = r.first.weight
	r.first = r.first.next
}

// all calls the function yield for every group queue.
func (r *groupRing[K]) all(yield func(*groupQueue[K]) bool) {
	for l := r.first; l != nil && yield(l); {
		if l = l.next; l == r.first {
			return
		}
	}
}
