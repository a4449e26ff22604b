package rest

import (
	"bytes"
	"encoding/binary"
	stdjson "encoding/json"

	kinform "github.com/kinform/kinform/rest"
)

// withoutItems takes the beginning of a list's body, and returns the encoding of the same list
// without items. The program's codec decodes the result. The decoding shows whether the codec
// accepts the list, and sets all fields except the items. late means that kind or metadata follow
// the items, as in JSON lists of custom resources. ok is false if start is not a list, or if a
// field is in an unusual place.
func withoutItems(start []byte, encoding kinform.Encoding) (list []byte, late, ok bool) {
	if encoding == kinform.Protobuf {
		list, ok = withoutItemsProtobuf(start)
		return list, false, ok
	}
	decoder := stdjson.NewDecoder(bytes.NewReader(start))
	if token, err := decoder.Token(); err != nil || token != stdjson.Delim('{') {
		return nil, false, false
	}
	kind, metadata := false, false
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, false, false
		}
		switch key {
		case "kind":
			kind = true
		case "metadata":
			metadata = true
		case "apiVersion":
		case "items":
			list = append(start[:decoder.InputOffset():decoder.InputOffset()], `:[]}`...)
			return list, !kind || !metadata, true
		default:
			return nil, false, false
		}
		var value stdjson.RawMessage
		if decoder.Decode(&value) != nil {
			return nil, false, false
		}
	}
	return nil, false, false
}

var protobufMagic = []byte("k8s\x00")

// withoutItemsProtobuf is withoutItems for protobuf. The result has "k8s\0", the kind in the header
// of the runtime.Unknown, and the first field of the list, which is its metadata.
func withoutItemsProtobuf(start []byte) (list []byte, ok bool) {
	rest, ok := bytes.CutPrefix(start, protobufMagic)
	if !ok {
		return nil, false
	}
	kind, rest, ok := readField(rest, 1)
	if !ok {
		return nil, false
	}
	rest, _, ok = readFieldHeader(rest, 2)
	if !ok {
		return nil, false
	}
	meta, _, ok := readField(rest, 1)
	if !ok {
		return nil, false
	}
	list = appendField(bytes.Clone(protobufMagic), 1, kind)
	return appendField(list, 2, appendField(nil, 1, meta)), true
}

// readField returns the content of the field that data begins with, and the bytes after the field.
func readField(data []byte, number byte) (value, rest []byte, ok bool) {
	data, n, ok := readFieldHeader(data, number)
	if !ok || n > uint64(len(data)) {
		return nil, nil, false
	}
	return data[:n], data[n:], true
}

// readFieldHeader skips the tag and the length of the field that data begins with. It returns the
// bytes after the length, and the length.
func readFieldHeader(data []byte, number byte) (rest []byte, n uint64, ok bool) {
	if len(data) == 0 || data[0] != number<<3|2 {
		return nil, 0, false
	}
	n, size := binary.Uvarint(data[1:])
	if size <= 0 {
		return nil, 0, false
	}
	return data[1+size:], n, true
}

func appendField(to []byte, number byte, value []byte) []byte {
	return append(binary.AppendUvarint(append(to, number<<3|2), uint64(len(value))), value...)
}
