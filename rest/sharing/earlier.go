package sharing

import (
	"reflect"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/rest/internal/wire"
)

// Most parts of a later version of an object equal the parts of the earlier version. A Decoder
// compares each earlier part with the new bytes, which takes no memory. If the bytes would decode
// to an equal value, the new object gets the earlier part.
//
// The comparison may report equal values as different. This happens if the bytes are not in an
// encoder's usual form, if the type is rare, or if readers may change the value.

// maxCompareDepth limits the depth of messages that are compared.
const maxCompareDepth = 32

// earlier has the earlier version of the object that is being decoded. Both have the same type.
type earlier struct {
	from, to uintptr        // the range of addresses of the new object
	object   unsafe.Pointer // the earlier object, or nil
}

// has reports whether a field lies in the memory of the new object itself, and not behind a
// pointer.
func (e *earlier) has(field unsafe.Pointer) bool {
	address := uintptr(field)
	return address >= e.from && address < e.to
}

// at returns the address of the earlier object's field that corresponds to a field of the new
// object. It returns nil if there is no earlier object, or if the field is not in the new object
// itself.
func (e *earlier) at(field unsafe.Pointer) unsafe.Pointer {
	if e.object != nil && e.has(field) {
		return unsafe.Add(e.object, uintptr(field)-e.from)
	}
	return nil
}

// same reports whether data would decode to a value that equals the message at an address.
func (s *state) same(p *plan, at unsafe.Pointer, data []byte, depth int) bool {
	if p.own != nil {
		return p.equal != nil && p.equal(at, data)
	}
	if p.list || p.hasMutable || depth > maxCompareDepth {
		return false
	}
	next := 1 // the lowest number that may come next
	for i := 0; i < len(data); {
		start := i
		tag, tagEnd, err := wire.Varint(data, i)
		if err != nil || tag>>3 < uint64(next) || tag>>3 >= uint64(len(p.fields)) {
			return false
		}
		n := int(tag >> 3)
		if !p.absent(at, next, n) {
			return false
		}
		next = n + 1
		f := &p.fields[n]
		field := unsafe.Add(at, f.offset)
		switch typ := tag & 7; {
		case typ == wire.TypeVarint && f.kind != 0 && f.kind.isVarint():
			v, end, err := wire.Varint(data, tagEnd)
			if err != nil || !sameNumber(f.kind, field, v) {
				return false
			}
			i = end
		case typ == wire.TypeBytes && f.kind > kindInt64List:
			from, end, err := wire.Contents(data, tagEnd)
			if err != nil {
				return false
			}
			count := 1
			if f.kind >= kindStringList {
				count, end = wire.CountRepeated(data, start, tagEnd, end)
				from = start
			}
			if !s.sameBytes(f, field, data[from:end], tagEnd-start, count, depth) {
				return false
			}
			i = end
		default:
			return false
		}
	}
	return p.absent(at, next, len(p.fields)) && p.restIsZero(at)
}

// sameBytes does the work of same for a field with a length. If the field is a list or a map, data
// has count elements, each after a tag of tag bytes.
func (s *state) sameBytes(f *field, at unsafe.Pointer, data []byte, tag, count, depth int) bool {
	switch f.kind {
	case kindString:
		return *(*string)(at) == string(data)
	case kindBytes:
		b := *(*[]byte)(at)
		return b != nil && string(b) == string(data)
	case kindMessage:
		return s.same(f.plan, at, data, depth+1)
	case kindStringPointer:
		text := *(**string)(at)
		return text != nil && *text == string(data)
	case kindMessagePointer:
		to := *(*unsafe.Pointer)(at)
		return to != nil && (s.inTable(f.whole, f.typeID, data, to) || s.same(f.plan, to, data, depth+1))
	case kindMap:
		return s.sameMap(f, at, data, tag, count)
	case kindStringList, kindBytesList, kindMessageList:
		return s.sameList(f, (*sliceHeader)(at), data, tag, count, depth)
	}
	return false
}

// sameNumber does the work of same for a single number.
func sameNumber(k kind, at unsafe.Pointer, v uint64) bool {
	switch k {
	case kindBool:
		return *(*bool)(at) == (v != 0)
	case kindInt32:
		return *(*int32)(at) == int32(v)
	case kindInt64:
		return *(*int64)(at) == int64(v)
	case kindBoolPointer:
		to := *(**bool)(at)
		return to != nil && *to == (v != 0)
	case kindInt32Pointer:
		to := *(**int32)(at)
		return to != nil && *to == int32(v)
	case kindInt64Pointer:
		to := *(**int64)(at)
		return to != nil && *to == int64(v)
	}
	return false
}

// sameList does the work of same for a list of n elements.
func (s *state) sameList(f *field, at *sliceHeader, data []byte, tag, n, depth int) bool {
	if at.len != n {
		return false
	}
	if s.inTable(f.whole, f.typeID, data, at.array) {
		return true
	}
	for i := range n {
		from, end, err := wire.Contents(data, tag)
		if err != nil {
			return false
		}
		element, value := unsafe.Add(at.array, uintptr(i)*f.size), data[from:end]
		var same bool
		switch f.kind {
		case kindStringList:
			same = *(*string)(element) == string(value)
		case kindBytesList:
			b := *(*[]byte)(element)
			same = b != nil && string(b) == string(value)
		case kindMessageList:
			same = s.same(f.plan, element, value, depth+1)
		}
		if !same {
			return false
		}
		data = data[end:]
	}
	return true
}

