package decode

import (
	"cmp"
	"errors"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/internal/quantity"
	"github.com/kinform/kinform/rest/internal/wire"
	"github.com/kinform/kinform/rest/sharing"
)

// Type has the facts about the Go type of the objects.
type Type struct {
	Go       reflect.Type
	Kindless bool // objects come without kind and apiVersion
	// Tagged says that protobuf is decoded by the tags of the type, not by its method.
	Tagged bool
	// Unmarshal calls the type's own method for protobuf. It is nil if the type has no such method,
	// or the method must not be linked.
	Unmarshal func(data []byte, object any) error
}

// Custom is the Decoder of a program; see rest.Decoder.
type Custom interface {
	DecodeProtobuf(data []byte, object, earlier any) error
	DecodeJSON(data []byte, object any) error
}

// Options say what the objects of lists and watches are decoded with.
type Options struct {
	Custom   Custom // nil for the decoders of this package
	Protobuf bool   // the program requests only protobuf, which Custom must then decode
	Share    bool   // objects may share equal parts
	// Remove removes parts from an encoded object, in place. It is nil if nothing is removed.
	Remove func(e wire.Encoding, object []byte) []byte
}

// method says what decodes the objects in one encoding.
type method uint8

const (
	byNothing method = iota // the encoding cannot be decoded
	byType                  // Type.Unmarshal, or apimachinery's decoder of JSON
	byTags                  // the sharing.Decoder for objects that share nothing
	bySharing               // the sharing.Decoder for objects that share parts
	byCustom                // the Decoder of the program
)

// Decoder decodes objects of one type. It has no type parameter, so that a program has its code
// only once.
type Decoder struct {
	Type
	protobuf, json method
	single         method // of protobuf, for an object alone
	custom         Custom
	tables         *Tables
	guard          *quantity.Guard
	remove         func(e wire.Encoding, object []byte) []byte
}

func newDecoder(t Type, tables *Tables, guard *quantity.Guard, o Options) Decoder {
	d := Decoder{Type: t, custom: o.Custom, tables: tables, guard: guard, remove: o.Remove}
	d.choose(&o)
	return d
}

// choose sets the methods that decode objects in protobuf and in JSON. No other code chooses.
func (d *Decoder) choose(o *Options) {
	pointer := d.Go.Kind() == reflect.Pointer
	switch {
	case d.Tagged:
		d.single = byTags
	case d.Unmarshal != nil:
		d.single = byType
	}
	d.protobuf, d.json = d.single, byType
	switch {
	case o.Custom != nil:
		if d.json = byCustom; pointer && (d.single != byNothing || o.Protobuf) {
			d.protobuf = byCustom
		}
	case o.Share:
		if pointer && d.single != byNothing && IsGenerated(d.Go.Elem()) {
			d.protobuf = bySharing
		}
		if isSharedInJSON(d.Go) {
			d.json = bySharing
		}
	}
}

// Protobuf reports whether d decodes protobuf.
func (d *Decoder) Protobuf() bool { return d.protobuf != byNothing }

// updates reports whether an object in protobuf may share parts of an earlier version.
func (d *Decoder) updates() bool { return d.protobuf == bySharing || d.protobuf == byCustom }

// decodeProtobuf decodes a message by the method that choose has chosen. earlier is an earlier
// version of the object, or nil. If the sharing.Decoder cannot decode the type, such as a type of a
// later version of k8s.io/api, the message is decoded as a single object.
func (d *Decoder) decodeProtobuf(how method, data []byte, object, earlier any) error {
	switch how {
	case byCustom:
		return d.custom.DecodeProtobuf(data, object, earlier)
	case bySharing:
		err := d.tables.shared().DecodeProtobuf(data, object, earlier)
		if errors.Is(err, sharing.ErrType) {
			return d.decodeProtobuf(d.single, data, object, nil)
		}
		return err
	case byTags:
		return d.tables.Unshared().DecodeProtobuf(data, object, nil)
	default:
		return d.guard.DecodeProtobuf(data, object, d.Unmarshal)
	}
}

// decodeJSON decodes JSON by the method that choose has chosen. If the sharing.Decoder fails, the
// error is the error of apimachinery's decoder, which names the field that does not fit. A
// sharing.Decoder names only the position of the byte.
func (d *Decoder) decodeJSON(data []byte, object any) error {
	switch d.json {
	case byCustom:
		return d.custom.DecodeJSON(data, object)
	case bySharing:
		err := d.tables.shared().DecodeJSON(data, object)
		if err == nil {
			return nil
		}
		return cmp.Or(d.decodePlainJSON(data, reflect.New(reflect.TypeOf(object).Elem()).Interface()), err)
	default:
		return d.decodePlainJSON(data, object)
	}
}

// decodePlainJSON decodes JSON by apimachinery's rules. Extreme quantities, which apimachinery
// would parse for hours, are safe (G11).
func (d *Decoder) decodePlainJSON(data []byte, object any) error {
	return d.guard.DecodeJSON(data, object, kjson.UnmarshalCaseSensitivePreserveInts)
}

// Decode decodes an object. list has the kind of the list around the object, or is empty. If a
// method of the type panics, Decode panics as well.
func (d *Decoder) Decode(e wire.Encoding, data []byte, list *wire.Envelope) (any, error) {
	return d.decode(e, data, list, nil)
}

// decode is like Decode. In protobuf, earlier may be an earlier version of the object.
func (d *Decoder) decode(e wire.Encoding, data []byte, list *wire.Envelope, earlier any) (any, error) {
	if d.Go.Kind() != reflect.Pointer {
		object := reflect.New(d.Go)
		err := d.decodeJSONObject(object.Interface(), data, list)
		return object.Elem().Interface(), err
	}
	object := reflect.New(d.Go.Elem()).Interface()
	if e == wire.Protobuf {
		return object, d.decodeProtobuf(d.protobuf, data, object, earlier)
	}
	return object, d.decodeJSONObject(object, data, list)
}

func (d *Decoder) decodeJSONObject(target any, data []byte, list *wire.Envelope) error {
	if u, ok := target.(runtime.Unstructured); ok {
		return d.decodeUnstructured(u, data, list)
	}
	if err := d.decodeJSON(data, target); err != nil {
		return err
	}
	if o, ok := target.(runtime.Object); ok && d.Kindless {
		o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return nil
}

// decodeUnstructured decodes the map of an unstructured object. Servers leave out the kind in the
// items of a typed list, so an object without a kind gets the kind that its list implies. The map
// has this kind before it is decoded, because a sharing.Decoder shares the parts that the kind
// allows.
func (d *Decoder) decodeUnstructured(u runtime.Unstructured, data []byte, list *wire.Envelope) error {
	var content map[string]any
	implied := strings.TrimSuffix(list.Kind, "List")
	if implied != "" {
		content = map[string]any{"kind": implied, "apiVersion": list.APIVersion}
	}
	if err := d.decodeJSON(data, &content); err != nil {
		return err
	}
	if content == nil {
		return errors.New("null instead of an object")
	}
	if kind, _ := content["kind"].(string); kind == "" {
		if implied == "" {
			return errors.New("the object has no kind")
		}
		content["kind"] = implied
		if version, _ := content["apiVersion"].(string); version == "" {
			content["apiVersion"] = list.APIVersion
		}
	}
	u.SetUnstructuredContent(content)
	return nil
}
