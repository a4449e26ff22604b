package indexer

import (
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

// version is one state of an object. But for the marks of the writer, which are
// atomic, it never changes. The first 64 bytes are all that Get and iterators look
// at, so that a processor need not fetch the rest, nor the record: the version says
// itself which key it belongs to.
type version struct {
	name      string
	namespace *bucket // whose value is the namespace
	object    any
	revision  uint64 // of the transaction that wrote it

	// terms are the index values of the object. They are kept, not computed again
	// when the object goes: one that somebody modified would have others by then
	// (D14). Versions with the same ones share them.
	terms *terms

	settled atomic.Bool // its transaction has been published
	deleted bool        // there is no object: the key was deleted

	record          *record
	resourceVersion string
	older           atomic.Pointer[version]
}

// record is one key with the versions of its object that somebody can see, the
// newest first. It is in a list for each set of objects that one of these versions
// belongs to.
type record struct {
	// head is nil only in the moment between the record's being put into its lists,
	// where readers may meet it then, and its first version.
	head atomic.Pointer[version]

	// Only the writer looks at the following: where the record is in the list of
	// all, in that of its namespace, and in those of index values.
	inAll, inNamespace int32
	places             *place
}

// nowhere is where in the list of all a record is that was taken out of everything.
const nowhere = -1

// is reports whether a version is one of the object with this key.
func (v *version) is(key types.NamespacedName) bool {
	return v.name == key.Name && v.namespace.value == key.Namespace
}

// key returns the key of the object.
func (v *version) key() types.NamespacedName {
	return types.NamespacedName{Namespace: v.namespace.value, Name: v.name}
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
