package indexer

import (
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

// record is one key with the versions of its object that somebody can see, the
// newest first. It is found through the table of keys, and is in a list for each
// set of objects that one of these versions belongs to.
type record struct {
	key  types.NamespacedName
	hash uint64
	head atomic.Pointer[version] // never nil once readers can find the record

	// Only the writer looks at the following. There are no places when the record
	// has been taken out of everything.
	namespace *bucket // nil if the key has none
	places    []place
	room      [3]place // for the first of places
}

// version is one state of an object. But for the marks of the writer, which are
// atomic, it never changes. It fits into one line of the processor's cache.
type version struct {
	object          any
	resourceVersion string
	revision        uint64 // of the transaction that wrote it
	older           atomic.Pointer[version]

	// terms are the index values of the object. They are kept, not computed again
	// when the object goes: one that somebody modified would have others by then
	// (D14). Versions with the same ones share them.
	terms *terms

	deleted bool        // there is no object: the key was deleted
	settled atomic.Bool // its transaction has been published
}

// at returns the version that belongs to a revision, or nil if there was none.
// It may be one that says "deleted". The revision must be pinned.
func (r *record) at(revision uint64) *version {
	v := r.head.Load()
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
func (r *record) placeIn(l *list) *place {
	for i := range r.places {
		if r.places[i].list == l {
			return &r.places[i]
		}
	}
	return nil
}

// join puts the record into a list, unless it is there.
func (r *record) join(l *list) {
	if r.placeIn(l) == nil {
		r.places = append(r.places, place{list: l, at: l.add(r)})
	}
}

// leave takes the record out of a list.
func (r *record) leave(l *list) {
	if i := slices.IndexFunc(r.places, func(p place) bool { return p.list == l }); i >= 0 {
		l.remove(r.places[i].at)
		r.places = slices.Delete(r.places, i, i+1)
	}
}
