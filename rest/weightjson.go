package rest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/rest/internal/wire"
)

// These are the bytes of memory of JSON that is decoded as an unstructured object: a map, the room
// for its first members, each further member, a list, and each element with the room that append
// leaves.
const (
	anyMap     = 48
	anyRoom    = 240 // for eight members
	anyMember  = 48
	anyList    = 40
	anyElement = 32
)

// jsonScales say how much memory the JSON of a value of one type may take.
type jsonScales struct {
	// Struct, Slice, Map, Pointer, Interface; or Func for a type that decodes itself
	kind   reflect.Kind
	cost   int                    // memory of each element, entry or pointee
	elem   *jsonScales            // scales of the elements, the entries or the pointee
	fields map[string]*jsonScales // of a struct, by name and by folded name; nil for light fields

	heavy   bool // it has fields that cost memory
	largest int  // largest cost within; set in the root only
	repeats bool // the type contains itself; set in the root only
}

// quadratic bounds the bytes that a method UnmarshalJSON reads if its type contains itself: it
// reads the innermost bytes once for each level.
const quadratic = 1 << 30

// weighJSON does the work of weigh for JSON. It skips an object that has too few parts to take much
// memory.
func (s *scales) weighJSON(w weighing, data []byte, size wire.JSONSize) error {
	scales := s.json()
	if size.Depth > w.depth || scales.repeats && size.Depth > 128 && size.Depth*len(data) > quadratic {
		return s.verdict(errDeep, data)
	}
	if int64(size.Parts)*int64(scales.largest) <= w.left || scales.kind == reflect.Interface && len(data) <= weighAll {
		return nil
	}
	w.largest = scales.largest
	_, err := w.json(scales, data, wire.Space(data, 0))
	return s.verdict(err, data)
}

// json weighs the value at data[i], and returns where it ends. An error that is not about weight
// means that the end cannot be found. Other malformed values are left to the decoder.
func (w *weighing) json(s *jsonScales, data []byte, i int) (end int, err error) {
	if i >= len(data) {
		return 0, errShortJSON
	}
	c := data[i]
	for s != nil && s.kind == reflect.Pointer && c != 'n' {
		// A decoder allocates the pointee before it notices that a value does not fit.
		if w.left -= int64(s.cost); w.left < 0 {
			return 0, errHeavy
		}
		s = s.elem
	}
	if c != '{' && c != '[' {
		var scan wire.JSONScan
		n, ok := scan.End(data[i:])
		if ok && n == 0 || !ok && c == '"' {
			return 0, errShortJSON
		}
		if !ok {
			n = len(data) - i
		}
		return i + n, nil
	}
	if w.depth--; w.depth < 0 {
		return 0, errDeep
	}
	closing, first := c+2, true // in ASCII
	empty, _ := wire.AfterByte(data[i+1:], closing)
	elem, member := w.container(s, c, empty != nil)
	for i++; ; first = false {
		i = wire.Space(data, i)
		switch {
		case i >= len(data):
			return 0, errShortJSON
		case data[i] == closing:
			w.depth++
			return i + 1, nil
		case first:
		case data[i] != ',':
			return 0, errShortJSON
		default:
			i++
			i = wire.Space(data, i)
		}
		in := elem
		if c == '{' {
			var scan wire.JSONScan
			n, ok := scan.End(data[i:])
			if !ok || n == 0 || data[i] != '"' {
				return 0, errShortJSON
			}
			if s != nil && s.kind == reflect.Struct {
				in = s.field(wire.JSONText(data[i : i+n]))
			}
			rest, ok := wire.AfterByte(data[i+n:], ':')
			if !ok {
				return 0, errShortJSON
			}
			i = wire.Space(data, len(data)-len(rest))
		}
		if w.left -= int64(member); w.left < 0 {
			return 0, errHeavy
		}
		if i, err = w.json(in, data, i); err != nil {
			return 0, err
		}
	}
}

// container counts an object or a list. It returns the scales of its elements, and the memory of
// each element.
func (w *weighing) container(s *jsonScales, c byte, empty bool) (elem *jsonScales, member int) {
	switch {
	case s == nil:
		return nil, 0
	case s.kind == reflect.Interface && c == '{':
		if w.left -= anyMap; !empty {
			w.left -= anyRoom
		}
		return s, anyMember
	case s.kind == reflect.Interface:
		w.left -= anyList
		return s, anyElement
	case s.kind == reflect.Slice && c == '[', s.kind == reflect.Map && c == '{':
		return s.elem, s.cost
	case s.kind == reflect.Func && c == '{':
		w.left -= int64(w.largest)
		return s, 0
	case s.kind == reflect.Func:
		return s, w.largest
	}
	return nil, 0
}

