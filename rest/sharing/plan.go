package sharing

import (
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/internal/quantity"
)

// plan says how to decode a message into a struct.
type plan struct {
	typ    reflect.Type
	list   bool    // a slice type, whose elements are the message's only field
	fields []field // by number; a missing field has the kind 0
	// own decodes a type whose encoding does not follow its fields.
	own func(at unsafe.Pointer, data []byte) error
	// setText sets the text of managed fields. It is nil for other types.
	setText func(at unsafe.Pointer, text string)
	// equal reports whether the function own would decode data to the value at an address. It may
	// be nil.
	equal func(at unsafe.Pointer, data []byte) bool
	gaps  []gap
	// hasMutable says that the struct contains mutable values.
	hasMutable bool
	// mutable says that methods which seem only to read may change a value of this type.
	mutable bool
	err     error // why the type cannot be decoded
}

// kind says how a field is encoded and how it is stored.
type kind uint8

const (
	kindBool kind = iota + 1
	kindInt32
	kindInt64
	kindBoolPointer
	kindInt32Pointer
	kindInt64Pointer
	kindBoolList
	kindInt32List
	kindInt64List
	kindString
	kindStringPointer
	kindBytes
	kindMessage
	kindMessagePointer
	kindStringList
	kindBytesList
	kindMessageList
	kindMap
)

// isVarint reports whether single values of the kind are varints on the wire.
func (k kind) isVarint() bool { return k <= kindInt64List }

// field says how to decode one field. The members that every field needs come first, to be in one
// cache line (BenchmarkPods).
type field struct {
	kind          kind
	ownMemory     bool // a string that must have its own memory
	isQuantityMap bool // a map of quantities
	offset        uintptr
	// decides whether to look up strings: the field, its elements, or the keys of a map
	text       *lookupPolicy
	whole      *lookupPolicy // decides whether to look up the whole field
	typeID     int           // identifies the type of a shared value
	plan       *plan         // of a message, of the elements of a list, or of the values of a map
	size       uintptr       // of an element of a list, or of a message
	value      *field        // the values of a map
	typ        reflect.Type  // of the field
	name       string
	structName string // the struct's type
}

// ownEncoding returns a function that decodes a type whose encoding does not follow its fields, or
// nil.
func ownEncoding(t reflect.Type) func(at unsafe.Pointer, data []byte) error {
	switch t {
	case reflect.TypeFor[metav1.Time]():
		return func(at unsafe.Pointer, data []byte) error { return (*metav1.Time)(at).Unmarshal(data) }
	case reflect.TypeFor[metav1.MicroTime]():
		return func(at unsafe.Pointer, data []byte) error { return (*metav1.MicroTime)(at).Unmarshal(data) }
	case reflect.TypeFor[metav1.FieldsV1]():
		return func(at unsafe.Pointer, data []byte) error { return (*metav1.FieldsV1)(at).Unmarshal(data) }
	case reflect.TypeFor[resource.Quantity]():
		return func(at unsafe.Pointer, data []byte) error { return quantity.Unmarshal((*resource.Quantity)(at), data) }
	}
	return nil
}

