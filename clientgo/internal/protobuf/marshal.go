package protobuf

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Marshal encodes an object. The object is a pointer to a struct whose fields have protobuf tags.
func Marshal(object any) ([]byte, error) {
	v, err := structOf(object)
	if err != nil {
		return nil, err
	}
	m, err := messageOf(v.Type())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", notMarshalable{reflect.TypeOf(object)}, err)
	}
	return m.put(nil, v)
}

// structOf returns the struct that object points to, or an error if it does not point to a struct.
func structOf(object any) (reflect.Value, error) {
	v := reflect.ValueOf(object)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return v, notMarshalable{reflect.TypeOf(object)}
	}
	return v.Elem(), nil
}

// messages maps each reflect.Type that was encoded to its *message.
var messages sync.Map

func messageOf(t reflect.Type) (*message, error) {
	if known, ok := messages.Load(t); ok {
		return known.(*message), nil
	}
	c := compiler{}
	m, err := c.message(t)
	if err != nil {
		return nil, err
	}
	messages.Store(t, m)
	return m, nil
}

// message is the encoding of a message type.
type message struct {
	// encoder of a type whose encoding does not follow from its fields, or nil
	own func(v reflect.Value) ([]byte, error)
	// encoder of a named slice type, which is encoded as a message with one repeated field
	list   putter
	fields []field // in the order of their numbers
}

type field struct {
	number int
	index  int
	put    putter
}

// putter appends the encoding of the value v as the field with this number. It appends nothing if
// the encoding omits the value.
type putter func(to []byte, number int, v reflect.Value) ([]byte, error)

// put appends the contents of a message.
func (m *message) put(to []byte, v reflect.Value) (_ []byte, err error) {
	switch {
	case m.own != nil:
		data, err := m.own(v)
		return append(to, data...), err
	case m.list != nil:
		return m.list(to, 1, v)
	}
	for _, f := range m.fields {
		if to, err = f.put(to, f.number, v.Field(f.index)); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// nested appends a field whose type is a message.
func (m *message) nested(to []byte, number int, v reflect.Value) ([]byte, error) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return to, nil
	}
	return m.element(to, number, v)
}

// element appends a message that is an element of a list or a map. An element is never omitted.
func (m *message) element(to []byte, number int, v reflect.Value) ([]byte, error) {
	return appendWithLength(appendTag(to, number, wireBytes), func(to []byte) ([]byte, error) { return m.put(to, v) })
}

// appendWithLength appends the length of put's output, and then the output.
func appendWithLength(to []byte, put func([]byte) ([]byte, error)) ([]byte, error) {
	start := len(to)
	to, err := put(to)
	if err != nil {
		return nil, err
	}
	var length [binary.MaxVarintLen64]byte
	n, size := len(to)-start, 0
	size = binary.PutUvarint(length[:], uint64(n))
	to = append(to, length[:size]...)
	copy(to[start+size:], to[start:start+n])
	copy(to[start:], length[:size])
	return to, nil
}

// Wire types of fields.
const (
	wireVarint = 0
	wireBytes  = 2
)

func appendTag(to []byte, number, wire int) []byte {
	return binary.AppendUvarint(to, uint64(number)<<3|uint64(wire))
}

// notMarshalable is the error for an object that is not a message. It replaces an error type of
// apimachinery that is not exported.
type notMarshalable struct{ t reflect.Type }

func (e notMarshalable) Error() string {
	return fmt.Sprintf("object %v does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message", e.t)
}

// Status implements apierrors.APIStatus.
func (e notMarshalable) Status() metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: "NotAcceptable", Message: e.Error()}
}
