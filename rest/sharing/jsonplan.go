package sharing

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/internal/quantity"
)

// jsonKind says how a value is decoded.
type jsonKind uint8

const (
	// jsonOther is a type that sigs.k8s.io/json decodes.
	jsonOther jsonKind = iota
	jsonBool
	jsonInt
	jsonUint
	jsonFloat
	jsonString
	jsonBytes
	jsonStruct
	jsonPointer
	jsonList
	jsonMap
	jsonAny
	jsonTime
	jsonQuantity
	// jsonOwn is a type that decodes itself.
	jsonOwn
)

// slot describes the values of one field of a struct, or the elements of the list in a field, and
// so on. Each slot decides separately whether look-ups are worth their time; see lookupPolicy.
type slot struct {
	kind      jsonKind
	typ       reflect.Type
	size      uintptr       // of the type
	plan      *jsonPlan     // of a struct
	elem      *slot         // of the pointee, of the elements of a list, or of the values of a map
	typeID    int           // identifies the type of a shared value
	whole     *lookupPolicy // decides whether to look up the whole value; nil means never
	text      *lookupPolicy // decides whether to look up a string, or the keys of a map
	ownMemory bool          // a string that must have its own memory
	name      string        // the name of the field, for Mutation

	// isQuantityMap says that the type is a map of quantities.
	isQuantityMap bool

	// mutable says that another decoder decodes the type, and that the type contains a Quantity.
	// Methods that seem only to read may change a Quantity, so the value must not be shared.
	mutable bool

	// setText sets the text of managed fields. It is nil for other types.
	setText func(at unsafe.Pointer, text string)

	// guarded says that the type has a method that may parse any text as a quantity.
	guarded bool
}

// jsonPlan says how to decode a JSON object into a struct.
type jsonPlan struct {
	typ    reflect.Type
	fields []jsonField
	byName map[string]int // index in the slice fields
}

type jsonField struct {
	slot
	name   string
	start  string // the quoted name and the colon
	offset uintptr
}

// maxFields limits the fields of a struct, because a bit set has one bit for each. No type comes
// near this number.
const maxFields = 256

// maxNest limits how deep lists, maps and pointers of a type may be nested without a struct between
// them.
const maxNest = 16

