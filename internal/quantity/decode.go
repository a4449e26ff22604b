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
	// ErrExtreme says that an object is refused because of what may be a quantity in it.
	ErrExtreme = errors.New("a method of the object's type takes a text or a number for a quantity that is extreme, such as 1e-1000000000, and might be busy with it for hours; " +
		"have the field be a resource.Quantity, which is decoded in bounded time")

	errMalformed = errors.New("the object is malformed, or nested too deep")
	errOverrun   = fmt.Errorf("decoding took more than %v, and is not waited for any longer", patience)
	errBusy      = errors.New("decoding is not tried, because that of earlier objects has not come to an end")
)

// Bounds for the methods of the user's types, where a text in the object is extreme and
// they do not refuse another one in its place.
const (
	patience = 5 * time.Second
	maxLost  = 2 // goroutines that are not waited for any longer
)

// Guard has objects decoded in bounded time although there are extreme quantities in
// them. The zero Guard is ready for use, by several goroutines at once.
type Guard struct {
	lost   atomic.Int32 // decoders that nobody waits for any longer
	opaque sync.Map     // of reflect.Type to bool: a method of the user's decodes a part of it
}

// DecodeJSON has decode make an object of JSON by the rules of encoding/json, with keys
// that are case-sensitive. object is a pointer to a zero value. Where a quantity in data
// is extreme, decode gets a copy of data with a text in its place that means the same.
//
// The type may have methods that decode a part of it, of which nobody knows what they
// take for a quantity. If there is an extreme text in such a part, and no field of
// whose type is known, decode is tried with another one, that is no quantity: if this
// is refused, the object is, with [ErrExtreme]. Else decode has some seconds, in a
// goroutine of its own, and what it does after that is lost.
func (g *Guard) DecodeJSON(data []byte, object any, decode func(data []byte, object any) error) error {
	t := reflect.TypeOf(object).Elem()
	if at, _ := Suspect(false, data, 0); at < 0 && !(escaped(data) && g.isOpaque(t)) {
		return decode(data, object)
	}
	d := document{data: bytes.Clone(data)}
	end := d.value(0, place{}.of(t), 0)
	switch {
	case end < 0 || d.space(end) < len(d.data):
		return errMalformed
	case len(d.left) == 0:
		return decode(d.data, object)
	}
	spoilt := bytes.Clone(d.data)
	for _, part := range d.left {
		text := spoilt[part[0]:part[1]]
		for i := range text {
			text[i] = 'x'
		}
		if part[0] == 0 || spoilt[part[0]-1] != '"' { // It was a number.
			text[0], text[len(text)-1] = '"', '"'
		}
	}
	return g.attempt(spoilt, d.data, object, decode)
}

// DecodeProtobuf is DecodeJSON for a message: of a struct whose fields have protobuf
// tags or, in full, of a type whose method decides what is what.
func (g *Guard) DecodeProtobuf(data []byte, object any, decode func(data []byte, object any) error) error {
	at, next := Suspect(true, data, 0)
	if at < 0 {
		return decode(data, object)
	}
	t := reflect.TypeOf(object).Elem()
	data = bytes.Clone(data)
	if tagged(t) {
		if !(messages{}).tame(data, t, 0) {
			return errMalformed
		}
		return decode(data, object)
	}
	spoilt := bytes.Clone(data)
	for ; at >= 0; at, next = Suspect(true, data, next) {
		spoilt[at] = 'x'
	}
	return g.attempt(spoilt, data, object, decode)
}

// attempt has an object decoded of which nobody knows how long it takes.
func (g *Guard) attempt(spoilt, data []byte, object any, decode func(data []byte, object any) error) error {
	v := reflect.ValueOf(object)
	if decode(spoilt, reflect.New(v.Type().Elem()).Interface()) != nil {
		return ErrExtreme
	}
	if g.lost.Load() >= maxLost {
		return errBusy
	}
	fresh := reflect.New(v.Type().Elem())
	done := make(chan error, 1)
	var over atomic.Bool // one of the two is done
	go func() {
		err := errors.New("the goroutine was ended while decoding")
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic while decoding: %v", p)
			}
			if done <- err; !over.CompareAndSwap(false, true) {
				g.lost.Add(-1)
			}
		}()
		err = decode(data, fresh.Interface())
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-done:
		v.Elem().Set(fresh.Elem())
		return err
	case <-timer.C:
		if g.lost.Add(1); !over.CompareAndSwap(false, true) {
			g.lost.Add(-1)
		}
		return errOverrun
	}
}

// escaped says that JSON has an escape for what might stand in a quantity, which no
// encoder writes.
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

// isOpaque says whether a method of the user's decodes a type or a part of it.
func (g *Guard) isOpaque(t reflect.Type) bool {
	if known, ok := g.opaque.Load(t); ok {
		return known.(bool)
	}
	found := opaque(t, map[reflect.Type]bool{})
	g.opaque.Store(t, found)
	return found
}

func opaque(t reflect.Type, seen map[reflect.Type]bool) bool {
	p := place{}.of(t)
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

// tagged says whether a type shows which fields are in its messages.
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
