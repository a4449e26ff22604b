package workqueue

import "math"

// group is the group of a key, by Options.Group, and its weight, by Options.Weight.
type group struct {
	name   string
	weight int32 // at least 1; 0 if there are no groups
}

// groupOf calls Options.Group and Options.Weight. It must be called without the lock, and before
// the key gets an entry.
func (q *Queue[K]) groupOf(key K) group {
	if q.opts.Group == nil {
		return group{}
	}
	g := group{weight: 1}
	q.hooks.Call("Options.Group", func() { g.name = q.opts.Group(key) })
	if q.opts.Weight != nil {
		q.hooks.Call("Options.Weight", func() { g.weight = int32(min(max(q.opts.Weight(g.name), 1), math.MaxInt32)) })
	}
	return g
}
