package workqueue

// pool hands out structs and takes them back, so that a queue in its stride
// allocates nothing, and one that grows allocates for a chunk at a time. It keeps
// no more than maxSpares of them. The zero value is an empty pool.
type pool[T any] struct {
	spare []*T
	chunk []T // those that were allocated and not yet handed out
}

const (
	maxSpares = 1024

	// chunkLen is how many structs are allocated together. One that is in use keeps
	// its chunk alive, so it is the factor by which a burst of keys of which few
	// stay could hold more memory than they need.
	chunkLen = 16
)

// get returns a zero T.
func (p *pool[T]) get() *T {
	if last := len(p.spare) - 1; last >= 0 {
		t := p.spare[last]
		p.spare = p.spare[:last]
		return t
	}
	if len(p.chunk) == 0 {
		p.chunk = make([]T, chunkLen)
	}
	t := &p.chunk[0]
	p.chunk = p.chunk[1:]
	return t
}

// put takes back a T that nobody uses any more and that is zero again.
func (p *pool[T]) put(t *T) {
	if len(p.spare) < maxSpares {
		p.spare = append(p.spare, t)
	}
}
