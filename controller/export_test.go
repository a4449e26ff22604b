package controller

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// MaxOwnerBacklog is the maximum number of owner keys that are kept while their scope is unknown.
const MaxOwnerBacklog = maxOwnerBacklog

// OwnerBacklogAdds keeps n keys of owners, and returns the number of keys that are then added to
// the queue.
func OwnerBacklogAdds(n int) (added int) {
	var e ownerBacklog
	for i := range n {
		e.add(types.NamespacedName{Name: fmt.Sprint(i)}, func() { added++ })
	}
	e.flush()
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