// field returns the scales of a field. Names match in any case, because a user's decoder may match
// names in any case, as encoding/json does.
func (s *jsonScales) field(name []byte) *jsonScales {
	in, ok := s.fields[string(name)]
	if !ok {
		in = s.fields[folded(string(name))]
	}
	return in
}

// folded returns the same text for all names that differ only in case: it replaces each letter by
// the variant with the lowest code point.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}

// errShortJSON is the error for a value whose end is missing.
var errShortJSON = fmt.Errorf("%w: JSON: a value is not complete", ErrMalformed)

// jsonTypes makes the scales of types.
type jsonTypes struct {
	structs map[reflect.Type]*jsonScales
	pending map[reflect.Type]bool
	largest int
	repeats bool
}

func newJSONScales(t reflect.Type) *jsonScales {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[runtime.Unstructured]()) || t == reflect.TypeFor[map[string]any]() {
		t = reflect.TypeFor[any]()
	}
	c := jsonTypes{structs: map[reflect.Type]*jsonScales{}, pending: map[reflect.Type]bool{}}
	root := jsonScales{}
	if s := c.of(t, 0); s != nil {
		root = *s
	}
	root.largest, root.repeats = c.largest, c.repeats
	return &root
}

// maxWeighedNest limits how deep lists, maps and pointers of a type may be nested without a struct
// between them.
const maxWeighedNest = 16

// of returns the scales for a type. It returns nil for a type whose values take little memory, and
// for a type that decodes itself in its own way.
func (c *jsonTypes) of(t reflect.Type, nest int) *jsonScales {
	switch k := t.Kind(); {
	case nest > maxWeighedNest:
	case k == reflect.Interface:
		if t.NumMethod() > 0 {
			return nil // JSON cannot be decoded into it
		}
		c.largest = max(c.largest, anyMap+anyRoom+anyMember)
		return &jsonScales{kind: k}
	case k == reflect.Pointer:
		return c.elements(t, int(t.Elem().Size()), nest)
	case k == reflect.Struct:
		return c.structure(t)
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
	case k == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return c.elements(t, int(t.Elem().Size()), nest)
	case k == reflect.Map:
		return c.elements(t, mapEntry(t), nest)
	}
	return nil
}

func (c *jsonTypes) elements(t reflect.Type, cost, nest int) *jsonScales {
	c.largest = max(c.largest, cost)
	return &jsonScales{kind: t.Kind(), cost: cost, elem: c.of(t.Elem(), nest+1)}
}

// structure returns the scales of a struct. If the struct decodes itself, it is unknown which of
// its bytes become which values. If these values may take much memory, every object within it
// counts as the largest one.
func (c *jsonTypes) structure(t reflect.Type) *jsonScales {
	if s, ok := c.structs[t]; ok {
		c.repeats = c.repeats || c.pending[t]
		return s
	}
	s := &jsonScales{kind: reflect.Struct, fields: map[string]*jsonScales{}}
	c.structs[t], c.pending[t] = s, true
	c.addFields(s, t)
	c.pending[t] = false
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		heavy := s.heavy
		*s = jsonScales{kind: reflect.Func, fields: s.fields}
		if !heavy {
			*s = jsonScales{}
		}
	}
	return s
}

// addFields adds the fields of a struct, including the fields of embedded structs.
func (c *jsonTypes) addFields(s *jsonScales, t reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		embedded := field.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		switch {
		case name == "-" && options == "", !field.IsExported() && !field.Anonymous:
		case name == "" && field.Anonymous && embedded.Kind() == reflect.Struct && !c.pending[embedded]:
			c.addFields(s, embedded)
		default:
			name = orDefault(name, field.Name)
			in := c.of(field.Type, 0)
			if in != nil && in.kind == reflect.Invalid {
				in = nil
			}
			s.fields[name] = in
			if _, taken := s.fields[folded(name)]; !taken {
				s.fields[folded(name)] = in
			}
			s.heavy = s.heavy || in != nil
		}
	}
}
