package apitest

import (
	"slices"
	"sync"
)

// change is one write. It is immutable. prev is nil if the write created the object, and cur is nil
// if it deleted the object.
type change struct {
	version uint64
	data    *collection
	prev    *revision
	cur     *revision

	// last returns the state before the change, but with the version of the change.
	last func() *revision
}

func newChange(version uint64, data *collection, prev, cur *revision) *change {
	c := &change{version: version, data: data, prev: prev, cur: cur}
	if prev != nil {
		c.last = sync.OnceValue(func() *revision { return prev.withVersion(version) })
	}
	return c
}

// history is the log of changes to all resources, in the order of their versions. It has the last
// window changes.
type history struct {
	window  int
	changes []*change

	// compacted is the version of the newest change that has been dropped.
	compacted uint64
}

func (h *history) append(c *change) {
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
func (h *history) after(version uint64) (changes []*change, ok bool) {
	if version < h.compacted {
		return nil, false
	}
	at, found := slices.BinarySearchFunc(h.changes, version, func(c *change, version uint64) int {
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
func undo(objects sortedRevisions, data *collection, changes []*change) sortedRevisions {
	for _, c := range slices.Backward(changes) {
		switch {
		case c.data != data:
		case c.prev == nil:
			objects = objects.without(c.cur.key)
		default:
			objects = objects.with(c.prev)
		}
	}
	return objects
}
