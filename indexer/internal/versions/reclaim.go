package versions

import "github.com/kinform/kinform/internal/invariant"

// finishChange ends a published change: it closes the key's channel of Notify, and retires the old
// version.
func (e *Engine) finishChange(c Change) {
	if e.KeyWaiters.count.Load() > 0 {
		e.KeyWaiters.Notify(c.Record.Key)
	}
	e.retire(c, e.pinned)
	if invariant.Enabled {
		e.checkLocked(c.Record)
	}
}

// retire adds a change to a view that sees its old version. The view keeps the old version until it
// is released. If no view sees the old version, retire drops it.
func (e *Engine) retire(c Change, to *View) {
	if to != nil && c.isVisibleTo(to) && !c.Record.isErasable() {
		to.addChange(c)
	} else {
		e.drop(c)
	}
}

// truncated clears a slice and returns it empty. If its capacity is above maxReuse, truncated
// returns nil.
func truncated(changes []Change) []Change {
	if cap(changes) > maxReuse {
		return nil
	}
	clear(changes)
	return changes[:0]
}

// isErasable reports whether a record has no object, and no view sees an earlier object of it.
func (r *Record) isErasable() bool {
	v := r.head.Load()
	return v.deleted() && (v.older.Load() == nil || v.older.Load() == noVersion)
}

// drop removes the old version of a change, which no view sees. If the record has no object any
// more, drop also erases the record.
func (e *Engine) drop(c Change) {
	r := c.Record
	head := r.head.Load()
	if head.older.Load() == c.Old && head.terms == c.Old.terms && head.terms != absent {
		head.older.Store(c.Old.older.Load()) // all that most changes need
		return
	}
	r.unlink(c.Old)
	e.unlist(r, c.Old)
	if r.isErasable() && r.inAll != erased {
		e.erase(r)
	}
}

// unlist removes a record from the set of each term that no remaining version has.
func (e *Engine) unlist(r *Record, old *Version) {
	if old.terms != r.head.Load().terms {
		e.leave(r)
	}
}

// erase removes a record from the table and from all sets.
func (e *Engine) erase(r *Record) {
	e.byKey.remove(r)
	for p := r.postings; p != nil; p = p.next {
		p.term.records.remove(p.at)
	}
	if r.namespace != &e.all {
		r.namespace.records.remove(r.inNamespace)
		r.namespace.dropIfEmpty()
	}
	e.all.records.remove(r.inAll)
	r.inAll, r.postings = erased, nil
}

// collectLocked releases the views that are no longer pinned. A change of such a view moves to the
// next older view if that view sees the old version as well. Otherwise collectLocked drops the
// change.
func (e *Engine) collectLocked() {
	for at := &e.pinned; *at != nil; {
		v := *at
		if v.pins.Load() > 0 {
			at = &v.following
			continue
		}
		*at = v.following
		for _, c := range v.changes {
			e.retire(c, v.following)
		}
		if invariant.Enabled {
			for _, c := range v.changes {
				e.checkLocked(c.Record)
			}
		}
		v.changes = truncated(v.changes)
		v.following, e.free = e.free, v
	}
}
