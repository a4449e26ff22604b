package versions

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Index has the terms of one index. The index by namespace is an Index as well, without a name.
// Indexes are compared by their addresses: an index that was removed and added again is another
// index.
type Index struct {
	Name    string
	Removed bool // guarded by the writers' lock

	terms sync.Map     // value -> *Term
	inUse atomic.Int64 // terms that have objects in the newest revision
}

// Term is one value of an index, or one namespace. It has the set of the records that have the
// value in a version that a view can see. Versions refer to a term by its address.
type Term struct {
	index   *Index
	value   string
	records set
	single  terms // the terms of an object that has only this term

	// Only the writer uses the fields below.
	objects int    // number of objects with the term in the newest revision
	visit   uint64 // see Engine.visit
}

// IndexValue is an index value that an index function has returned.
type IndexValue struct {
	Index *Index
	Value string
}

// terms are the terms of an object, each once. They never change.
type terms []*Term

// noTerms belongs to objects that are in no index. The variable absent belongs to versions without
// an object.
var noTerms, absent = new(terms), new(terms)

// intern returns the stored form of terms. It allocates nothing for a single term: BenchmarkApply.
func intern(found terms) *terms {
	switch len(found) {
	case 0:
		return noTerms
	case 1:
		return &found[0].single
	}
	kept := slices.Clone(found)
	return &kept
}

// InUse returns the number of values that objects have.
func (x *Index) InUse() int { return int(x.inUse.Load()) }

// find returns the term of a value, or nil.
func (x *Index) find(value string) *Term {
	t, _ := x.terms.Load(value)
	found, _ := t.(*Term)
	return found
}

// make returns the term of a value. It makes the term if it does not exist.
func (x *Index) make(value string) *Term {
	t := x.find(value)
	if t == nil {
		t = &Term{index: x, value: value}
		if x.Name == "" {
			t.records.kind = ofNamespace
		}
		t.single = terms{t}
		x.terms.Store(value, t)
	}
	return t
}

// count changes the number of objects that have the term.
func (t *Term) count(by int) {
	if t.objects == 0 {
		t.index.inUse.Add(1)
	}
	if t.objects += by; t.objects == 0 {
		t.index.inUse.Add(-1)
	}
}

// dropIfEmpty removes the term from the index if no kept version has the term (IX-4).
func (t *Term) dropIfEmpty() {
	if t.records.count == 0 {
		t.index.terms.Delete(t.value)
	}
}
