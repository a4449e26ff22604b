package informer

import (
	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
)

// desk is where the consumer works on a batch, for one after another: what it needs
// for that is gone before the next one comes.
type desk[T any] struct {
	changes      []change[T]
	events, told []Event[T]
	ops          []indexer.Op[T]
}

// deskSize is for how many changes there is room. A larger batch, such as a first
// list, gets memory of its own.
const deskSize = 64

// room returns an empty slice with room for n elements: *place, if that is large
// enough for a batch of n.
func room[E any](place *[]E, n int) []E {
	if n > deskSize {
		return make([]E, 0, n)
	}
	if *place == nil {
		*place = make([]E, 0, deskSize)
	}
	return (*place)[:0]
}

// clear takes off what was put there for a batch, so that no object is kept.
func (d *desk[T]) clear(batch deltafifo.Batch[T]) {
	n := 0 // of no slice were more elements used
	for _, stack := range batch.Stacks {
		n += len(stack.Deltas)
	}
	clear(d.changes[:min(n, cap(d.changes))])
	clear(d.events[:min(n, cap(d.events))])
	clear(d.told[:min(n, cap(d.told))])
	clear(d.ops[:min(n, cap(d.ops))])
}
