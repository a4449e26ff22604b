package rest

import (
	"encoding/binary"
	"fmt"
)

// The protobuf encoding of Kubernetes, as far as it has to be known to find an
// object in it. Everything here works on slices of the bytes as they arrived and
// copies nothing.

// magic starts every protobuf body that is not a watch, and every object within
// a watch event.
const magic = "k8s\x00"

// The wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// errShort says that a message ends within a field.
var errShort = fmt.Errorf("%w: protobuf: a message ends within a field", ErrMalformed)

// header is the start of a field: its number, its wire type and, for fields that
// have a length, the length.
type header struct {
	field  uint64
	wire   byte
	length uint64 // of what follows the header
	size   int    // of the header itself
}

// readHeader reads the header of the field that data starts with. It answers
// errShort where more bytes may complete it. Groups, which proto2 had and
// Kubernetes never used, are refused.
func readHeader(data []byte) (header, error) {
	tag, n := binary.Uvarint(data)
	if n == 0 {
		return header{}, errShort
	}
	h := header{field: tag >> 3, wire: byte(tag & 7), size: n}
	if n < 0 || h.field == 0 || h.field > 1<<29-1 {
		return header{}, malformed("protobuf: invalid tag")
	}
	switch h.wire {
	case wireVarint:
		_, n = binary.Uvarint(data[h.size:])
		h.length = uint64(n)
	case wireFixed64:
		h.length, n = 8, 1
	case wireFixed32:
		h.length, n = 4, 1
	case wireBytes:
		h.length, n = binary.Uvarint(data[h.size:])
		h.size += n
	default:
		return header{}, malformed("protobuf: wire type %d", h.wire)
	}
	switch {
	case n == 0:
		return header{}, errShort
	case n < 0:
		return header{}, malformed("protobuf: invalid number")
	}
	return h, nil
}

// nextField takes the first field off a message. The value of a field with a
// length is its contents. Where the message is partial, its last field may be cut
// off, and its value then is what there is of it.
func nextField(message []byte, partial bool) (h header, value, rest []byte, err error) {
	h, err = readHeader(message)
	if err != nil {
		return h, nil, nil, err
	}
	rest = message[h.size:]
	if h.length > uint64(len(rest)) {
		if !partial {
			return h, nil, nil, errShort
		}
		h.length = uint64(len(rest))
	}
	return h, rest[:h.length], rest[h.length:], nil
}

// bytesField returns the contents of the last field with this number, and
// whether there is one. (Protobuf says that the last one counts.)
func bytesField(message []byte, number uint64, partial bool) (value []byte, ok bool, err error) {
	for len(message) > 0 {
		h, v, rest, err := nextField(message, partial)
		if err != nil {
			if partial {
				break
			}
			return nil, false, err
		}
		if h.field == number && h.wire == wireBytes {
			value, ok = v, true
		}
		message = rest
	}
	return value, ok, nil
}

// unwrapUnknown takes the envelope off an object: the magic number and a
// runtime.Unknown with typeMeta=1 and raw=2.
func unwrapUnknown(data []byte, partial bool) (apiVersion, kind, raw []byte, err error) {
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return nil, nil, nil, malformed("protobuf: the object does not start with the magic number")
	}
	unknown := data[len(magic):]
	typeMeta, _, err := bytesField(unknown, 1, partial)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("protobuf: envelope: %w", err)
	}
	if apiVersion, kind, err = readTypeMeta(typeMeta); err != nil {
		return nil, nil, nil, err
	}
	raw, ok, err := bytesField(unknown, 2, partial)
	if err == nil && !ok {
		err = malformed("protobuf: the envelope is empty")
	}
	return apiVersion, kind, raw, err
}

// readTypeMeta reads a runtime.TypeMeta: apiVersion=1, kind=2.
func readTypeMeta(message []byte) (apiVersion, kind []byte, err error) {
	for len(message) > 0 {
		h, value, rest, err := nextField(message, false)
		if err != nil {
			return nil, nil, fmt.Errorf("protobuf: typeMeta: %w", err)
		}
		switch {
		case h.field == 1 && h.wire == wireBytes:
			apiVersion = value
		case h.field == 2 && h.wire == wireBytes:
			kind = value
		}
		message = rest
	}
	return apiVersion, kind, nil
}
