package workqueue

import "fmt"

// Verify checks what must always be true of a queue, and, as it is called while
// nobody else uses the queue, that no wake-up is lost. It walks over everything.
func (q *Queue[K]) Verify() error {
	q.mu.Lock()
	defer q.mu.Unlock()

	var dirty, ready, processing, delayed int
	for key, e := range q.entries.byKey {
		if e.key != key {
			return fmt.Errorf("entry of %v has key %v", key, e.key)
		}
		if e.idle() {
			return fmt.Errorf("entry of %v is kept for no reason", key)
		}
		dirty += count(e.dirty)
		ready += count(e.dirty && !e.processing)
		processing += count(e.processing)
		delayed += count(e.slot != 0)
	}
	if err := q.ready.verify(ready, func(e *entry[K]) bool { return e.dirty && !e.processing }); err != nil {
		return fmt.Errorf("ready: %w", err)
	}
	if err := q.processing.verify(processing, func(e *entry[K]) bool { return e.processing }); err != nil {
		return fmt.Errorf("processing: %w", err)
	}
	if err := q.delayed.verify(delayed); err != nil {
		return fmt.Errorf("delayed: %w", err)
	}
	if got := int(q.stats.Adds - q.stats.Gets); got != dirty {
		return fmt.Errorf("Adds - Gets is %d, but %d keys are dirty", got, dirty)
	}
	if got := int(q.stats.Gets - q.stats.Dones); got != processing {
		return fmt.Errorf("Gets - Dones is %d, but %d keys are processing", got, processing)
	}
	if ready > 0 && !q.shuttingDown && len(q.wake) == 0 {
		return fmt.Errorf("%d keys are ready and nobody is told", ready)
	}
	if delayed > 0 && q.pending == 0 {
		return fmt.Errorf("%d keys are delayed and no timer runs", delayed)
	}
	for e := q.entries.spare; e != nil; e = e.next {
		if empty := (entry[K]{next: e.next}); *e != empty {
			return fmt.Errorf("a spare entry still holds %v", e.key)
		}
	}
	return nil
}

func (f *fifo[K]) verify(want int, belongs func(*entry[K]) bool) error {
	n := 0
	var prev *entry[K]
	for e := f.first; e != nil; prev, e = e, e.next {
		if e.prev != prev || !belongs(e) {
			return fmt.Errorf("%v is misplaced", e.key)
		}
		n++
	}
	if f.last != prev || n != f.len || n != want {
		return fmt.Errorf("%d entries listed, length %d, want %d", n, f.len, want)
	}
	return nil
}

func (h *delayHeap[K]) verify(want int) error {
	if h.len() != want {
		return fmt.Errorf("length %d, want %d", h.len(), want)
	}
	for i := 1; i <= h.len(); i++ {
		if h.slots[i].slot != i {
			return fmt.Errorf("%v is at %d and says %d", h.slots[i].key, i, h.slots[i].slot)
		}
		if i > 1 && h.slots[i].before(h.slots[i/2]) {
			return fmt.Errorf("%v is due before its parent", h.slots[i].key)
		}
	}
	return nil
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
