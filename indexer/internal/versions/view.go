package versions

import (
	"slices"
	"sync/atomic"
)

// View is one published revision. Its state does not change while a reader has it pinned. When it
// is neither pinned nor current, the writer reuses it for a later revision: BenchmarkApply.
type View struct {
	State

	pins atomic.Int64 // the number of readers

	// changes has the records that were written while this was the newest pinned view. Each record
	// comes once, with the version that this view sees. Only the writer uses changes.
	changes []Change

	following *View // the next older pinned view, or the next unused view
}

// State is the state of a store at one moment, without its objects.
type State struct {
	Revision        uint64
	ResourceVersion string
	Objects         int
	Counts          Counts   // since the store was made
	Indexes         []*Index // by name; the slice is never changed
}

// Counts corresponds to Counts of package indexer.
type Counts struct{ Added, Updated, Deleted, Failed uint64 }

// Put counts an object that was stored.
func (c *Counts) Put(existed bool) {
	if existed {
		c.Updated++
	} else {
		c.Added++
	}
}

// Add adds the counts in other to c.
func (c *Counts) Add(other Counts) {
	c.Added += other.Added
	c.Updated += other.Updated
	c.Deleted += other.Deleted
	c.Failed += other.Failed
}

// Change is a record, and the version that it had before a transaction changed it.
type Change struct {
	Record *Record
	Old    *Version
}

// isVisibleTo reports whether a view sees the old version.
func (c Change) isVisibleTo(v *View) bool {
	return c.Old.Revision <= v.Revision
}

// addChange adds a change to the view. If there is no room, it first removes the changes of records
// that were created and deleted after the view. So the memory of a long-lived view grows with the
// number of objects that it sees, not with the number of writes.
func (v *View) addChange(c Change) {
	if len(v.changes) == cap(v.changes) {
		kept := v.changes[:0]
		for _, c := range v.changes {
			if c.Record.inAll != erased {
				kept = append(kept, c)
			}
		}
		clear(v.changes[len(kept):])
		if v.changes = kept; 4*len(kept) > 3*cap(kept) {
			v.changes = append(make([]Change, 0, 2*cap(kept)+8), kept...)
		}
	}
	v.changes = append(v.changes, c)
}

// Pin returns the current view. Until Unpin, the engine keeps the versions that the view sees. Pin
// never blocks: if a transaction is published at the same moment, Pin retries.
func (e *Engine) Pin() *View {
	for {
		v := e.current.Load()
		v.pins.Add(1)
		if e.current.Load() == v {
			return v
		}
		e.Unpin(v)
	}
}

// Unpin removes a pin. If it was the last pin of an old view, the current writer drops the versions
// that no view sees any more. If there is no writer, Unpin drops them itself.
func (e *Engine) Unpin(v *View) {
	if v.pins.Add(-1) == 0 && e.current.Load() != v {
		if e.writeLock.requestCollect() {
			e.collectLocked()
			e.Unlock()
		}
	}
}

// Changes returns the records that differ between two pinned views, each once, with the version
// that the older view sees. Each pinned view has the changes up to the next view. Changes collects
// these, and returns the changes whose old version the older view sees.
func (e *Engine) Changes(from, to *View) []Change {
	e.Lock()
	defer e.Unlock()
	var found []Change
	for v := e.pinned; v != nil; v = v.following {
		if v.Revision < from.Revision || v.Revision >= to.Revision {
			continue
		}
		for _, c := range v.changes {
			if c.Record.At(from.Revision) == c.Old && c.Record.At(to.Revision) != c.Old {
				found = append(found, c)
			}
		}
	}
	return slices.Clip(found)
}
