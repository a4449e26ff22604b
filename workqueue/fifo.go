package workqueue

// fifo is a list of entries, linked through the entries themselves. Adding and removing allocate
// nothing, and a removed entry is not reachable from the list.
type fifo[K comparable] struct {
	first, last *entry[K]
	len         int
}

// push appends an entry that is in no fifo.
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

// remove removes an entry that is in this fifo.
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
