package sharing

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/internal/quantity"
	"github.com/kinform/kinform/rest/internal/wire"
)

// value decodes the value that starts at data[i], and stores it at an address that holds the zero
// value. It returns where the value ends.
func (s *jsonState) value(sl *slot, at unsafe.Pointer, i int) (end int, err error) {
	if i >= len(s.data) {
		return 0, wire.Unexpected(s.data, i, "a value")
	}
	c := s.data[i]
	switch {
	case sl.kind == jsonOwn || sl.kind == jsonOther:
		return s.decodeExternal(sl, at, i)
	case c == 'n':
		return wire.WordEnd(s.data, i)
	case c == '{':
		switch sl.kind {
		case jsonStruct:
			return s.object(sl.plan, at, i)
		case jsonMap:
			return s.mapping(sl, at, i)
		}
	case c == '[':
		switch sl.kind {
		case jsonList:
			return s.list(sl, (*sliceHeader)(at), i)
		case jsonBytes: // a list of numbers
			return s.decodeExternal(sl, at, i)
		}
	case c == '"':
		switch sl.kind {
		case jsonString:
			return s.text(sl, (*string)(at), i)
		case jsonTime:
			return s.time(sl, (*metav1.Time)(at), i)
		case jsonBytes:
			return s.base64(sl, (*[]byte)(at), i)
		}
	case c == 't' || c == 'f':
		if sl.kind == jsonBool {
			*(*bool)(at) = c == 't'
			return wire.WordEnd(s.data, i)
		}
	case sl.kind == jsonInt || sl.kind == jsonUint || sl.kind == jsonFloat:
		return s.number(sl, at, i)
	}
	switch sl.kind {
	case jsonPointer:
		return s.pointer(sl, (*unsafe.Pointer)(at), i)
	case jsonAny:
		*(*any)(at), end, err = s.any(nil, nil, i)
		return end, err
	case jsonQuantity, jsonTime:
		return s.decodeExternal(sl, at, i)
	}
	return 0, s.mismatch(sl, i)
}

// mismatch returns the error for a value that does not fit its type. It does not quote the value,
// which may be a secret.
func (s *jsonState) mismatch(sl *slot, i int) error {
	if _, _, err := wire.ValueEnd(s.data, i, s.depth); err != nil {
		return err
	}
	what := "number"
	switch s.data[i] {
	case '{':
		what = "object"
	case '[':
		what = "list"
	case '"':
		what = "string"
	case 't', 'f':
		what = "bool"
	}
	return fmt.Errorf("json: the %s at byte %d does not fit into %s", what, i, sl.typ)
}

