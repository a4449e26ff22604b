package indexer

import "sync/atomic"

// list is a set of records as a dense array, to be walked by readers while the writer
// adds and removes. A reader of a revision finds in it every record that belongs to the
// set then, and possibly others: see [record.at].
//
// A record that is in stays in its slot until it is removed, which only happens
// when no reader can see it. Another one may take the slot at once: those who read
// now don't see that one either. A new array is made when the old one is full or
// has many holes; readers of the old one go on with it.
type list struct {
	array atomic.Pointer[array]

	// Only the writer looks at these.
	count int     // of records
	holes []int32 // slots that are free again
	kind  kind
}

// kind says which set a list is of: all objects, a namespace, an index value. A record
// is in at most one of each of the first two kinds, and knows its place in it without
// looking for it.
type kind uint8

const (
	ofIndexValue kind = iota
	ofNamespace
	ofAll
)

type array struct {
	used  atomic.Int64 // how many slots have been filled
	slots []atomic.Pointer[record]
}

// place says where in the list of an index value a record is.
type place struct {
	bucket *bucket
	at     int32
	next   *place // of the same record, or another that is not in use
}

// add puts in a record that is not in the list and returns where.
func (l *list) add(r *record) (at int32) {
	a := l.array.Load()
	if last := len(l.holes) - 1; last >= 0 {
		at, l.holes = l.holes[last], l.holes[:last]
		a.slots[at].Store(r)
	} else {
		if a == nil || int(a.used.Load()) == len(a.slots) {
			a = l.rebuild()
		}
		at = int32(a.used.Load())
		a.slots[at].Store(r)
		a.used.Store(int64(at + 1))
	}
	l.count++
	return at
}

// remove takes out the record at a place.
func (l *list) remove(at int32) {
	a := l.array.Load()
	a.slots[at].Store(nil)
	l.holes = append(l.holes, at)
	l.count--
	if used := int(a.used.Load()); used > 16 && l.count < used/4 {
		l.rebuild()
	}
}

// rebuild moves to a new array without holes, half of which is free.
func (l *list) rebuild() *array {
	a := &array{slots: make([]atomic.Pointer[record], 2*l.count+2)}
	n := 0
	if old := l.array.Load(); old != nil {
		for at := range old.slots[:old.used.Load()] {
			r := old.slots[at].Load()
			if r == nil {
				continue
			}
			a.slots[n].Store(r)
			if n != at {
				*r.placeIn(l) = int32(n)
			}
			n++
		}
	}
	a.used.Store(int64(n))
	l.array.Store(a)
	l.holes = nil
	return a
}
