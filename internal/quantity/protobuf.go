package quantity

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Unmarshal does the same as q.Unmarshal, in bounded time.
func Unmarshal(q *resource.Quantity, data []byte) error {
	if at, _ := FindExtreme(true, data, 0); at >= 0 {
		data = bytes.Clone(data)
		if !(messages{}).replaceQuantities(data, quantityType, 0) {
			return errMalformed
		}
	}
	return q.Unmarshal(data)
}

// messages caches the types of the fields of each type of message; see messageFields. A message may
// have as many parts as bytes, but has only a few types.
type messages map[reflect.Type]map[int32]reflect.Type

// replaceQuantities replaces the texts of the extreme quantities in a message by texts of the same
// length, in place. The type of the message is a struct whose fields have protobuf tags, like all
// types of k8s.io/api. replaceQuantities returns false if the message is malformed, or if generated
// code might read it in another way. This is so for a group, which no server sends, and for a map
// entry with fields of other kinds.
func (m messages) replaceQuantities(data []byte, t reflect.Type, depth int) bool {
	if depth > maxDepth {
		return false
	}
	fields, ok := m[t]
	if !ok {
		fields = messageFields(t)
		m[t] = fields
	}
	for len(data) > 0 {
		number, wire, value, rest, ok := nextField(data)
		if !ok {
			return false
		}
		data = rest
		switch to := fields[number]; {
		case wire != wireBytes:
		case t == quantityType:
			if number == 1 {
				shorten(value)
			}
		case to != nil && to.Kind() == reflect.Map:
			ok = m.entry(value, to.Elem(), depth+1)
		case to != nil:
			ok = m.replaceQuantities(value, to, depth+1)
		}
		if !ok {
			return false
		}
	}
	return true
}

// entry does the work of replaceQuantities for an entry of a map. Generated code ignores the wire
// types of its fields.
func (m messages) entry(data []byte, t reflect.Type, depth int) bool {
	for len(data) > 0 {
		number, wire, value, rest, ok := nextField(data)
		if !ok || (number == 1 || number == 2) && wire != wireBytes || number == 2 && !m.replaceQuantities(value, t, depth) {
			return false
		}
		data = rest
	}
	return true
}

// These are the wire types of fields.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// shorten replaces the text of a quantity by an equal quantity, with leading zeros to keep the
// length.
func shorten(text []byte) {
	simplified, ok := defaultLimits.simplify(string(text))
	if !ok || len(simplified) > len(text) {
		return
	}
	n := 0
	if simplified[0] == '-' {
		n = 1
	}
	digits := copy(text[len(text)-len(simplified)+n:], simplified[n:])
	for i := range text[:len(text)-digits] {
		text[i] = '0'
	}
	if n > 0 {
		text[0] = '-'
	}
}

// messageFields returns, by field number, the types of the fields that are messages or maps of
// messages.
func messageFields(t reflect.Type) map[int32]reflect.Type {
	fields := map[int32]reflect.Type{}
	switch {
	case t.Kind() == reflect.Slice: // a named slice type is a message that contains the elements
		fields[1] = t.Elem()
		return fields
	case t.Kind() != reflect.Struct || t == quantityType:
		return fields
	}
	for i := range t.NumField() {
		f := t.Field(i)
		parts := strings.Split(f.Tag.Get("protobuf"), ",")
		if len(parts) < 2 {
			continue
		}
		number, _ := strconv.ParseInt(parts[1], 10, 32)
		to := f.Type
		if to.Kind() == reflect.Slice && (to.Name() == "" || len(parts) > 2 && parts[2] == "rep") {
			to = to.Elem()
		}
		if to.Kind() == reflect.Pointer {
			to = to.Elem()
		}
		elem := to
		if elem.Kind() == reflect.Map {
			elem = elem.Elem()
		}
		if elem.Kind() == reflect.Struct || elem.Kind() == reflect.Slice && elem.Elem().Kind() == reflect.Struct {
			fields[int32(number)] = to
		}
	}
	return fields
}

// nextField cuts the first field off a message. Like generated code, it truncates the field number
// to 32 bits.
func nextField(data []byte) (number int32, wire int, value, rest []byte, ok bool) {
	tag, n := binary.Uvarint(data)
	if n <= 0 {
		return 0, 0, nil, nil, false
	}
	number, wire, data = int32(tag>>3), int(tag&7), data[n:]
	var length uint64
	switch wire {
	case wireVarint:
		_, n = binary.Uvarint(data)
		length = uint64(n)
	case wireFixed64:
		length = 8
	case wireFixed32:
		length = 4
	case wireBytes:
		if length, n = binary.Uvarint(data); n > 0 {
			data = data[n:]
		}
	default:
		n = -1
	}
	if n <= 0 || length > uint64(len(data)) {
		return 0, 0, nil, nil, false
	}
	return number, wire, data[:length], data[length:], true
}
