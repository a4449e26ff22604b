package rest

import (
	"bytes"
	"encoding/binary"
	stdjson "encoding/json"

	kinform "github.com/kinform/kinform/rest"
)

// emptied returns the list at the beginning of a body, without its items: a program's codec decodes that, and so says whether it
// takes the list, and what is in the list beside its items. late means that kind or metadata follow the items, as in lists of
// custom resources in JSON. ok is false if this is no list, or if anything else is not where servers write it.
func emptied(start []byte, encoding kinform.Encoding) (list []byte, late, ok bool) {
	if encoding == kinform.Protobuf {
		list, ok = emptiedProtobuf(start)
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

// emptiedProtobuf keeps "k8s\0", the kind in the head of the runtime.Unknown, and the first field of the list within, which is its
// metadata.
func emptiedProtobuf(start []byte) (list []byte, ok bool) {
	rest, ok := bytes.CutPrefix(start, protobufMagic)
	if !ok {
		return nil, false
	}
	kind, rest, ok := field(rest, 1)
	if !ok {
		return nil, false
	}
	rest, _, ok = begin(rest, 2)
	if !ok {
		return nil, false
	}
	meta, _, ok := field(rest, 1)
	if !ok {
		return nil, false
	}
	list = appendField(bytes.Clone(protobufMagic), 1, kind)
	return appendField(list, 2, appendField(nil, 1, meta)), true
}

// field returns the bytes of a field that data begins with, and what follows it.
func field(data []byte, number byte) (value, rest []byte, ok bool) {
	data, n, ok := begin(data, number)
	if !ok || n > uint64(len(data)) {
		return nil, nil, false
	}
	return data[:n], data[n:], true
}

// begin returns what follows the tag and the length of a field that data begins with, and the length.
func begin(data []byte, number byte) (rest []byte, n uint64, ok bool) {
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
