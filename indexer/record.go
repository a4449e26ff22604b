package indexer

import (
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

// version is one state of an object. But for older it never changes. An update
// allocates one, and no more: it is 64 bytes, one line of the processor's cache.
type version struct {
	object          any
	resourceVersion string
	uidHash         uint64 // which object of this key it is a state of
	revision        uint64 // of the transaction that wrote it

	// terms are the index values of the object. They are kept, not computed again
	// when the object goes: one that somebody modified would have others by then
	// (D14). Versions with the same ones share them. If there is no object, because
	// the key was deleted, they are absent.
	terms *terms

	// older is the version before this one as long as somebody may see that: at least
	// until this one is published.
	older atomic.Pointer[version]
}

// unborn stands for the time before the first version of a key.
var unborn = &version{terms: absent}

// record is one key with the versions of its object that somebody can see, the
// newest first. It is in a list for each set of objects that one of these versions
// belongs to.
type record struct {
	head atomic.Pointer[version] // the newest, unborn before there is one

	// key has the strings that came with the first version.
	key types.NamespacedName

	// Only the writer looks at the following: where the record is in the list of
	// all, in that of its namespace, and in those of index values.
	inAll, inNamespace int32
	namespace          *bucket
	places             *place
}

// nowhere is where in the list of all a record is that was taken out of everything.
const nowhere = -1

// deleted reports whether there is no object: the key was deleted, or never there.
func (v *version) deleted() bool { return v.terms == absent }

// orNil returns the version if there is an object, or else nil.
func (v *version) orNil() *version {
	if v == nil || v.deleted() {
		return nil
	}
	return v
}

// at returns the version that belongs to a revision, or nil if there was none.
// It may be one that says "deleted". The revision must be pinned.
func (r *record) at(revision uint64) *version { return r.head.Load().at(revision) }

// at returns this version, or the newest one before it that belongs to a revision.
func (v *version) at(revision uint64) *version {
	for v != nil && v.revision > revision {
		v = v.older.Load()
	}
	return v
}

// unlink takes a version out of those behind the newest. Readers who are just at
// it find their way on.
func (r *record) unlink(old *version) {
	for v := r.head.Load(); v != nil; v = v.older.Load() {
		if v.older.Load() == old {
			v.older.Store(old.older.Load())
			return
		}
	}
}

// has reports whether the object has an index value.
func (v *version) has(b *bucket) bool { return v.terms == &b.alone || slices.Contains(*v.terms, b) }

// placeIn returns where in a list the record is. It looks at the places one by one, so
// only few may ask: those that are left when a list loses most of its records.
func (r *record) placeIn(l *list) *int32 {
	switch l.kind {
	case ofAll:
		return &r.inAll
	case ofNamespace:
		return &r.inNamespace
	}
	p := r.places
	for &p.bucket.list != l {
		p = p.next
	}
	return &p.at
}

// join puts a record into the lists of index values where it is not yet.
func (e *engine) join(r *record, to terms) {
	e.mark++
	for p := r.places; p != nil; p = p.next {
		p.bucket.mark = e.mark
	}
	for _, b := range to {
		if b.mark == e.mark {
			continue
		}
		p := e.spare
		if p == nil {
			p = new(place)
		} else {
			e.spare = p.next
			e.spares--
		}
		*p = place{bucket: b, at: b.list.add(r), next: r.places}
		r.places = p
	}
}

// leave takes a record out of the lists of index values that none of its versions has.
// Objects that move to another value join that first: the place is kept for the next one.
func (e *engine) leave(r *record) {
	e.mark++
	for v := r.head.Load(); v != nil; v = v.older.Load() {
		for _, b := range *v.terms {
			b.mark = e.mark
		}
	}
	for at := &r.places; *at != nil; {
		p := *at
		if p.bucket.mark == e.mark {
			at = &p.next
			continue
		}
		*at = p.next
		p.bucket.list.remove(p.at)
		p.bucket.dropIfEmpty()
		if e.spares < roomKept {
			*p = place{next: e.spare}
			e.spare = p
			e.spares++
		}
	}
}
