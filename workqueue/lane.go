package workqueue

// lane holds the ready keys of one group at one level of priority, in the order in which they
// became ready.
type lane[K comparable] struct {
	keys   fifo[K]
	level  *level[K]
	weight int32 // number of keys that the group gets in a row
	credit int32 // how many of them are left in this round

	prev, next *lane[K] // the ring of the level's lanes
}

// ring has the lanes of one level that have ready keys. Each lane gets as many keys in a row as its
// weight, and then moves to the end.
type ring[K comparable] struct{ first *lane[K] }

// enter appends a lane.
func (r *ring[K]) enter(l *lane[K]) {
	l.credit = l.weight
	if r.first == nil {
		l.prev, l.next = l, l
		r.first = l
		return
	}
	l.prev, l.next = r.first.prev, r.first
	l.prev.next, l.next.prev = l, l
}

// leave removes a lane.
func (r *ring[K]) leave(l *lane[K]) {
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

// rotate makes the first lane the last.
func (r *ring[K]) rotate() {
	r.first.credit = r.first.weight
	r.first = r.first.next
}

// all calls the function yield for every lane.
func (r *ring[K]) all(yield func(*lane[K]) bool) {
	for l := r.first; l != nil && yield(l); {
		if l = l.next; l == r.first {
			return
		}
	}
}
