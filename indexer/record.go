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

// unborn stands for what was before the first version of a key.
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

// carries reports whether any version has an index value.
func (r *record) carries(b *bucket) bool {
	for v := r.head.Load(); v != nil; v = v.older.Load() {
		if v.has(b) {
			return true
		}
	}
	return false
}

// has reports whether the object has an index value.
func (v *version) has(b *bucket) bool { return v.terms == &b.alone || slices.Contains(*v.terms, b) }

// placeIn returns where in a list the record is, or nil.
func (r *record) placeIn(l *list) *int32 {
	switch l.kind {
	case ofAll:
		return &r.inAll
	case ofNamespace:
		return &r.inNamespace
	}
	for p := r.places; p != nil; p = p.next {
		if p.list == l {
			return &p.at
		}
	}
	return nil
}

// join puts a record into the list of an index value, unless it is there.
func (e *engine) join(r *record, l *list) {
	if r.placeIn(l) != nil {
		return
	}
	p := e.spare
	if p == nil {
		p = new(place)
	} else {
		e.spare = p.next
		e.spares--
	}
	*p = place{list: l, at: l.add(r), next: r.places}
	r.places = p
}

// leave takes a record out of the list of an index value. Objects that move to
// another value join that first: the place is kept for the next one.
func (e *engine) leave(r *record, l *list) {
	at := &r.places
	for *at != nil && (*at).list != l {
		at = &(*at).next
	}
	p := *at
	if p == nil {
		return
	}
	l.remove(p.at)
	*at = p.next
	if e.spares < roomKept {
		*p = place{next: e.spare}
		e.spare = p
		e.spares++
	}
}
