package quantity

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// maxDepth is the largest depth of nested JSON values, as in encoding/json.
const maxDepth = 10_000

var (
	quantityType   = reflect.TypeFor[resource.Quantity]()
	unmarshalsJSON = reflect.TypeFor[json.Unmarshaler]()
	unmarshalsText = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// UnmarshalJSON does the same as q.UnmarshalJSON, in bounded time.
func UnmarshalJSON(q *resource.Quantity, data []byte) error {
	text := bytes.TrimSpace(bytes.Trim(data, `"`))
	if simplified, ok := defaultLimits.simplify(string(text)); ok {
		data = []byte(`"` + simplified + `"`)
	}
	return q.UnmarshalJSON(data)
}

// ParsesNoQuantity reports whether a type that decodes itself from JSON is known not to parse
// quantities.
func ParsesNoQuantity(t reflect.Type) bool { return place{}.within(t).typ == nil }

// document is JSON in which extreme quantities are replaced before a decoder reads it. The decoder
// follows the rules of encoding/json with case-sensitive keys.
type document struct {
	data  []byte
	names map[reflect.Type]map[string]reflect.Type // of the fields of structs
	// the start and end of extreme texts that may be quantities
	unresolved [][2]int
}

// place says how the decoder decodes the value at one place of the document.
type place struct {
	typ reflect.Type // nil if the value has no quantity

	// opaque says that a user's method decodes this value, or a value that contains it.
	opaque bool
	// quantity says that the decoder parses a text or a number at this place as a quantity.
	quantity bool
}

// within returns the place of a value of type t within a value at place p.
func (p place) within(t reflect.Type) place {
	if t == nil {
		return place{opaque: p.opaque}
	}
	methods := t.Name() != ""
	for ; t.Kind() == reflect.Pointer; t = t.Elem() {
		methods = true
	}
	p = place{typ: t, opaque: p.opaque}
	to := reflect.PointerTo(t)
	switch pkg := t.PkgPath(); {
	case pkg == quantityType.PkgPath():
		p.quantity = true
	case methods && (to.Implements(unmarshalsJSON) || to.Implements(unmarshalsText)):
		if strings.HasPrefix(pkg, "k8s.io/") || pkg == "encoding/json" {
			return place{} // these types parse no quantities
		}
		p.opaque, p.quantity = true, embedsQuantity(t)
	case strings.HasPrefix(pkg, "k8s.io/"):
		p.opaque = false // for example metadata: no method of the user decodes it
	}
	return p
}

// embedsQuantity reports whether a type has the methods of a quantity because it embeds one.
func embedsQuantity(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && (f.Type == quantityType || f.Type == reflect.PointerTo(quantityType)) {
			return true
		}
	}
	return false
}

// value replaces the extreme quantities in the value that starts at i, after optional white space.
// It returns the end of the value, or -1 if the value is malformed.
func (d *document) value(i int, p place, depth int) int {
	i = d.space(i)
	if i == len(d.data) || depth > maxDepth {
		return -1
	}
	switch d.data[i] {
	case '{':
		return d.members(i, '}', p, depth)
	case '[':
		return d.members(i, ']', p, depth)
	case '"':
		end := d.stringEnd(i)
		if end >= 0 {
			d.text(i+1, end-1, p)
		}
		return end
	}
	end := i
	for end < len(d.data) && !strings.ContainsRune(",:]}{[\" \t\r\n", rune(d.data[end])) {
		end++
	}
	if end == i {
		return -1
	}
	d.text(i, end, p)
	return end
}

