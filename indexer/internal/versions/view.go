package versions

import (
	"slices"
	"sync/atomic"
)

// View is one published revision. Its state does not change while somebody has it pinned.
// When nobody has, and another view is the current one, the writer uses it again for a later
// revision: BenchmarkApply.
type View struct {
	State

	pins atomic.Int64 // the number of readers

	// changes has what was written while this was the newest pinned view: each record once,
	// with the version that this view sees. Only the writer looks at it.
	changes []Change

	following *View // the next older pinned one, or another free one
}

// State is all that a store has at one moment beside its objects.
type State struct {
	Revision        uint64
	ResourceVersion string
	Objects         int
	Counts          Counts   // since the store was made
	Indexes         []*Index // by name; the array never changes
}

// Counts are those of package indexer.
type Counts struct{ Added, Updated, Deleted, Failed uint64 }

// Put counts an object that was stored.
func (c *Counts) Put(existed bool) {
	if existed {
		c.Updated++
	} else {
		c.Added++
	}
}

// Add adds other counts to these.
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

// concerns reports whether a view sees the old version.
func (c Change) concerns(v *View) bool {
	return c.Old.Revision <= v.Revision
}

// note adds a change. When there is no room it first takes out the records that came and
// went since, so that a view that is kept for long costs memory for the objects that it
// sees, not for the writes since.
func (v *View) note(c Change) {
	if len(v.changes) == cap(v.changes) {
		kept := v.changes[:0]
		for _, c := range v.changes {
			if c.Record.inAll != nowhere {
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

// Pin returns the current view. The engine keeps what the view sees until Unpin. Pin waits
// for nobody: it tries again if a transaction is published at the same moment.
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

// Unpin ends what Pin began. If that was the last pin of an old view, the writer drops the
// versions that nobody can see any more, or Unpin does if nobody writes.
func (e *Engine) Unpin(v *View) {
	if v.pins.Add(-1) == 0 && e.current.Load() != v {
		if e.writing.ask() {
			e.collectLocked()
			e.Unlock()
		}
	}
}

// Changes returns the records that differ between two pinned views, each once, with the
// version that the older view sees.
//
// Each pinned view has what was written until the next one. Of these changes, those count
// whose old version the older view sees.
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
