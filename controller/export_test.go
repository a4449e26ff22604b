package controller

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// MaxEarly is the maximum number of owner keys that are kept while their scope is unknown.
const MaxEarly = maxEarly

// KeptEarly keeps n keys of owners, and returns the number of keys that are then added to the
// queue.
func KeptEarly(n int) (added int) {
	var e early
	for i := range n {
		e.keep(types.NamespacedName{Name: fmt.Sprint(i)}, func() { added++ })
	}
	e.enqueue()
	return added
}

// LostEventsDelayed returns the number of objects with lost events that wait for a timer.
func (c *Controller[T]) LostEventsDelayed() (n int) {
	for _, d := range c.deliveries {
		n += d.(interface{ delayed() int }).delayed()
	}
	return n
}

func (d *delivery[O]) delayed() int { return d.queue.Stats().Delayed }