// members does the work of value for an object or a list.
func (d *document) members(i int, closing byte, p place, depth int) int {
	var elem reflect.Type
	var names map[string]reflect.Type
	var keys place
	if t := p.typ; t != nil {
		switch t.Kind() {
		case reflect.Map:
			elem, keys = t.Elem(), place{opaque: p.opaque}.within(t.Key())
			keys.quantity = false
		case reflect.Slice, reflect.Array:
			elem = t.Elem()
		case reflect.Struct:
			names = d.fields(t)
		}
	}
	if i = d.space(i + 1); i < len(d.data) && d.data[i] == closing {
		return i + 1
	}
	for {
		elemType := elem
		if closing == '}' {
			start := i
			if i >= len(d.data) || d.data[i] != '"' {
				return -1
			}
			if i = d.stringEnd(i); i < 0 {
				return -1
			}
			if d.text(start+1, i-1, keys); names != nil {
				elemType = names[d.plain(start, i)]
			}
			if i = d.space(i); i >= len(d.data) || d.data[i] != ':' {
				return -1
			}
			i++
		}
		if i = d.value(i, p.within(elemType), depth+1); i < 0 {
			return -1
		}
		if i = d.space(i); i >= len(d.data) {
			return -1
		}
		switch d.data[i] {
		case closing:
			return i + 1
		case ',':
			i = d.space(i + 1)
		default:
			return -1
		}
	}
}

// text checks a text or a number. If it is an extreme quantity, text replaces it by an equal
// quantity that is not longer, padded with spaces, which decoders trim.
func (d *document) text(from, to int, p place) {
	text := d.data[from:to]
	if !p.opaque && !p.quantity {
		return
	}
	if quoted := from > 0 && d.data[from-1] == '"'; quoted && p.opaque && !p.quantity && bytes.IndexByte(text, '\\') >= 0 {
		text = []byte(d.plain(from-1, to+1))
	}
	text = bytes.TrimSpace(text)
	simplified, ok := defaultLimits.simplify(string(text))
	switch {
	case !ok:
	case p.quantity && len(simplified) <= len(text):
		for n := copy(text, simplified); n < len(text); n++ {
			text[n] = ' '
		}
	default:
		d.unresolved = append(d.unresolved, [2]int{from, to})
	}
}

// plain returns the text of the string whose quotes are at the indices from and to.
func (d *document) plain(from, to int) string {
	if bytes.IndexByte(d.data[from:to], '\\') < 0 {
		return string(d.data[from+1 : to-1])
	}
	var text string
	_ = json.Unmarshal(d.data[from:to], &text) // a malformed string is not the name of a field
	return text
}

// stringEnd returns the end of the string that starts at i, or -1.
func (d *document) stringEnd(i int) int {
	for i++; i < len(d.data); i++ {
		switch d.data[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

func (d *document) space(i int) int {
	for i < len(d.data) && (d.data[i] == ' ' || d.data[i] == '\n' || d.data[i] == '\t' || d.data[i] == '\r') {
		i++
	}
	return i
}

// fields returns the types of the fields of a struct, by their names in JSON. If several fields
// have the same name, the least nested field wins. Among equally nested fields, the field whose tag
// has the name wins.
func (d *document) fields(t reflect.Type) map[string]reflect.Type {
	if names, ok := d.names[t]; ok {
		return names
	}
	type candidate struct {
		typ    reflect.Type
		tagged bool
		others bool
	}
	names := map[string]reflect.Type{}
	seen := map[reflect.Type]bool{t: true}
	for level := []reflect.Type{t}; len(level) > 0; {
		var deeper []reflect.Type
		found := map[string]candidate{}
		for _, t := range level {
			for i := range t.NumField() {
				f := t.Field(i)
				tag := f.Tag.Get("json")
				name, _, _ := strings.Cut(tag, ",")
				target := f.Type
				if f.Anonymous && target.Kind() == reflect.Pointer {
					target = target.Elem()
				}
				embedded := f.Anonymous && target.Kind() == reflect.Struct
				switch {
				case tag == "-" || !f.IsExported() && !embedded:
					continue
				case embedded && name == "":
					if !seen[target] {
						seen[target] = true
						deeper = append(deeper, target)
					}
					continue
				}
				c := candidate{typ: f.Type, tagged: name != ""}
				if name == "" {
					name = f.Name
				}
				switch before, ok := found[name]; {
				case !ok || c.tagged && !before.tagged:
					found[name] = c
				case c.tagged == before.tagged:
					before.others = true
					found[name] = before
				}
			}
		}
		for name, c := range found {
			if _, ok := names[name]; !ok {
				if c.others {
					c.typ = nil
				}
				names[name] = c.typ
			}
		}
		level = deeper
	}
	if d.names == nil {
		d.names = map[reflect.Type]map[string]reflect.Type{}
	}
	d.names[t] = names
	return names
}
