package rest

import (
	"bytes"
	"encoding/binary"
	stdjson "encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	kinform "github.com/kinform/kinform/rest"
)

// envelope is what a list says of itself in front of its items.
type envelope struct {
	apiVersion, kind string
	meta             metav1.ListMeta
}

// setMeta sets the metadata of a list of a Go type.
func (e *envelope) setMeta(list runtime.Object) bool {
	of, ok := list.(metav1.ListMetaAccessor)
	if !ok {
		return false
	}
	meta, ok := of.GetListMeta().(*metav1.ListMeta)
	if ok {
		*meta = e.meta
	}
	return ok
}

// envelopeOf reads the envelope of a list. It gives up if anything is not where servers write it.
func envelopeOf(body []byte, encoding kinform.Encoding) (*envelope, bool) {
	if encoding == kinform.Protobuf {
		return protobufEnvelope(body)
	}
	e := &envelope{}
	decoder := stdjson.NewDecoder(bytes.NewReader(body))
	if start, err := decoder.Token(); err != nil || start != stdjson.Delim('{') {
		return nil, false
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, false
		}
		switch key {
		case "kind":
			err = decoder.Decode(&e.kind)
		case "apiVersion":
			err = decoder.Decode(&e.apiVersion)
		case "metadata":
			err = decoder.Decode(&e.meta)
		case "items":
			return e, e.kind != "" && e.meta.ResourceVersion != ""
		default:
			return nil, false
		}
		if err != nil {
			return nil, false
		}
	}
	return nil, false
}

// protobufEnvelope reads "k8s\0", the head of a runtime.Unknown, and the first field of the list within.
func protobufEnvelope(body []byte) (*envelope, bool) {
	rest, ok := bytes.CutPrefix(body, []byte("k8s\x00"))
	if !ok {
		return nil, false
	}
	head, rest, ok := field(rest, 1)
	if !ok {
		return nil, false
	}
	var kind runtime.TypeMeta
	if err := kind.Unmarshal(head); err != nil {
		return nil, false
	}
	list, _, ok := field(rest, 2)
	if !ok {
		return nil, false
	}
	meta, _, ok := field(list, 1)
	if !ok {
		return nil, false
	}
	e := &envelope{apiVersion: kind.APIVersion, kind: kind.Kind}
	return e, e.meta.Unmarshal(meta) == nil
}

// field returns the bytes of a field that data begins with, and what follows it.
func field(data []byte, number byte) (value, rest []byte, ok bool) {
	if len(data) == 0 || data[0] != number<<3|2 {
		return nil, nil, false
	}
	n, size := binary.Uvarint(data[1:])
	if size <= 0 || n > uint64(len(data)-1-size) {
		return nil, nil, false
	}
	data = data[1+size:]
	return data[:n], data[n:], true
}
