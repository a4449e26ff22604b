package indexer

import "sync/atomic"

// cursor walks the versions that a view sees, and of one bucket where it is set:
//
//	c := s.open(index, value)
//	defer c.close()
//	for some := c.next(); len(some) > 0; some = c.next() { use(some) }
//
// It looks at several records before any of them is used: a processor works ahead,
// and in a loop as short as that it waits for the memory of many at once.
type cursor struct {
	source *source
	view   *view
	bucket *bucket
	slots  []atomic.Pointer[record] // that are left
	found  [lookAhead]*version
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

// next returns the next versions, at least one but for the end. They are those of
// the next records, as far as they belong to the walk, and are in a place that the
// next call uses again.
func (c *cursor) next() []*version {
	for len(c.slots) > 0 {
		slots := c.slots[:min(lookAhead, len(c.slots))]
		c.slots = c.slots[len(slots):]
		revision, bucket, count := c.view.revision, c.bucket, 0
		for i := range slots {
			r := slots[i].Load()
			if r == nil {
				continue
			}
			v := r.at(revision)
			if v != nil && !v.deleted && (bucket == nil || v.has(bucket)) {
				c.found[count] = v
				count++
			}
		}
		if count > 0 {
			return c.found[:count]
		}
	}
	return nil
}
