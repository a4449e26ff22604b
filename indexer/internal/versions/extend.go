package versions

import "slices"

// Extension has the terms of a new index for one version of an object.
type Extension struct {
	Record   *Record
	Revision uint64
	Found    []IndexValue
}

// Extend adds terms to objects, except to objects that were written meanwhile. A new version with
// more terms replaces the old one. No view has the index yet, so the two versions are equal for
// readers. The caller holds the writers' lock.
func (e *Engine) Extend(extensions []Extension) {
	for _, x := range extensions {
		old := x.Record.head.Load()
		if old.deleted() || old.Revision != x.Revision {
			continue // the object was written meanwhile, with the terms of the new index
		}
		v := &Version{Object: old.Object, ResourceVersion: old.ResourceVersion, UIDHash: old.UIDHash, Revision: old.Revision}
		v.terms = intern(e.union(e.liveTerms(old), x.Found))
		v.older.Store(old.older.Load())
		e.setHead(x.Record, old, v)
		e.unlist(x.Record, old)
	}
}

// liveTerms returns the terms of a version, without the terms of removed indexes that no view has.
func (e *Engine) liveTerms(v *Version) (to terms) {
	for _, t := range *v.terms {
		seen := !t.index.Removed
		for p := e.pinned; p != nil && !seen; p = p.following {
			seen = slices.Contains(p.Indexes, t.index)
		}
		if seen {
			to = append(to, t)
		}
	}
	return to
}
