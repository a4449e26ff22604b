package indexer

import "github.com/kinform/kinform/internal/invariant"

// unchecked switches the checks off, for tests that count allocations.
var unchecked bool

// checkLocked checks, in builds with the tag "invariants", what must be true of a
// record between transactions.
func (e *engine) checkLocked(r *record) {
	if unchecked {
		return
	}
	if r.places == nil {
		invariant.Check(e.record(r.key) != r, "%s has been erased and is found", r.key)
		return
	}
	head := r.head.Load()
	slot, found := e.records.find(r.hash, r.key)
	invariant.Check(found == r && slot.head.Load() == head, "%s is not found", r.key)
	invariant.Check(head.settled.Load(), "%s has a version that is not settled", r.key)
	invariant.Check(!head.never(), "%s has no object and has not been erased", r.key)
	lists := map[*list]bool{&e.all: true}
	if r.namespace != nil {
		lists[&r.namespace.list] = true
	}
	for v := head; v != nil; v = v.older.Load() {
		for _, b := range *v.terms {
			lists[&b.list] = true
		}
		if older := v.older.Load(); older != nil {
			invariant.Check(older.revision < v.revision, "%s: revision %d comes before %d", r.key, v.revision, older.revision)
			invariant.Check(e.seen(older, v), "%s: revision %d is kept for nobody", r.key, older.revision)
		}
	}
	invariant.Check(len(r.places) == len(lists), "%s is in %d lists and should be in %d", r.key, len(r.places), len(lists))
	for _, p := range r.places {
		invariant.Check(lists[p.list], "%s is in a list that it does not belong to", r.key)
		invariant.Check(p.list.array.Load().slots[p.at].Load() == r, "%s is not in its place", r.key)
	}
}

// seen reports whether a view is kept that sees a version, and not the next one.
func (e *engine) seen(v, next *version) bool {
	for p := e.pinned; p != nil; p = p.following {
		if v.revision <= p.revision && p.revision < next.revision {
			return true
		}
	}
	return false
}
