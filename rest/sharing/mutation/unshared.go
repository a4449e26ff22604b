package mutation

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"
	"unsafe"
)

// CheckUnshared returns an error if two of the objects share memory that a program can change: a
// map, a pointee, or a part of a slice's array. The error names the path in both objects. Objects
// may share strings, unless one of them has the bytes of the string in a slice. CheckUnshared is
// for tests of objects that their receivers may change in place.
func CheckUnshared(objects ...any) error {
	var w walk
	for i, object := range objects {
		w.object = i
		w.value(nil, reflect.ValueOf(object))
	}
	slices.SortFunc(w.ranges, func(a, b memoryRange) int { return cmp.Compare(a.from, b.from) })
	// The variable all covers all ranges so far. The variable mutable covers only the ranges that a
	// program can change.
	var all, mutable lastRanges
	for _, p := range w.ranges {
		if before := mutable.overlap(p); before != nil {
			return fmt.Errorf("object %d%s and object %d%s share memory", before.object, before.path, p.object, p.path)
		}
		if !p.text {
			if before := all.overlap(p); before != nil {
				return fmt.Errorf("object %d%s and object %d%s share memory", before.object, before.path, p.object, p.path)
			}
			mutable.add(p)
		}
		all.add(p)
	}
	return nil
}

// memoryRange is a range of memory that an object refers to.
type memoryRange struct {
	from, to uintptr
	text     bool // of a string, which cannot be changed
	object   int
	path     *step
}

// step is the last step of a path to a part. A path becomes text only in an error.
type step struct {
	before *step
	name   string        // of a field
	key    reflect.Value // of a map
	index  int           // of a list element, if there is neither name nor key
}

func (s *step) String() string {
	switch {
	case s == nil:
		return ""
	case s.key.IsValid():
		return fmt.Sprintf("%s[%v]", s.before, s.key)
	case s.name != "":
		return s.before.String() + "." + s.name
	}
	return fmt.Sprintf("%s[%d]", s.before, s.index)
}

// lastRanges has the range that ends last, and among the ranges of other objects the range that
// ends last.
type lastRanges struct{ first, other *memoryRange }

func (f *lastRanges) add(p memoryRange) {
	switch {
	case f.first == nil || p.to > f.first.to:
		if f.first != nil && f.first.object != p.object {
			f.other = f.first
		}
		f.first = &p
	case p.object != f.first.object && (f.other == nil || p.to > f.other.to):
		f.other = &p
	}
}

// overlap returns a range of another object that overlaps p, or nil.
func (f *lastRanges) overlap(p memoryRange) *memoryRange {
	for _, before := range []*memoryRange{f.first, f.other} {
		if before != nil && before.object != p.object && before.to > p.from {
			return before
		}
	}
	return nil
}

// walk collects the memory ranges of objects, including their unexported fields.
type walk struct {
	ranges []memoryRange
	object int
}

func (w *walk) add(path *step, from, size uintptr, text bool) {
	if size > 0 { // values of size 0 may all have the same address
		w.ranges = append(w.ranges, memoryRange{from, from + size, text, w.object, path})
	}
}

func (w *walk) value(path *step, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type() == reflect.TypeFor[*time.Location]() { // all times share locations
			return
		}
		w.add(path, v.Pointer(), v.Type().Elem().Size(), false)
		w.value(path, v.Elem())
	case reflect.Interface:
		w.value(path, v.Elem())
	case reflect.String:
		w.add(path, uintptr(unsafe.Pointer(unsafe.StringData(v.String()))), uintptr(v.Len()), true)
	case reflect.Struct:
		for i := range v.NumField() {
			w.value(&step{before: path, name: v.Type().Field(i).Name}, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			w.value(&step{before: path, index: i}, v.Index(i))
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		w.add(path, v.Pointer(), uintptr(v.Cap())*v.Type().Elem().Size(), false)
		for i := range v.Len() {
			w.value(&step{before: path, index: i}, v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		w.add(path, v.Pointer(), 1, false)
		for entries := v.MapRange(); entries.Next(); {
			w.value(path, entries.Key())
			w.value(&step{before: path, key: entries.Key()}, entries.Value())
		}
	}
}
