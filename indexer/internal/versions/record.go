package versions

import (
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

// Version is one state of an object. It never changes, except for the field older. An update
// allocates only one version, of 64 bytes: BenchmarkApplySameTerms.
type Version struct {
	Object          any
	ResourceVersion string
	UIDHash         uint64 // distinguishes the object from another one with the same key
	Revision        uint64 // of the transaction that wrote the version

	// terms are the terms that the index functions returned when the object was stored. The version
	// keeps them, because the functions would return other terms later if somebody has modified the
	// object (D14). Consecutive versions with equal terms share one slice. In a deletion, the field
	// has the value of the variable absent.
	terms *terms

	// older is the previous version, for as long as a view may see it, and at least until this
	// version is published.
	older atomic.Pointer[Version]
}

// noVersion stands for the state before the first version of a key.
var noVersion = &Version{terms: absent}

// Record is one key with the versions of its object that a view can see, the newest first. It is in
// the set of each term of these versions.
type Record struct {
	head atomic.Pointer[Version] // the newest version; noVersion if there is no version yet

	// Key is the key with which the record was created. Later versions keep its strings. All keys
	// of a namespace share one namespace string.
	Key types.NamespacedName

	// Only the writer uses the fields below. inAll and inNamespace are the slots of the record in
	// the set of all records and in the set of its namespace. postings has its slots in the sets of
	// index values.
	inAll, inNamespace int32
	namespace          *Term
	postings           *posting
}

// erased is the value of inAll in an erased record.
const erased = -1

// deleted reports whether the version has no object: it is a deletion, or noVersion.
func (v *Version) deleted() bool { return v.terms == absent }

// OrNil returns the version, or nil if the version has no object.
func (v *Version) OrNil() *Version {
	if v == nil || v.deleted() {
		return nil
	}
	return v
}

// At returns the version that a view of this revision sees, or nil if it sees no version. The
// version may be a deletion. The caller must have pinned a view of the revision.
func (r *Record) At(revision uint64) *Version { return r.head.Load().At(revision) }

// At returns the newest version that a view of this revision sees, among this version and older
// versions.
func (v *Version) At(revision uint64) *Version {
	for v != nil && v.Revision > revision {
		v = v.older.Load()
	}
	return v
}

// unlink removes a version that is not the newest. A reader that is at this version still finds the
// older versions.
func (r *Record) unlink(old *Version) {
	for v := r.head.Load(); v != nil; v = v.older.Load() {
		if v.older.Load() == old {
			v.older.Store(old.older.Load())
			return
		}
	}
}

// In reports whether the version has an object with this term. A nil term means any object.
func (v *Version) In(t *Term) bool { return v != nil && !v.deleted() && (t == nil || v.has(t)) }

// has reports whether the object has a term.
func (v *Version) has(t *Term) bool { return v.terms == &t.single || slices.Contains(*v.terms, t) }

// slotIn returns the record's slot number in a set. It searches the postings one by one, which is
// fast enough: only rebuild of a set calls it, for the few remaining records.
func (r *Record) slotIn(s *set) *int32 {
	switch s.kind {
	case ofAll:
		return &r.inAll
	case ofNamespace:
		return &r.inNamespace
	}
	p := r.postings
	for &p.term.records != s {
		p = p.next
	}
	return &p.at
}

// join adds a record to those sets of the terms that it is not in yet.
func (e *Engine) join(r *Record, to terms) {
	e.visit++
	for p := r.postings; p != nil; p = p.next {
		p.term.visit = e.visit
	}
	for _, t := range to {
		if t.visit == e.visit {
			continue
		}
		p := e.spare
		if p == nil {
			p = new(posting)
		} else {
			e.spare = p.next
			e.spares--
		}
		*p = posting{term: t, at: t.records.add(r), next: r.postings}
		r.postings = p
	}
}

// leave removes a record from the sets of the terms that its versions no longer have. It keeps the
// postings for reuse: BenchmarkApply.
func (e *Engine) leave(r *Record) {
	e.visit++
	for v := r.head.Load(); v != nil; v = v.older.Load() {
		for _, t := range *v.terms {
			t.visit = e.visit
		}
	}
	for at := &r.postings; *at != nil; {
		p := *at
		if p.term.visit == e.visit {
			at = &p.next
			continue
		}
		*at = p.next
		p.term.records.remove(p.at)
		p.term.dropIfEmpty()
		if e.spares < maxReuse {
			*p = posting{next: e.spare}
			e.spare = p
			e.spares++
		}
	}
}
