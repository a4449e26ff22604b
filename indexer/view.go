package indexer

import (
	"sync/atomic"

	"github.com/kinform/kinform/internal/invariant"
)

// view is one published revision. Its state does not change while somebody has it
// pinned; when nobody has, and it is the current one no more, it is used again for
// a later revision, so that a transaction need not allocate one.
type view struct {
	state

	pins atomic.Int64 // how many readers there are

	// changes has what was written since, as far as it was the newest view that
	// was pinned: each record once, with the version that this view sees. Only the
	// writer looks at it.
	changes []change

	following *view // an older one that is pinned too, or another free one
}

// state is all that belongs to a store at one moment beside its objects.
type state struct {
	revision        uint64
	resourceVersion string
	objects         int
	counts          Counts
	indexes         []*index // by name; the array never changes
}

// change is a record and the version before that which a transaction wrote.
type change struct {
	record *record
	old    *version
}

// concerns reports whether a change is one for those who look at a view.
func (c change) concerns(v *view) bool {
	return c.old.revision <= v.revision
}

// note adds a change. Records that have come and gone since are left out when
// there is no room, so that a view which is kept for long costs as much as there
// are objects, not as there are writes.
func (v *view) note(c change) {
	if len(v.changes) == cap(v.changes) {
		kept := v.changes[:0]
		for _, c := range v.changes {
			if c.record.inAll != nowhere {
				kept = append(kept, c)
			}
		}
		clear(v.changes[len(kept):])
		if v.changes = kept; 4*len(kept) > 3*cap(kept) {
			v.changes = append(make([]change, 0, 2*cap(kept)+8), kept...)
		}
	}
	v.changes = append(v.changes, c)
}

// pin returns the current view and keeps what it sees until it is unpinned. It
// waits for nobody: it tries again where a transaction is published at the very
// same moment.
func (e *engine) pin() *view {
	for {
		v := e.current.Load()
		v.pins.Add(1)
		if e.current.Load() == v {
			return v
		}
		e.unpin(v)
	}
}

// unpin ends what pin began. If it was the last one, versions which nobody can
// see any more are dropped, by whoever has the lock or else right here.
func (e *engine) unpin(v *view) {
	if v.pins.Add(-1) == 0 && e.current.Load() != v {
		if e.writing.ask() {
			e.collectLocked()
			e.unlock()
		}
	}
}

// collectLocked lets go of views that are no longer pinned. What was kept for one
// goes to the next older one, if that sees it as well, or is dropped.
func (e *engine) collectLocked() {
	for at := &e.pinned; *at != nil; {
		v := *at
		if v.pins.Load() > 0 {
			at = &v.following
			continue
		}
		*at = v.following
		for _, c := range v.changes {
			e.pass(c, v.following)
		}
		if invariant.Enabled {
			for _, c := range v.changes {
				e.checkLocked(c.record)
			}
		}
		v.changes = emptied(v.changes)
		v.following, e.free = e.free, v
	}
}
