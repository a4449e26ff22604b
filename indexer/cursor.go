package indexer

import "sync/atomic"

// cursor walks the versions that a view sees, and of one bucket where it is set:
//
//	c := s.open(index, value)
//	defer c.close()
//	for v := c.next(); v != nil; v = c.next() { use(v) }
//
// Most of what it does is to wait for memory. So it looks at several records at
// once: a processor fetches what one load does not need another one for side by
// side.
type cursor struct {
	source *source
	view   *view
	bucket *bucket
	slots  []atomic.Pointer[record] // that are left

	found     [lookAhead]*version
	at, count int // in found
}

// lookAhead is how many records are looked at at once: about as many as
// processors fetch lines of memory side by side.
const lookAhead = 16

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

// next returns the next version, or nil at the end.
func (c *cursor) next() *version {
	if c.at == c.count {
		return c.fetch()
	}
	c.at++
	return c.found[c.at-1]
}

// fetch looks at the next records, and returns the first of the versions in them
// that belong to the walk, or nil at the end.
func (c *cursor) fetch() *version {
	c.at, c.count = 0, 0
	for c.count == 0 {
		if len(c.slots) == 0 {
			return nil
		}
		slots := c.slots[:min(lookAhead, len(c.slots))]
		c.slots = c.slots[len(slots):]
		heads := c.found[:0]
		for i := range slots {
			if r := slots[i].Load(); r != nil {
				heads = append(heads, r.head.Load())
			}
		}
		for _, v := range heads {
			v = v.at(c.view.revision)
			if v != nil && !v.deleted && (c.bucket == nil || v.has(c.bucket)) {
				c.found[c.count] = v
				c.count++
			}
		}
	}
	c.at = 1
	return c.found[0]
}
