package decode

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/kinform/kinform/rest/internal/wire"
)

// Omission names parts that are removed from the bytes of an object before it is decoded; see
// rest.Omit.
type Omission struct {
	ManagedFields  bool
	Annotations    []string
	Status         bool
	AllButMetadata bool
}

// These are the numbers of protobuf fields that all objects share.
const (
	fieldMetadata      = 1
	fieldAnnotations   = 12 // in metadata
	fieldManagedFields = 17 // in metadata
	fieldMapKey        = 1  // in an entry of a map
)

// Remover returns a function for objects of type t that removes the parts from an encoded object,
// in place.
func (d Omission) Remover(t reflect.Type) func(e wire.Encoding, object []byte) []byte {
	d.Annotations = slices.Clone(d.Annotations)
	status := statusNumber(t)
	return func(e wire.Encoding, object []byte) []byte {
		if e == wire.Protobuf {
			return d.protobuf(object, status)
		}
		return d.json(object)
	}
}

// statusNumber returns the protobuf number of the field Status of t, or 0 if t has no such field.
func statusNumber(t reflect.Type) uint64 {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return 0
	}
	field, _ := t.Elem().FieldByName("Status")
	parts := strings.Split(field.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0
	}
	number, _ := strconv.ParseUint(parts[1], 10, 32)
	return number
}

// protobuf removes fields from an encoded object.
func (d *Omission) protobuf(object []byte, status uint64) []byte {
	return rewrite(object, func(h wire.Header, value []byte) ([]byte, bool) {
		switch {
		case h.Field == fieldMetadata && h.Type == wire.TypeBytes:
			return rewrite(value, d.metadataField), true
		case d.AllButMetadata, d.Status && h.Field == status:
			return nil, false
		}
		return value, true
	})
}

// metadataField is the function edit of rewrite for the fields of metadata.
func (d *Omission) metadataField(h wire.Header, value []byte) ([]byte, bool) {
	switch {
	case h.Field == fieldManagedFields && d.ManagedFields:
		return nil, false
	case h.Field == fieldAnnotations && len(d.Annotations) > 0:
		key, _, err := wire.BytesField(value, fieldMapKey, false)
		return value, err != nil || !slices.Contains(d.Annotations, string(key))
	}
	return value, true
}

// rewrite changes a message in place. For each field, the function edit returns the new contents,
// which must be a part of the given value, and whether the field stays. rewrite leaves a malformed
// message as it is, and the decoder then refuses it.
func rewrite(message []byte, edit func(h wire.Header, value []byte) ([]byte, bool)) []byte {
	written := 0
	for rest := message; len(rest) > 0; {
		h, value, next, err := wire.NextField(rest, false)
		if err != nil {
			written += copy(message[written:], rest)
			break
		}
		if kept, ok := edit(h, value); ok {
			head := message[written : written+copy(message[written:], rest[:h.Size])]
			if len(kept) < len(value) {
				setLength(head, uint64(len(kept)))
			}
			written += len(head)
			written += copy(message[written:], kept)
		}
		rest = next
	}
	return message[:written]
}

// setLength overwrites the length at the end of a field's header with a smaller length. The new
// length has the same number of bytes, because a varint may be padded with zeros.
func setLength(head []byte, length uint64) {
	_, at := binary.Uvarint(head)
	for ; at < len(head)-1; at++ {
		head[at] = byte(length) | 0x80
		length >>= 7
	}
	head[at] = byte(length)
}
