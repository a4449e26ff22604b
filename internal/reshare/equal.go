package reshare

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// comparer compares values of one type. reflect.DeepEqual would take several times as long, and
// Transform compares all objects of a list.
type comparer struct {
	typ  reflect.Type
	once sync.Once
	// same reports whether the values at two addresses are equal, like reflect.DeepEqual. It may
	// report some equal values as different, such as functions. Floats are equal if their bits are
	// equal.
	same func(a, b unsafe.Pointer) bool
}

var comparers sync.Map // of reflect.Type to *comparer

func comparerOf(t reflect.Type) *comparer {
	c, ok := comparers.Load(t)
	if !ok {
		c, _ = comparers.LoadOrStore(t, &comparer{typ: t})
	}
	return c.(*comparer)
}

// equal compares two values. It makes the comparer at the first call, so that a type may contain
// itself.
func (c *comparer) equal(a, b unsafe.Pointer) bool {
	c.once.Do(c.make)
	return c.same(a, b)
}

func (c *comparer) make() {
	t := c.typ
	switch t {
	case reflect.TypeFor[time.Time]():
		c.same = same[time.Time]
		return
	case reflect.TypeFor[resource.Quantity]():
		c.same = same[resource.Quantity]
		return
	}
	switch k := t.Kind(); {
	case isPlain(t):
		c.same = func(a, b unsafe.Pointer) bool { return sameBytes(a, b, t.Size()) }
	case k == reflect.String:
		c.same = same[string]
	case k == reflect.Struct && exportedFields(t) == t.NumField():
		c.same = structComparer(t)
	case k == reflect.Pointer:
		c.same = pointerComparer(t)
	case k == reflect.Slice:
		c.same = sliceComparer(t)
	case k == reflect.Map:
		c.same = mapComparer(t)
	case k == reflect.Interface && t.NumMethod() == 0:
		c.same = func(a, b unsafe.Pointer) bool { return equalAny(*(*any)(a), *(*any)(b)) }
	default:
		c.same = func(a, b unsafe.Pointer) bool {
			to, from := reflect.NewAt(t, a).Elem(), reflect.NewAt(t, b).Elem()
			return to.Comparable() && from.Comparable() && to.Equal(from)
		}
	}
}

// isPlain reports whether values of a type are equal whenever their bytes are equal.
func isPlain(t reflect.Type) bool { return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128 }

func same[T comparable](a, b unsafe.Pointer) bool { return *(*T)(a) == *(*T)(b) }

func sameBytes(a, b unsafe.Pointer, n uintptr) bool {
	return a == b || unsafe.String((*byte)(a), n) == unsafe.String((*byte)(b), n)
}

// structComparer returns a function that compares structs. It compares adjacent plain fields in one
// piece.
func structComparer(t reflect.Type) func(a, b unsafe.Pointer) bool {
	type part struct {
		offset, plain uintptr // plain is the length of a part that is compared byte by byte
		*comparer
	}
	var parts []part
	for i := range t.NumField() {
		f := t.Field(i)
		plain := uintptr(0)
		if isPlain(f.Type) {
			plain = f.Type.Size()
		}
		if last := len(parts) - 1; plain > 0 && last >= 0 && parts[last].plain > 0 && parts[last].offset+parts[last].plain == f.Offset {
			parts[last].plain += plain
		} else {
			parts = append(parts, part{f.Offset, plain, comparerOf(f.Type)})
		}
	}
	return func(a, b unsafe.Pointer) bool {
		for i := range parts {
			p := &parts[i]
			a, b := unsafe.Add(a, p.offset), unsafe.Add(b, p.offset)
			if p.plain > 0 && !sameBytes(a, b, p.plain) || p.plain == 0 && !p.equal(a, b) {
				return false
			}
		}
		return true
	}
}

func pointerComparer(t reflect.Type) func(a, b unsafe.Pointer) bool {
	to := comparerOf(t.Elem())
	return func(a, b unsafe.Pointer) bool {
		p, q := *(*unsafe.Pointer)(a), *(*unsafe.Pointer)(b)
		return p == q || p != nil && q != nil && to.equal(p, q)
	}
}

func sliceComparer(t reflect.Type) func(a, b unsafe.Pointer) bool {
	type slice struct {
		array    unsafe.Pointer
		len, cap int
	}
	element, size, plain := comparerOf(t.Elem()), t.Elem().Size(), isPlain(t.Elem())
	return func(a, b unsafe.Pointer) bool {
		p, q := (*slice)(a), (*slice)(b)
		if p.len != q.len || (p.array == nil) != (q.array == nil) {
			return false
		}
		if plain {
			return sameBytes(p.array, q.array, uintptr(p.len)*size)
		}
		for i := range uintptr(p.len) {
			if !element.equal(unsafe.Add(p.array, i*size), unsafe.Add(q.array, i*size)) {
				return false
			}
		}
		return true
	}
}

func mapComparer(t reflect.Type) func(a, b unsafe.Pointer) bool {
	switch {
	case t == reflect.TypeFor[map[string]any]():
		return func(a, b unsafe.Pointer) bool { return equalAny(*(*map[string]any)(a), *(*map[string]any)(b)) }
	case t == reflect.TypeFor[map[string]string]():
		return sameMap[string]
	case t.Key().Kind() == reflect.String && t.Elem() == reflect.TypeFor[resource.Quantity]():
		// t differs from map[string]resource.Quantity only in the name of its keys' type
		return sameMap[resource.Quantity]
	}
	values := comparerOf(t.Elem())
	return func(a, b unsafe.Pointer) bool {
		to, from := reflect.NewAt(t, a).Elem(), reflect.NewAt(t, b).Elem()
		if to.Len() != from.Len() || to.IsNil() != from.IsNil() {
			return false
		}
		key, value, before := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()), reflect.New(t.Elem())
		for entries := to.MapRange(); entries.Next(); {
			key.SetIterKey(entries)
			found := from.MapIndex(key)
			if !found.IsValid() {
				return false
			}
			value.Elem().SetIterValue(entries)
			before.Elem().Set(found)
			if !values.equal(value.UnsafePointer(), before.UnsafePointer()) {
				return false
			}
		}
		return true
	}
}

func sameMap[V comparable](a, b unsafe.Pointer) bool {
	p, q := *(*map[string]V)(a), *(*map[string]V)(b)
	return (p == nil) == (q == nil) && maps.Equal(p, q)
}

// equalAny reports whether two JSON values are equal. Values of all other types count as different.
func equalAny(to, from any) bool {
	switch to := to.(type) {
	case map[string]any:
		from, ok := from.(map[string]any)
		if !ok || len(to) != len(from) || (to == nil) != (from == nil) {
			return false
		}
		for key, value := range to {
			if before, ok := from[key]; !ok || !equalAny(value, before) {
				return false
			}
		}
		return true
	case []any:
		from, ok := from.([]any)
		return ok && (to == nil) == (from == nil) && slices.EqualFunc(to, from, equalAny)
	case string, int64, float64, bool, nil:
		return to == from
	}
	return false
}

var fieldCounts sync.Map // of reflect.Type to int

// exportedFields returns the number of fields of a struct, or 0 if it has unexported fields. A
// comparer compares such structs, for example time.Time and resource.Quantity, as a whole.
func exportedFields(t reflect.Type) int {
	if n, ok := fieldCounts.Load(t); ok {
		return n.(int)
	}
	n := t.NumField()
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			n = 0
		}
	}
	fieldCounts.Store(t, n)
	return n
}
