package budget

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/rest/internal/wire"
)

// These are the bytes of memory of JSON that is decoded as an unstructured object: a map, the space
// for its first members, each further member, a list, and each element with the spare capacity of
// append.
const (
	anyMap     = 48
	anyRoom    = 240 // for eight members
	anyMember  = 48
	anyList    = 40
	anyElement = 32
)

// jsonCosts says how much memory the JSON of a value of one type may take.
type jsonCosts struct {
	// Struct, Slice, Map, Pointer, Interface; or Func for a type that decodes itself
	kind   reflect.Kind
	cost   int                   // memory of each element, entry or pointee
	elem   *jsonCosts            // costs of the elements, the entries or the pointee
	fields map[string]*jsonCosts // of a struct, by name and by folded name; nil if not counted

	costly    bool // it has fields that cost memory
	largest   int  // largest cost within; set in the root only
	recursive bool // the type contains itself; set in the root only
}

// maxRescanBytes bounds the bytes that a method UnmarshalJSON reads if its type contains itself.
// Such a method reads the innermost bytes once for each level.
const maxRescanBytes = 1 << 30

// checkJSON does the work of Check for JSON. It skips an object that has too few parts to take much
// memory.
func (s *Estimator) checkJSON(w estimate, data []byte, size wire.JSONSize) error {
	costs := s.json()
	if size.Depth > w.depthLeft || costs.recursive && size.Depth > 128 && size.Depth*len(data) > maxRescanBytes {
		return s.addLimit(errTooDeep, data)
	}
	if int64(size.Parts)*int64(costs.largest) <= w.memoryLeft || costs.kind == reflect.Interface && len(data) <= largeObjectBytes {
		return nil
	}
	w.largest = costs.largest
	_, err := w.countJSON(costs, data, wire.Space(data, 0))
	return s.addLimit(err, data)
}

// countJSON counts the memory of the value at data[i], and returns where the value ends. The error
// errIncompleteJSON means that the end cannot be found. The decoder refuses other malformed values.
func (w *estimate) countJSON(s *jsonCosts, data []byte, i int) (end int, err error) {
	if i >= len(data) {
		return 0, errIncompleteJSON
	}
	c := data[i]
	for s != nil && s.kind == reflect.Pointer && c != 'n' {
		// A decoder allocates the pointee before it notices that a value does not fit.
		if w.memoryLeft -= int64(s.cost); w.memoryLeft < 0 {
			return 0, errOverBudget
		}
		s = s.elem
	}
	if c != '{' && c != '[' {
		var scan wire.JSONScan
		n, ok := scan.End(data[i:])
		if ok && n == 0 || !ok && c == '"' {
			return 0, errIncompleteJSON
		}
		if !ok {
			n = len(data) - i
		}
		return i + n, nil
	}
	if w.depthLeft--; w.depthLeft < 0 {
		return 0, errTooDeep
	}
	closing, first := c+2, true // in ASCII
	empty, _ := wire.AfterByte(data[i+1:], closing)
	elem, member := w.countContainer(s, c, empty != nil)
	for i++; ; first = false {
		i = wire.Space(data, i)
		switch {
		case i >= len(data):
			return 0, errIncompleteJSON
		case data[i] == closing:
			w.depthLeft++
			return i + 1, nil
		case first:
		case data[i] != ',':
			return 0, errIncompleteJSON
		default:
			i++
			i = wire.Space(data, i)
		}
		in := elem
		if c == '{' {
			var scan wire.JSONScan
			n, ok := scan.End(data[i:])
			if !ok || n == 0 || data[i] != '"' {
				return 0, errIncompleteJSON
			}
			if s != nil && s.kind == reflect.Struct {
				in = s.field(wire.JSONText(data[i : i+n]))
			}
			rest, ok := wire.AfterByte(data[i+n:], ':')
			if !ok {
				return 0, errIncompleteJSON
			}
			i = wire.Space(data, len(data)-len(rest))
		}
		if w.memoryLeft -= int64(member); w.memoryLeft < 0 {
			return 0, errOverBudget
		}
		if i, err = w.countJSON(in, data, i); err != nil {
			return 0, err
		}
	}
}