// sameMap does the work of same for a map of n entries. Maps that are not maps of strings are only
// looked up in the table.
func (s *state) sameMap(f *field, at unsafe.Pointer, data []byte, tag, n int) bool {
	m := *(*unsafe.Pointer)(at)
	if m == nil {
		return false
	}
	if f.typ != stringMapType {
		return s.inTable(f.whole, f.typeID, data, m)
	}
	entries := *(*map[string]string)(at)
	if len(entries) != n {
		return false
	}
	var before []byte
	for i := range n {
		from, end, err := wire.Contents(data, tag)
		if err != nil {
			return false
		}
		key, value, ok := textEntry(data[from:end])
		if !ok || i > 0 && string(key) <= string(before) { // ascending keys cannot repeat
			return false
		}
		if text, ok := entries[string(key)]; !ok || text != string(value) {
			return false
		}
		before, data = key, data[end:]
	}
	return true
}

// textEntry splits an entry of a map of strings: key=1, value=2. ok is false if the entry has other
// fields, or the fields in another order.
func textEntry(data []byte) (key, value []byte, ok bool) {
	const keyTag, valueTag = 1<<3 | wire.TypeBytes, 2<<3 | wire.TypeBytes
	if len(data) == 0 || data[0] != keyTag {
		return nil, nil, false
	}
	from, end, err := wire.Contents(data, 1)
	if err != nil || end == len(data) || data[end] != valueTag {
		return nil, nil, false
	}
	start, last, err := wire.Contents(data, end+1)
	return data[from:end], data[start:last], err == nil && last == len(data)
}

// inTable reports whether the table has an entry with these bytes, and with this very value.
func (s *state) inTable(l *lookupPolicy, typeID int, key []byte, value unsafe.Pointer) bool {
	if !l.enabled.Load() || len(key) == 0 || len(key) > maxShared {
		return false
	}
	if len(key) <= maxLocalKey {
		if e := *s.localCache.slotFor(typeID, key); e != nil && e.value == value && e.is(typeID, key) {
			return true
		}
	}
	t := s.decoder.table
	e := t.find(t.hash(typeID, key), typeID, key)
	return e != nil && e.value == value
}

// absent reports whether the fields with these numbers have the zero values that missing fields
// get.
func (p *plan) absent(at unsafe.Pointer, from, to int) bool {
	for n := from; n < to; n++ {
		f := &p.fields[n]
		field := unsafe.Add(at, f.offset)
		switch f.kind {
		case 0:
		case kindBool:
			if *(*bool)(field) {
				return false
			}
		case kindInt32:
			if *(*int32)(field) != 0 {
				return false
			}
		case kindInt64:
			if *(*int64)(field) != 0 {
				return false
			}
		case kindString:
			if *(*string)(field) != "" {
				return false
			}
		case kindMessage:
			if !isZero(field, f.size) {
				return false
			}
		default: // a pointer, a map, or a list, which starts with a pointer
			if *(*unsafe.Pointer)(field) != nil {
				return false
			}
		}
	}
	return true
}

// gap is a range of a struct that no field with a tag covers.
type gap struct{ offset, size uintptr }

func (p *plan) restIsZero(at unsafe.Pointer) bool {
	for _, g := range p.gaps {
		if !isZero(unsafe.Add(at, g.offset), g.size) {
			return false
		}
	}
	return true
}

func isZero(at unsafe.Pointer, size uintptr) bool {
	for _, b := range unsafe.Slice((*byte)(at), size) {
		if b != 0 {
			return false
		}
	}
	return true
}

// findGaps finds the fields of a struct that have no tag, including fields of embedded structs.
func (p *plan) findGaps() {
	for i := range p.typ.NumField() {
		if sf := p.typ.Field(i); sf.Tag.Get("protobuf") == "" {
			p.gaps = append(p.gaps, gap{sf.Offset, sf.Type.Size()})
		}
	}
}

// ownEquality returns a function that compares values of a type whose encoding does not follow its
// fields, or nil.
func ownEquality(t reflect.Type) func(at unsafe.Pointer, data []byte) bool {
	switch t {
	case reflect.TypeFor[metav1.Time]():
		return func(at unsafe.Pointer, data []byte) bool {
			var v metav1.Time
			return v.Unmarshal(data) == nil && v == *(*metav1.Time)(at)
		}
	case reflect.TypeFor[metav1.FieldsV1]():
		return func(at unsafe.Pointer, data []byte) bool {
			if len(data) == 0 {
				return false
			}
			text, ok := fieldsV1Text(unsafe.String(&data[0], len(data)))
			return ok && string((*metav1.FieldsV1)(at).GetRawBytes()) == text
		}
	case reflect.TypeFor[metav1.MicroTime]():
		return func(at unsafe.Pointer, data []byte) bool {
			var v metav1.MicroTime
			return v.Unmarshal(data) == nil && v == *(*metav1.MicroTime)(at)
		}
	}
	return nil
}