var (
	jsonUnmarshalerType = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// jsonCompiler makes slots and plans. Its caller holds the decoder's lock.
type jsonCompiler struct {
	compiler
	name string // of the field for which slots are being made
}

// slot returns a new slot for a type. addressed says that the values are pointees. The methods of
// an unnamed type are used only for pointees.
func (c *jsonCompiler) slot(t reflect.Type, addressed bool, nest int) slot {
	sl := slot{typ: t, size: t.Size(), name: c.name}
	p := reflect.PointerTo(t)
	own := addressed || t.Name() != ""
	switch k := t.Kind(); {
	case nest > maxNest, t == reflect.TypeFor[json.Number]():
	case t == reflect.TypeFor[metav1.Time]():
		sl.kind = jsonTime
	case t == reflect.TypeFor[resource.Quantity]():
		sl.kind = jsonQuantity
	case k == reflect.Pointer:
		sl.kind = jsonPointer
		c.setElem(&sl, t.Elem(), true, nest)
	case own && p.Implements(jsonUnmarshalerType):
		sl.kind, sl.setText = jsonOwn, fieldsV1Setter(t)
	case own && p.Implements(textUnmarshalerType):
	case k == reflect.Bool:
		sl.kind = jsonBool
	case k >= reflect.Int && k <= reflect.Int64:
		sl.kind = jsonInt
	case k >= reflect.Uint && k <= reflect.Uintptr:
		sl.kind = jsonUint
	case k == reflect.Float32 || k == reflect.Float64:
		sl.kind = jsonFloat
	case k == reflect.String:
		sl.kind, sl.text = jsonString, c.newTextLookupPolicy()
	case k == reflect.Struct:
		if sl.plan = c.plan(t); sl.plan != nil {
			sl.kind = jsonStruct
		}
	case k == reflect.Slice && t.Elem() == reflect.TypeFor[byte]():
		sl.kind = jsonBytes
	case k == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		sl.kind = jsonList
		c.setElem(&sl, t.Elem(), false, nest)
	case k == reflect.Map && t.Key().Kind() == reflect.String && !reflect.PointerTo(t.Key()).Implements(textUnmarshalerType):
		sl.kind, sl.text, sl.isQuantityMap = jsonMap, c.newTextLookupPolicy(), isQuantityMap(t)
		c.setElem(&sl, t.Elem(), false, nest)
	case k == reflect.Interface && t.NumMethod() == 0:
		sl.kind = jsonAny
	}
	if sl.kind == jsonOther || sl.kind >= jsonQuantity {
		sl.guarded = !quantity.ParsesNoQuantity(t)
		sl.mutable = hasQuantity(t, map[reflect.Type]bool{})
	}
	return sl
}

// hasQuantity reports whether a value of a type may contain a Quantity.
func hasQuantity(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == reflect.TypeFor[resource.Quantity]() {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return hasQuantity(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if hasQuantity(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

// setElem prepares a slot with elements, whose values are looked up as a whole.
func (c *jsonCompiler) setElem(sl *slot, elem reflect.Type, addressed bool, nest int) {
	outer := c.pathPolicy
	if sl.kind != jsonPointer {
		c.pathPolicy = outer.element()
	}
	e := c.slot(elem, addressed, nest+1)
	c.pathPolicy = outer
	sl.elem, sl.typeID = &e, c.jsonTypeID(sl.typ)
	if sl.whole = c.newLookupPolicy(); e.kind == jsonString && sl.kind == jsonPointer {
		sl.whole = e.text
	} else {
		sl.whole.immutable = c.pathPolicy.isImmutable()
	}
}

// anySlot returns a slot for values in an interface.
func (c *jsonCompiler) anySlot() slot {
	t := reflect.TypeFor[any]()
	return slot{kind: jsonAny, typ: t, typeID: c.jsonTypeID(t), whole: c.newLookupPolicy()}
}

// jsonTypeID returns the number of a type of shared values. It differs from the type's number for
// protobuf, because in protobuf equal bytes mean other values.
func (c *jsonCompiler) jsonTypeID(t reflect.Type) int {
	typeIDs := c.decoder.json.typeIDs
	n, ok := typeIDs[t]
	if !ok {
		n = -1 - len(typeIDs)
		typeIDs[t] = n
	}
	return n
}

// plan returns the plan of a struct. It returns nil if the struct has features that Kubernetes does
// not use: two fields with the same name, an unusual name, an embedded pointer, the option
// "string", or more than maxFields fields.
func (c *jsonCompiler) plan(t reflect.Type) *jsonPlan {
	plans := c.decoder.json.plans
	key := typeAtPath{t, c.pathPolicy}
	if p, ok := plans[key]; ok {
		return p
	}
	p := &jsonPlan{typ: t, byName: map[string]int{}}
	plans[key] = p
	if !isSimple(t, map[string]bool{}) {
		plans[key] = nil
		return nil
	}
	c.fields(p, t, 0)
	for i, f := range p.fields {
		p.byName[f.name] = i
	}
	return p
}

// isSimple reports whether a struct has only features that a plan supports. It adds the names of
// its fields to names.
func isSimple(t reflect.Type, names map[string]bool) bool {
	for i := range t.NumField() {
		sf := t.Field(i)
		name, options, embedded := jsonTag(sf)
		switch {
		case sf.Anonymous && sf.Type.Kind() == reflect.Pointer, strings.Contains(options, "string"), strings.ContainsFunc(name, unusual):
			return false
		case embedded:
			if !isSimple(sf.Type, names) {
				return false
			}
		case name != "":
			if names[name] || len(names) == maxFields {
				return false
			}
			names[name] = true
		}
	}
	return true
}

// unusual reports whether a character in a name may be forbidden or need an escape.
func unusual(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:$", r)
}

// fields adds to a plan the fields of a struct, including the fields of embedded structs.
func (c *jsonCompiler) fields(p *jsonPlan, t reflect.Type, offset uintptr) {
	for i := range t.NumField() {
		sf := t.Field(i)
		name, _, embedded := jsonTag(sf)
		switch {
		case embedded:
			c.fields(p, sf.Type, offset+sf.Offset)
		case name != "":
			outer, about := c.pathPolicy, c.name
			c.pathPolicy = outer.member([]byte(name))
			c.name = t.String() + "." + sf.Name
			f := jsonField{slot: c.slot(sf.Type, false, 0), name: name, start: `"` + name + `":`, offset: offset + sf.Offset}
			c.pathPolicy, c.name = outer, about
			f.ownMemory = p.typ == reflect.TypeFor[metav1.ObjectMeta]() && isIdentity(sf.Name)
			p.fields = append(p.fields, f)
		}
	}
}

// jsonTag returns the name of a field in JSON, or "" if JSON leaves the field out. embedded says
// that JSON has the fields of the embedded struct instead of the field itself.
func jsonTag(sf reflect.StructField) (name, options string, embedded bool) {
	tag := sf.Tag.Get("json")
	if tag == "-" || !sf.IsExported() && !(sf.Anonymous && sf.Type.Kind() == reflect.Struct) {
		return "", "", false
	}
	name, options, _ = strings.Cut(tag, ",")
	if name == "" {
		name = sf.Name
		embedded = sf.Anonymous && sf.Type.Kind() == reflect.Struct
	}
	return name, options, embedded
}
