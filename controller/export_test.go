package controller

// LostEventsDelayed returns how many objects have lost events that wait for a timer.
func (c *Controller[T]) LostEventsDelayed() (n int) {
	for _, d := range c.deliveries {
		n += d.(interface{ delayed() int }).delayed()
	}
	return n
}

func (d *delivery[O]) delayed() int { return d.queue.Stats().Delayed }
