package versions

import (
	"sync/atomic"

	"github.com/kinform/kinform/internal/invariant"
)

// Unchecked switches the checks off, for tests that measure time or allocations. It is atomic
// because the garbage collector may still clean up after an earlier test.
var Unchecked atomic.Bool

// checkLocked checks the invariants of a record between transactions. Builds with the tag
// "invariants" call it.
func (e *Engine) checkLocked(r *Record) {
	if Unchecked.Load() {
		return
	}
	head := r.head.Load()
	key := r.Key
	found := e.byKey.find(key)
	if r.inAll == erased {
		invariant.Check(found != r, "%s has been erased but is still found", key)
		return
	}
	invariant.Check(found == r, "%s is not found", key)
	invariant.Check(e.published(head), "%s has a version that is not known to be published", key)
	invariant.Check(!r.isErasable(), "%s has no object and has not been erased", key)
	in := map[*set]int32{&e.all.records: r.inAll}
	if r.namespace != &e.all {
		in[&r.namespace.records] = r.inNamespace
	}
	for p := r.postings; p != nil; p = p.next {
		_, twice := in[&p.term.records]
		invariant.Check(!twice, "%s is in the set of a value twice", key)
		in[&p.term.records] = p.at
	}
	wanted := map[*Term]bool{}
	for v := head; v != nil; v = v.older.Load() {
		for _, b := range *v.terms {
			_, ok := in[&b.records]
			invariant.Check(ok, "%s is not in the set of one of its values", key)
			wanted[b] = true
		}
		if older := v.older.Load(); older != nil {
			invariant.Check(older.Revision < v.Revision, "%s: the version of revision %d links to revision %d, which is not older", key, v.Revision, older.Revision)
			invariant.Check(e.isVisible(older, v), "%s: revision %d is kept, but no view sees it", key, older.Revision)
		}
	}
	for p := r.postings; p != nil; p = p.next {
		invariant.Check(wanted[p.term], "%s is in a set that it does not belong to", key)
	}
	for l, at := range in {
		invariant.Check(l.array.Load().slots[at].Load() == r, "%s is not in its slot", key)
	}
}

// isVisible reports whether a pinned view sees the version v. The argument next is the version
// after v.
func (e *Engine) isVisible(v, next *Version) bool {
	for p := e.pinned; p != nil; p = p.following {
		if v.Revision <= p.Revision && p.Revision < next.Revision {
			return true
		}
	}
	return false
}
