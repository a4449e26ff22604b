package indexer

import "sync/atomic"

// cursor walks the objects that are in a view, and of one bucket where it is set:
//
//	c := s.open(index, value)
//	defer c.close()
//	for c.next() { use(c.record, c.version) }
type cursor struct {
	source *source
	view   *view
	bucket *bucket
	slots  []atomic.Pointer[record] // that are left

	record  *record
	version *version
}

func (c *cursor) close() { c.source.leave(c.view) }

// walk begins a walk over the records of a list.
func (c *cursor) walk(l *list) {
	if a := l.array.Load(); a != nil {
		c.slots = a.slots[:a.used.Load()]
	}
}

// walkBucket begins a walk over the objects that have an index value. The list
// also has those that had it earlier, or will have it only later; but no object
// ever leaves its namespace.
func (c *cursor) walkBucket(b *bucket) {
	if b.index.name != "" {
		c.bucket = b
	}
	c.walk(&b.list)
}

// next goes to the next object and reports whether there is one.
func (c *cursor) next() bool {
	revision := c.view.revision
	for i := range c.slots {
		r := c.slots[i].Load()
		if r == nil {
			continue
		}
		v := r.at(revision)
		if v == nil || v.deleted || c.bucket != nil && !v.has(c.bucket) {
			continue
		}
		c.record, c.version, c.slots = r, v, c.slots[i+1:]
		return true
	}
	c.slots = nil
	return false
}
