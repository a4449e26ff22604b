package workqueue

import "weak"

// pool hands out structs and takes them back, so that a queue in steady state allocates nothing. It
// keeps up to maxSpares spare structs. It keeps further spares only until the next garbage
// collection, so that the memory of a burst is returned. Without the additional spares, a queue
// that fills and empties repeatedly takes 1.6 times as long (bench/queue, "a producer that does not
// wait"). The zero value is an empty pool.
type pool[T any] struct {
	spare []*T
	extra weak.Pointer[[]*T] // batches of spares beyond maxSpares
}

const (
	maxSpares = 1024

	// batch is how many spares move to extra, or back, at once.
	batch = maxSpares / 2
)

// get returns a zero T.
func (p *pool[T]) get() *T {
	if len(p.spare) == 0 {
		p.fetch()
	}
	last := len(p.spare) - 1
	if last < 0 {
		return new(T)
	}
	t := p.spare[last]
	p.spare = p.spare[:last]
	return t
}

// put takes back a T that is unused and zero again.
func (p *pool[T]) put(t *T) {
	if len(p.spare) == maxSpares {
		p.stow()
	}
	p.spare = append(p.spare, t)
}

// stow moves a batch of spares to extra.
func (p *pool[T]) stow() {
	extra := p.extra.Value()
	if extra == nil { // never set, or collected
		extra = new([]*T)
		p.extra = weak.Make(extra)
	}
	moveBatch(extra, &p.spare)
}

// fetch moves a batch of spares back from extra, if there is one.
func (p *pool[T]) fetch() {
	if extra := p.extra.Value(); extra != nil && len(*extra) > 0 {
		moveBatch(&p.spare, extra)
	}
}

func moveBatch[T any](to, from *[]*T) {
	left := len(*from) - batch
	*to = append(*to, (*from)[left:]...)
	clear((*from)[left:])
	*from = (*from)[:left]
}