// unmarshal decodes a value into the variable that its second argument points to.
func (sl *slot) unmarshal(data []byte, to any) error {
	if own, ok := to.(json.Unmarshaler); ok && sl.kind >= jsonTime {
		return own.UnmarshalJSON(data)
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(data, to)
}

// decodeExternal decodes a value by its type's own method, or by apimachinery's decoder.
func (s *jsonState) decodeExternal(sl *slot, at unsafe.Pointer, i int) (int, error) {
	end, _, err := wire.ValueEnd(s.data, i, s.depth)
	if err != nil {
		return 0, err
	}
	switch to := reflect.NewAt(sl.typ, at).Interface(); {
	case sl.kind == jsonQuantity:
		err = quantity.UnmarshalJSON((*resource.Quantity)(at), s.data[i:end])
	case sl.guarded:
		err = s.decoder.guard.DecodeJSON(s.data[i:end], to, sl.unmarshal)
	default:
		err = sl.unmarshal(s.data[i:end], to)
	}
	if err != nil {
		return 0, fmt.Errorf("json: %s at byte %d: %w", sl.typ, i, err)
	}
	if sl.mutable {
		s.mutableCount++
	}
	return end, nil
}

// enter enters an object or a list at data[i], and finds its first member or element, or its end.
func (s *jsonState) enter(i int, closing byte) (at int, more bool, err error) {
	if s.depth++; s.depth > wire.MaxDepth {
		return 0, false, wire.ErrTooDeep
	}
	if i = wire.Space(s.data, i+1); i < len(s.data) && s.data[i] == closing {
		return i + 1, false, nil
	}
	return i, true, nil
}

// key reads the key at data[i], and finds its value. The key is valid until the next call of
// stringText.
func (s *jsonState) key(i int) (key []byte, value int, err error) {
	if i >= len(s.data) || s.data[i] != '"' {
		return nil, 0, wire.Unexpected(s.data, i, "a key")
	}
	key, _, end, err := s.stringText(i)
	if err != nil {
		return nil, 0, err
	}
	value, err = wire.Colon(s.data, end)
	return key, value, err
}

// object decodes the members of an object into the fields of a struct.
func (s *jsonState) object(p *jsonPlan, at unsafe.Pointer, i int) (int, error) {
	var seen [maxFields / 64]uint64
	n := -1
	i, more, err := s.enter(i, '}')
	for more {
		if n, i, err = s.field(p, n, i); err != nil {
			return 0, err
		}
		if n < 0 {
			i, _, err = wire.ValueEnd(s.data, i, s.depth)
		} else {
			f := &p.fields[n]
			to := unsafe.Add(at, f.offset)
			switch again := seen[n/64]&(1<<(n%64)) != 0; {
			case again && !s.syntaxOnly:
				return 0, errDuplicateField
			case again:
				to = reflect.New(f.typ).UnsafePointer()
			}
			seen[n/64] |= 1 << (n % 64)
			i, err = s.value(&f.slot, to, i)
		}
		if err != nil {
			return 0, err
		}
		i, more, err = wire.NextValue(s.data, i, '}')
	}
	s.depth--
	return i, err
}

// field reads a key, and finds the struct's field and the start of the value. n is -1 if the struct
// has no such field. The argument before is the index of the previous field. Most encoders write
// fields in the order of the struct, so the method first tries the field after that one.
func (s *jsonState) field(p *jsonPlan, before, i int) (n, value int, err error) {
	if before+1 < len(p.fields) {
		if start := p.fields[before+1].start; hasPrefix(s.data, i, start) {
			return before + 1, wire.Space(s.data, i+len(start)), nil
		}
	}
	key, value, err := s.key(i)
	n, ok := p.byName[string(key)]
	if !ok {
		n = -1
	}
	return n, value, err
}

func hasPrefix(data []byte, i int, prefix string) bool {
	return len(data)-i >= len(prefix) && string(data[i:i+len(prefix)]) == prefix
}

// stringText returns the text of the string that starts at data[i]. If the string is plain, the
// text is a part of data; otherwise it is valid until the next call.
func (s *jsonState) stringText(i int) (text []byte, plain bool, end int, err error) {
	end, plain, err = wire.StringEnd(s.data, i)
	if err != nil {
		return nil, false, 0, err
	}
	text = s.data[i+1 : end-1]
	if !plain {
		s.scratch = wire.AppendText(s.scratch[:0], text)
		text = s.scratch
	}
	return text, plain, end, nil
}

// text stores a string at an address: a shared string, or a string that copyTexts will copy.
func (s *jsonState) text(sl *slot, to *string, i int) (int, error) {
	text, plain, end, err := s.stringText(i)
	if err != nil {
		return 0, err
	}
	found, missing := s.find(sl.text, stringTypeID, text)
	switch {
	case found != nil:
		*to = found.key
	case missing != nil || sl.ownMemory || !plain || len(text) == 0:
		*to = string(text)
		s.insert(missing, *to, nil, 0)
	default:
		*to = unsafe.String(&text[0], len(text))
		s.texts = append(s.texts, pendingText{field: to, at: &text[0]})
	}
	return end, nil
}

// time decodes a time. If the time is not a plain RFC 3339 string, its own method decodes it.
func (s *jsonState) time(sl *slot, to *metav1.Time, i int) (int, error) {
	text, plain, end, err := s.stringText(i)
	if err != nil || !plain || len(text) == 0 {
		return s.decodeExternal(sl, unsafe.Pointer(to), i)
	}
	t, err := time.Parse(time.RFC3339, unsafe.String(&text[0], len(text)))
	if err != nil {
		return s.decodeExternal(sl, unsafe.Pointer(to), i)
	}
	to.Time = t.Local()
	return end, nil
}

func (s *jsonState) base64(sl *slot, to *[]byte, i int) (int, error) {
	text, _, end, err := s.stringText(i)
	if err != nil {
		return 0, err
	}
	b := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(b, text)
	if err != nil {
		return 0, fmt.Errorf("json: %s at byte %d: %w", sl.typ, i, err)
	}
	*to = b[:n]
	return end, nil
}

// number decodes the number that starts at data[i], and stores it at an address.
func (s *jsonState) number(sl *slot, at unsafe.Pointer, i int) (int, error) {
	end, err := wire.NumberEnd(s.data, i)
	if err != nil {
		return 0, err
	}
	text := unsafe.String(&s.data[i], end-i)
	bits := int(sl.size) * 8
	switch sl.kind {
	case jsonInt:
		var n int64
		n, err = strconv.ParseInt(text, 10, bits)
		switch sl.size {
		case 1:
			*(*int8)(at) = int8(n)
		case 2:
			*(*int16)(at) = int16(n)
		case 4:
			*(*int32)(at) = int32(n)
		default:
			*(*int64)(at) = n
		}
	case jsonUint:
		var n uint64
		n, err = strconv.ParseUint(text, 10, bits)
		switch sl.size {
		case 1:
			*(*uint8)(at) = uint8(n)
		case 2:
			*(*uint16)(at) = uint16(n)
		case 4:
			*(*uint32)(at) = uint32(n)
		default:
			*(*uint64)(at) = n
		}
	default:
		var n float64
		n, err = strconv.ParseFloat(text, bits)
		if sl.size == 4 {
			*(*float32)(at) = float32(n)
		} else {
			*(*float64)(at) = n
		}
	}
	if err != nil {
		return 0, s.mismatch(sl, i)
	}
	return end, nil
}
