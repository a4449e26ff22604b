package indexer

import "slices"

// extension has the terms of a new index for an object that was stored in a revision.
type extension struct {
	record   *record
	revision uint64
	found    []term
}

// extend adds terms to the objects that are still those of the extensions. A new
// version that only has more of them takes the place of the old one: no view has
// the index yet, so that no reader can tell the two apart. The caller has the turn
// to write.
func (e *engine) extend(extensions []extension) {
	for _, x := range extensions {
		old := x.record.head.Load()
		if old.deleted() || old.revision != x.revision {
			continue // It has the terms, as it was written after the index came.
		}
		v := &version{object: old.object, resourceVersion: old.resourceVersion, uidHash: old.uidHash, revision: old.revision}
		v.terms = intern(e.buckets(e.useful(old), x.found))
		v.older.Store(old.older.Load())
		e.change(x.record, old, v)
		e.unlist(x.record, old)
	}
}

// useful returns the buckets of a version without those of removed indexes that
// nobody can see.
func (e *engine) useful(v *version) (to terms) {
	for _, b := range *v.terms {
		seen := !b.index.removed
		for p := e.pinned; p != nil && !seen; p = p.following {
			seen = slices.Contains(p.indexes, b.index)
		}
		if seen {
			to = append(to, b)
		}
	}
	return to
}
