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
	head := r.head.Load()
	key := r.key
	found := e.records.find(key)
	if r.inAll == nowhere {
		invariant.Check(found != r, "%s has been erased and is found", key)
		return
	}
	invariant.Check(found == r, "%s is not found", key)
	invariant.Check(e.settled(head), "%s has a version that is not settled", key)
	invariant.Check(!r.never(), "%s has no object and has not been erased", key)
	in := map[*list]int32{&e.all.list: r.inAll}
	if r.namespace != &e.all {
		in[&r.namespace.list] = r.inNamespace
	}
	for p := r.places; p != nil; p = p.next {
		_, twice := in[&p.bucket.list]
		invariant.Check(!twice, "%s is in the list of a value twice", key)
		in[&p.bucket.list] = p.at
	}
	wanted := map[*bucket]bool{}
	for v := head; v != nil; v = v.older.Load() {
		for _, b := range *v.terms {
			_, ok := in[&b.list]
			invariant.Check(ok, "%s is not in the list of one of its values", key)
			wanted[b] = true
		}
		if older := v.older.Load(); older != nil {
			invariant.Check(older.revision < v.revision, "%s: revision %d comes before %d", key, v.revision, older.revision)
			invariant.Check(e.seen(older, v), "%s: revision %d is kept for nobody", key, older.revision)
		}
	}
	for p := r.places; p != nil; p = p.next {
		invariant.Check(wanted[p.bucket], "%s is in a list that it does not belong to", key)
	}
	for l, at := range in {
		invariant.Check(l.array.Load().slots[at].Load() == r, "%s is not in its place", key)
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
