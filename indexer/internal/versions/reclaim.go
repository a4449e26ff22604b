package versions

import "github.com/kinform/kinform/internal/invariant"

// finish ends a change that has been published: it closes the key's channel of Notify, and
// retires the old version.
func (e *Engine) finish(c Change) {
	if e.Watches.count.Load() > 0 {
		e.Watches.Notify(c.Record.Key)
	}
	e.retire(c, e.pinned)
	if invariant.Enabled {
		e.checkLocked(c.Record)
	}
}

// retire gives a change to a view that sees its old version. The view keeps it until it is
// released. If no view sees the old version, retire drops it.
func (e *Engine) retire(c Change, to *View) {
	if to != nil && c.concerns(to) && !c.Record.never() {
		to.note(c)
	} else {
		e.drop(c)
	}
}

// emptied returns a slice without its elements, and without its capacity if that is large.
func emptied(changes []Change) []Change {
	if cap(changes) > roomKept {
		return nil
	}
	clear(changes)
	return changes[:0]
}

// never reports whether a record has no object and no view sees an earlier object.
func (r *Record) never() bool {
	v := r.head.Load()
	return v.deleted() && (v.older.Load() == nil || v.older.Load() == unborn)
}

// drop takes out the old version of a change, which no view sees. It also erases the record if the
// record has no object any more.
func (e *Engine) drop(c Change) {
	r := c.Record
	head := r.head.Load()
	if head.older.Load() == c.Old && head.terms == c.Old.terms && head.terms != absent {
		head.older.Store(c.Old.older.Load()) // Most changes need no more.
		return
	}
	r.unlink(c.Old)
	e.unlist(r, c.Old)
	if r.never() && r.inAll != nowhere {
		e.erase(r)
	}
}

// unlist takes a record out of the sets of terms that only the old version had.
func (e *Engine) unlist(r *Record, old *Version) {
	if old.terms != r.head.Load().terms {
		e.leave(r)
	}
}

// erase takes a record out of the table and of all sets.
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
	r.inAll, r.postings = nowhere, nil
}

// collectLocked releases the views that no reader has pinned any more. Each of their changes goes
// to the next older view if that view sees the old version as well. Otherwise the change is
// dropped.
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
		v.changes = emptied(v.changes)
		v.following, e.free = e.free, v
	}
}
