package workqueue

// DefaultQueue returns a first-in, first-out Queue.
func DefaultQueue[T comparable]() Queue[T] { return new(fifo[T]) }

// fifo is a ring buffer of items.
type fifo[T comparable] struct {
	ring        []T
	first, size int
}

func (f *fifo[T]) Touch(T) {}

func (f *fifo[T]) Len() int { return f.size }

func (f *fifo[T]) Push(item T) {
	if f.size == len(f.ring) {
		f.resize(max(16, 2*f.size))
	}
	f.ring[(f.first+f.size)%len(f.ring)] = item
	f.size++
}

func (f *fifo[T]) Pop() T {
	var none T
	item := f.ring[f.first]
	f.ring[f.first] = none // so that the queue does not retain the item
	f.first = (f.first + 1) % len(f.ring)
	f.size--
	if len(f.ring) > 1024 && f.size < len(f.ring)/16 {
		f.resize(len(f.ring) / 4) // shrink after a burst
	}
	return item
}

func (f *fifo[T]) resize(room int) {
	ring := make([]T, room)
	for i := range f.size {
		ring[i] = f.ring[(f.first+i)%len(f.ring)]
	}
	f.ring, f.first = ring, 0
}