// plan returns the plan of a type. It makes the plan at the first call.
func (d *Decoder) plan(t reflect.Type) (*plan, error) {
	if p, ok := d.plans.Load(t); ok {
		return p.(*plan), p.(*plan).err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c := compiler{decoder: d, plans: map[typeAtPath]*plan{}, pathPolicy: d.policy.pathPolicyOf(t)}
	p, err := c.message(t)
	if err != nil {
		p = &plan{err: fmt.Errorf("sharing: %s %w: %w", t, ErrType, err)}
	} else {
		maps.Copy(d.planCache, c.plans)
	}
	d.plans.Store(t, p)
	return p, p.err
}

// typeAtPath is a type with the path policy of a part that has this type. Each combination has its
// own plan, and its own lookup policies.
type typeAtPath struct {
	typ    reflect.Type
	policy *pathPolicy
}

// compiler makes the plans of a type and of all types within it. Its caller holds the decoder's
// lock.
type compiler struct {
	decoder    *Decoder
	plans      map[typeAtPath]*plan // made so far; the decoder keeps them unless there is an error
	pathPolicy *pathPolicy          // of the next type to compile
}

// message makes the plan of a type that is a message on the wire.
func (c *compiler) message(t reflect.Type) (*plan, error) {
	key := typeAtPath{t, c.pathPolicy}
	if p := c.decoder.planCache[key]; p != nil {
		return p, nil
	}
	if p := c.plans[key]; p != nil {
		return p, nil
	}
	p := &plan{typ: t, own: ownEncoding(t), setText: fieldsV1Setter(t), equal: ownEquality(t), mutable: t == reflect.TypeFor[resource.Quantity]()}
	c.plans[key] = p
	switch {
	case p.own != nil:
		return p, nil
	case t.Kind() == reflect.Slice:
		// A named slice type, such as authentication's ExtraValue, is a message with the elements
		// as its only field.
		f, err := c.field(t, true)
		f.name = "items"
		p.list, p.fields = true, []field{{}, f}
		return p, err
	case t.Kind() != reflect.Struct:
		return nil, fmt.Errorf("%s is not a message", t)
	}
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, ok := sf.Tag.Lookup("protobuf")
		if !ok {
			continue
		}
		if err := c.add(p, sf, tag); err != nil {
			return nil, fmt.Errorf("%s.%s, tag %q: %w", t, sf.Name, tag, err)
		}
	}
	if len(p.fields) == 0 && t.NumField() > 0 {
		return nil, fmt.Errorf("no field of %s has a protobuf tag", t)
	}
	p.findGaps()
	return p, nil
}

