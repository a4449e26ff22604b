package storage

import (
	"slices"
	"sync"
)

// Change is one write. It is immutable. Prev is nil if the write created the object, and Cur is nil
// if it deleted the object.
type Change struct {
	version uint64
	Data    *Collection
	Prev    *Revision
	Cur     *Revision

	// Last returns the state before the change, but with the version of the change.
	Last func() *Revision
}

func newChange(version uint64, data *Collection, prev, cur *Revision) *Change {
	c := &Change{version: version, Data: data, Prev: prev, Cur: cur}
	if prev != nil {
		c.Last = sync.OnceValue(func() *Revision { return prev.withVersion(version) })
	}
	return c
}

// history is the log of changes to all resources, in the order of their versions. It has the last
// window changes.
type history struct {
	window  int
	changes []*Change

	// compacted is the version of the newest change that has been dropped.
	compacted uint64
}

func (h *history) append(c *Change) {
	h.changes = append(h.changes, c)
	if len(h.changes) > h.window {
		// Watchers may still read older slices of the log, so the elements of h.changes must not
		// change.
		h.compacted = h.changes[0].version
		h.changes = h.changes[1:]
	}
}

// compact drops every change.
func (h *history) compact(version uint64) {
	h.changes, h.compacted = nil, version
}

// after(version) returns the changes after a version, the oldest first. If ok is false, some of the
// changes have been dropped.
func (h *history) after(version uint64) (changes []*Change, ok bool) {
	if version < h.compacted {
		return nil, false
	}
	at, found := slices.BinarySearchFunc(h.changes, version, func(c *Change, version uint64) int {
		switch {
		case c.version < version:
			return -1
		case c.version > version:
			return 1
		}
		return 0
	})
	if found {
		at++
	}
	return h.changes[at:], true
}

// undo returns the objects of a collection as they were before the given changes.
func undo(objects SortedRevisions, data *Collection, changes []*Change) SortedRevisions {
	for _, c := range slices.Backward(changes) {
		switch {
		case c.Data != data:
		case c.Prev == nil:
			objects = objects.without(c.Cur.Key)
		default:
			objects = objects.with(c.Prev)
		}
	}
	return objects
}
