package workqueue

import "math"

// groupOf asks the functions of the Options for the group of a key and its weight.
func (q *Queue[K]) groupOf(key K) (group string, weight int32) {
	group = q.opts.Group(key)
	if q.opts.Weight == nil {
		return group, 1
	}
	return group, int32(min(max(q.opts.Weight(group), 1), math.MaxInt32))
}
