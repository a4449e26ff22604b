package quantity

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// ErrExtreme means that a Guard refuses an object, because the object may contain an extreme
	// quantity.
	ErrExtreme = errors.New("a method of the object's type decodes a quantity that may be extreme, such as 1e-1000000000, which can take hours: " +
		"make the field a resource.Quantity, which is decoded in bounded time")

	errMalformed = errors.New("the object is malformed, or nested too deep")
	errTimeout   = fmt.Errorf("decoding took more than %v and was abandoned", decodeTimeout)
	errBusy      = errors.New("decoding is not attempted, because the decoding of earlier objects has not ended")
)

// These limits are for methods of the user's types. A Guard calls such a method with an extreme
// text only if the method accepts another text in its place.
const (
	decodeTimeout = 5 * time.Second
	maxAbandoned  = 2 // goroutines that continue after their timeout
)

// Guard decodes objects in bounded time, even if they contain extreme quantities. The zero Guard is
// ready for use. A Guard is safe for concurrent use.
type Guard struct {
	abandoned atomic.Int32 // running goroutines of methods that did not return in time
	opaque    sync.Map     // of reflect.Type to bool: a user's method decodes part of the type
}

// DecodeJSON decodes JSON through the function decode, which follows the rules of encoding/json,
// with case-sensitive keys. object is a pointer to a zero value. If data contains an extreme
// quantity, decode gets a copy of data in which an equivalent text replaces the quantity.
//
// A user's method may decode a part of the type. DecodeJSON does not know which texts of such a
// part are quantities. If the part has an extreme text, DecodeJSON first calls decode with data in
// which the text is not a quantity. If this call fails, the text probably is a quantity, and
// DecodeJSON returns [ErrExtreme]. Otherwise it calls decode again in a separate goroutine, with
// the original text. It waits for five seconds, and drops a later result.
func (g *Guard) DecodeJSON(data []byte, object any, decode func(data []byte, object any) error) error {
	t := reflect.TypeOf(object).Elem()
	if at, _ := FindExtreme(false, data, 0); at < 0 && !(escaped(data) && g.isOpaque(t)) {
		return decode(data, object)
	}
	d := document{data: bytes.Clone(data)}
	end := d.value(0, place{}.within(t), 0)
	switch {
	case end < 0 || d.space(end) < len(d.data):
		return errMalformed
	case len(d.unresolved) == 0:
		return decode(d.data, object)
	}
	replaced := bytes.Clone(d.data)
	for _, part := range d.unresolved {
		text := replaced[part[0]:part[1]]
		for i := range text {
			text[i] = 'x'
		}
		if part[0] == 0 || replaced[part[0]-1] != '"' { // the text is a number
			text[0], text[len(text)-1] = '"', '"'
		}
	}
	return g.attempt(replaced, d.data, object, decode)
}

// DecodeProtobuf is DecodeJSON for a protobuf message. The type is a struct whose fields have
// protobuf tags, or has a method that decodes the message.
func (g *Guard) DecodeProtobuf(data []byte, object any, decode func(data []byte, object any) error) error {
	at, next := FindExtreme(true, data, 0)
	if at < 0 {
		return decode(data, object)
	}
	t := reflect.TypeOf(object).Elem()
	data = bytes.Clone(data)
	if tagged(t) {
		if !(messages{}).replaceQuantities(data, t, 0) {
			return errMalformed
		}
		return decode(data, object)
	}
	replaced := bytes.Clone(data)
	for ; at >= 0; at, next = FindExtreme(true, data, next) {
		replaced[at] = 'x'
	}
	return g.attempt(replaced, data, object, decode)
}

// attempt decodes an object with a method that may take any time. It first decodes the argument
// replaced, in which no text is an extreme quantity.
func (g *Guard) attempt(replaced, data []byte, object any, decode func(data []byte, object any) error) error {
	v := reflect.ValueOf(object)
	if decode(replaced, reflect.New(v.Type().Elem()).Interface()) != nil {
		return ErrExtreme
	}
	if g.abandoned.Load() >= maxAbandoned {
		return errBusy
	}
	fresh := reflect.New(v.Type().Elem())
	done := make(chan error, 1)
	var finished atomic.Bool // set by the first of the two goroutines to finish
	go func() {
		err := errors.New("the goroutine was ended while decoding")
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic while decoding: %v", p)
			}
			if done <- err; !finished.CompareAndSwap(false, true) {
				g.abandoned.Add(-1)
			}
		}()
		err = decode(data, fresh.Interface())
	}()
	timer := time.NewTimer(decodeTimeout)
	defer timer.Stop()
	select {
	case err := <-done:
		v.Elem().Set(fresh.Elem())
		return err
	case <-timer.C:
		if g.abandoned.Add(1); !finished.CompareAndSwap(false, true) {
			g.abandoned.Add(-1)
		}
		return errTimeout
	}
}

// escaped reports whether the JSON text escapes a character that may be part of a quantity. No
// encoder writes such an escape.
func escaped(data []byte) bool {
	for {
		i := bytes.Index(data, []byte(`\u00`))
		if i < 0 || i+6 > len(data) {
			return false
		}
		high, low := data[i+4], data[i+5]|0x20
		if high == '3' && isDigit(data[i+5]) || high == '2' && strings.IndexByte("bde", low) >= 0 || (high == '4' || high == '6') && low == '5' {
			return true
		}
		data = data[i+4:]
	}
}

// isOpaque reports whether a user's method decodes a type or a part of it.
func (g *Guard) isOpaque(t reflect.Type) bool {
	if known, ok := g.opaque.Load(t); ok {
		return known.(bool)
	}
	found := opaque(t, map[reflect.Type]bool{})
	g.opaque.Store(t, found)
	return found
}

func opaque(t reflect.Type, seen map[reflect.Type]bool) bool {
	p := place{}.within(t)
	if p.opaque || p.typ == nil || p.quantity || seen[p.typ] {
		return p.opaque
	}
	t = p.typ
	seen[t] = true
	switch t.Kind() {
	case reflect.Map:
		return opaque(t.Key(), seen) || opaque(t.Elem(), seen)
	case reflect.Slice, reflect.Array:
		return opaque(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if opaque(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

// tagged reports whether protobuf tags show which fields the messages of a type have.
func tagged(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if _, ok := t.Field(i).Tag.Lookup("protobuf"); ok {
			return true
		}
	}
	return false
}
