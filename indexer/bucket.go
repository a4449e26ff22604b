package indexer

import (
	"slices"
	"sync"
	"sync/atomic"
)

// index is the buckets of one index, and the index of namespaces is one as well.
// Its address is its identity: an index that was removed and added again is
// another one.
type index struct {
	name    string
	buckets sync.Map     // value -> *bucket
	inUse   atomic.Int64 // buckets with objects in the newest revision
	removed bool         // only writers look at it

	// failure is the first error met by a write while the index was being
	// built. It is the fault of the index, not of the write.
	failure atomic.Pointer[IndexError]
}

// bucket is one value of an index, with the records that have it, or had it in a
// version which somebody can see. Versions name it by its address.
type bucket struct {
	index   *index
	value   string
	list    list
	alone   terms  // the terms of an object that has this value and no other
	objects int    // that have the value in the newest revision; only the writer looks
	mark    uint64 // of the last set that it was found in, see engine.mark
}

// find returns the bucket of a value, or nil.
func (x *index) find(value string) *bucket {
	b, _ := x.buckets.Load(value)
	found, _ := b.(*bucket)
	return found
}

// make returns the bucket of a value.
func (x *index) make(value string) *bucket {
	b := x.find(value)
	if b == nil {
		b = &bucket{index: x, value: value}
		if x.name == "" {
			b.list.kind = ofNamespace
		}
		b.alone = terms{b}
		x.buckets.Store(value, b)
	}
	return b
}

// count changes how many objects have the value.
func (b *bucket) count(by int) {
	if b.objects == 0 {
		b.index.inUse.Add(1)
	}
	if b.objects += by; b.objects == 0 {
		b.index.inUse.Add(-1)
	}
}

// dropIfEmpty forgets a value that no version has any more (IX-4).
func (b *bucket) dropIfEmpty() {
	if b.list.count == 0 {
		b.index.buckets.Delete(b.value)
	}
}

// term is an index value that an index function has returned.
type term struct {
	index *index
	value string
}

// terms are the index values of an object, each once. They never change.
type terms []*bucket

// noTerms are those of an object that is in no index, absent those of none.
var noTerms, absent = new(terms), new(terms)

// intern returns the terms for these buckets, without an allocation if there is
// one.
func intern(buckets terms) *terms {
	switch len(buckets) {
	case 0:
		return noTerms
	case 1:
		return &buckets[0].alone
	}
	kept := slices.Clone(buckets)
	return &kept
}
