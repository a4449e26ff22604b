package workqueue

// fifo is a list of entries, linked through the entries themselves: adding and
// removing allocate nothing, and an entry that has left the list is not reachable from it.
type fifo[K comparable] struct {
	first, last *entry[K]
	len         int
}

// push puts an entry that is in no fifo at the end.
func (f *fifo[K]) push(e *entry[K]) {
	e.prev = f.last
	if f.last == nil {
		f.first = e
	} else {
		f.last.next = e
	}
	f.last = e
	f.len++
}

// remove takes out an entry that is in this fifo.
func (f *fifo[K]) remove(e *entry[K]) {
	if e.prev == nil {
		f.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		f.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next = nil, nil
	f.len--
}