// add adds a field with a tag such as "bytes,2,opt,name=spec".
func (c *compiler) add(p *plan, sf reflect.StructField, tag string) error {
	parts := strings.Split(tag, ",")
	if len(parts) < 2 {
		return fmt.Errorf("the tag has no number")
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil || number < 1 || number > maxNumber {
		return fmt.Errorf("the number must be between 1 and %d", maxNumber)
	}
	if !sf.IsExported() {
		return fmt.Errorf("the field is not exported")
	}
	outer := c.pathPolicy
	if name, _, embedded := jsonTag(sf); !embedded {
		c.pathPolicy = outer.member([]byte(name))
	}
	f, err := c.field(sf.Type, len(parts) > 2 && parts[2] == "rep")
	if f.whole != nil && c.pathPolicy.isImmutable() {
		f.whole.immutable = true
	}
	c.pathPolicy = outer
	if err != nil {
		return err
	}
	// The Go type decides between the two encodings, because some tags of Kubernetes are wrong.
	if encoding := parts[0]; encoding != "bytes" && encoding != "varint" {
		return fmt.Errorf("the encoding %q is not known", encoding)
	}
	f.offset, f.name, f.structName = sf.Offset, sf.Name, p.typ.String()
	f.ownMemory = p.typ == reflect.TypeFor[metav1.ObjectMeta]() && isIdentity(sf.Name)
	for len(p.fields) <= number {
		p.fields = append(p.fields, field{})
	}
	p.fields[number] = f
	p.hasMutable = p.hasMutable || f.kind == kindMessage && (f.plan.mutable || f.plan.hasMutable)
	return nil
}

// isIdentity reports whether programs keep this field of metadata for longer than the object, for
// example in the key of a map.
func isIdentity(field string) bool {
	return field == "Name" || field == "Namespace" || field == "UID" || field == "ResourceVersion"
}

// maxNumber limits the numbers of fields, because they index a table.
const maxNumber = 1 << 12

// field returns how a field of a type is decoded. repeated says that the field is a list.
func (c *compiler) field(t reflect.Type, repeated bool) (f field, err error) {
	f.typ = t
	// Only a named slice type can be a message. Some tags of Kubernetes wrongly say "opt" instead
	// of "rep".
	repeated = repeated || t.Name() == ""
	switch k := t.Kind(); {
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		f.kind = kindBytes
	case k == reflect.Map:
		return c.mapField(t)
	case repeated && k == reflect.Slice:
		return c.list(t)
	case k == reflect.Bool:
		f.kind = kindBool
	case k == reflect.Int32 || k == reflect.Uint32:
		f.kind = kindInt32
	case k == reflect.Int64 || k == reflect.Uint64:
		f.kind = kindInt64
	case k == reflect.String:
		f.kind, f.text = kindString, c.newTextLookupPolicy()
	case k == reflect.Struct || k == reflect.Slice:
		f.kind, f.size = kindMessage, t.Size()
		f.plan, err = c.message(t)
	case k == reflect.Pointer:
		return c.pointer(t)
	default:
		err = fmt.Errorf("%s has no protobuf encoding", t)
	}
	return f, err
}

func (c *compiler) pointer(t reflect.Type) (f field, err error) {
	to, err := c.field(t.Elem(), false)
	f = field{typ: t.Elem(), plan: to.plan, typeID: c.typeID(t)}
	switch to.kind {
	case kindBool:
		f.kind = kindBoolPointer
	case kindInt32:
		f.kind = kindInt32Pointer
	case kindInt64:
		f.kind = kindInt64Pointer
	case kindString:
		f.kind, f.whole = kindStringPointer, to.text
	case kindMessage:
		f.kind, f.whole = kindMessagePointer, c.newLookupPolicy()
	default:
		err = fmt.Errorf("%s has no protobuf encoding", t)
	}
	return f, err
}

func (c *compiler) list(t reflect.Type) (f field, err error) {
	f = field{typ: t, size: t.Elem().Size(), typeID: c.typeID(t)}
	outer := c.pathPolicy
	c.pathPolicy = outer.element()
	element, err := c.field(t.Elem(), false)
	c.pathPolicy = outer
	if err != nil {
		return f, err
	}
	f.plan, f.text = element.plan, element.text
	switch element.kind {
	case kindBool:
		f.kind = kindBoolList
		return f, nil
	case kindInt32:
		f.kind = kindInt32List
		return f, nil
	case kindInt64:
		f.kind = kindInt64List
		return f, nil
	case kindString:
		f.kind = kindStringList
	case kindBytes:
		f.kind = kindBytesList
	case kindMessage:
		f.kind = kindMessageList
	default:
		return f, fmt.Errorf("%s cannot be repeated", t.Elem())
	}
	f.whole = c.newLookupPolicy()
	return f, nil
}

func (c *compiler) mapField(t reflect.Type) (f field, err error) {
	if t.Key().Kind() != reflect.String {
		return f, fmt.Errorf("keys of maps must be strings, not %s", t.Key())
	}
	outer := c.pathPolicy
	c.pathPolicy = outer.element()
	value, err := c.field(t.Elem(), false)
	c.pathPolicy = outer
	switch value.kind {
	case kindBool, kindInt32, kindInt64, kindString, kindBytes, kindMessage:
	default:
		if err == nil {
			err = fmt.Errorf("a map cannot have values of type %s", t.Elem())
		}
	}
	return field{
		kind: kindMap, typ: t, isQuantityMap: isQuantityMap(t), value: &value, typeID: c.typeID(t), whole: c.newLookupPolicy(), text: c.newTextLookupPolicy(),
	}, err
}

// stringTypeID is the type ID of strings.
const stringTypeID = 0

// typeID returns the number of a type of shared values.
func (c *compiler) typeID(t reflect.Type) int {
	n, ok := c.decoder.typeIDs[t]
	if !ok {
		n = len(c.decoder.typeIDs) + 1
		c.decoder.typeIDs[t] = n
	}
	return n
}

// A field is looked up as long as one look-up in lookupsPerHit finds a value. Strings need more
// hits, because copying a string is cheap.
const lookupsPerHit, textLookupsPerHit = 8, 2

// newLookupPolicy returns a new policy for a field whose whole value objects may share.
func (c *compiler) newLookupPolicy() *lookupPolicy {
	l := &lookupPolicy{id: len(c.decoder.lookupPolicies), lookupsPerHit: lookupsPerHit, window: window}
	l.enabled.Store(c.decoder.table != nil)
	c.decoder.lookupPolicies = append(c.decoder.lookupPolicies, l)
	return l
}

// newTextLookupPolicy returns a new policy for strings.
func (c *compiler) newTextLookupPolicy() *lookupPolicy {
	l := c.newLookupPolicy()
	l.lookupsPerHit, l.window = textLookupsPerHit, textWindow
	return l
}