// countContainer counts an object or a list. It returns the costs of its elements, and the memory
// of each element.
func (w *estimate) countContainer(s *jsonCosts, c byte, empty bool) (elem *jsonCosts, member int) {
	switch {
	case s == nil:
		return nil, 0
	case s.kind == reflect.Interface && c == '{':
		if w.memoryLeft -= anyMap; !empty {
			w.memoryLeft -= anyRoom
		}
		return s, anyMember
	case s.kind == reflect.Interface:
		w.memoryLeft -= anyList
		return s, anyElement
	case s.kind == reflect.Slice && c == '[', s.kind == reflect.Map && c == '{':
		return s.elem, s.cost
	case s.kind == reflect.Func && c == '{':
		w.memoryLeft -= int64(w.largest)
		return s, 0
	case s.kind == reflect.Func:
		return s, w.largest
	}
	return nil, 0
}

// field returns the costs of a field. Names match in any case, because a user's decoder may match
// them in any case, like encoding/json.
func (s *jsonCosts) field(name []byte) *jsonCosts {
	in, ok := s.fields[string(name)]
	if !ok {
		in = s.fields[foldCase(string(name))]
	}
	return in
}

// foldCase returns the same text for all names that differ only in case: it replaces each letter by
// the variant with the lowest code point.
func foldCase(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}

// errIncompleteJSON is the error for a value whose end is missing.
var errIncompleteJSON = fmt.Errorf("%w: JSON: a value is not complete", wire.ErrMalformed)

// jsonCostBuilder computes the costs of types.
type jsonCostBuilder struct {
	structs   map[reflect.Type]*jsonCosts
	pending   map[reflect.Type]bool
	largest   int
	recursive bool
}

func newJSONCosts(t reflect.Type) *jsonCosts {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[runtime.Unstructured]()) || t == reflect.TypeFor[map[string]any]() {
		t = reflect.TypeFor[any]()
	}
	c := jsonCostBuilder{structs: map[reflect.Type]*jsonCosts{}, pending: map[reflect.Type]bool{}}
	root := jsonCosts{}
	if s := c.costsOf(t, 0); s != nil {
		root = *s
	}
	root.largest, root.recursive = c.largest, c.recursive
	return &root
}

// maxTypeNesting limits how deep lists, maps and pointers of a type may be nested without a struct
// between them.
const maxTypeNesting = 16

// costsOf returns the costs of a type. It returns nil for a type whose values take little memory,
// and for a type that decodes itself in its own way.
func (c *jsonCostBuilder) costsOf(t reflect.Type, nest int) *jsonCosts {
	switch k := t.Kind(); {
	case nest > maxTypeNesting:
	case k == reflect.Interface:
		if t.NumMethod() > 0 {
			return nil // JSON cannot be decoded into it
		}
		c.largest = max(c.largest, anyMap+anyRoom+anyMember)
		return &jsonCosts{kind: k}
	case k == reflect.Pointer:
		return c.elementCosts(t, int(t.Elem().Size()), nest)
	case k == reflect.Struct:
		return c.structCosts(t)
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
	case k == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return c.elementCosts(t, int(t.Elem().Size()), nest)
	case k == reflect.Map:
		return c.elementCosts(t, mapEntryBytes(t), nest)
	}
	return nil
}

func (c *jsonCostBuilder) elementCosts(t reflect.Type, cost, nest int) *jsonCosts {
	c.largest = max(c.largest, cost)
	return &jsonCosts{kind: t.Kind(), cost: cost, elem: c.costsOf(t.Elem(), nest+1)}
}

// structCosts returns the costs of a struct. If the struct decodes itself, it is unknown which
// bytes become which values. If these values may take much memory, every object within the struct
// costs as much as the largest one.
func (c *jsonCostBuilder) structCosts(t reflect.Type) *jsonCosts {
	if s, ok := c.structs[t]; ok {
		c.recursive = c.recursive || c.pending[t]
		return s
	}
	s := &jsonCosts{kind: reflect.Struct, fields: map[string]*jsonCosts{}}
	c.structs[t], c.pending[t] = s, true
	c.addFields(s, t)
	c.pending[t] = false
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		costly := s.costly
		*s = jsonCosts{kind: reflect.Func, fields: s.fields}
		if !costly {
			*s = jsonCosts{}
		}
	}
	return s
}

// addFields adds the fields of a struct, including the fields of embedded structs.
func (c *jsonCostBuilder) addFields(s *jsonCosts, t reflect.Type) {
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
			name = cmp.Or(name, field.Name)
			in := c.costsOf(field.Type, 0)
			if in != nil && in.kind == reflect.Invalid {
				in = nil
			}
			s.fields[name] = in
			if _, taken := s.fields[foldCase(name)]; !taken {
				s.fields[foldCase(name)] = in
			}
			s.costly = s.costly || in != nil
		}
	}
}
