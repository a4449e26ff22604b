package rest

import (
	"errors"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// decoder makes objects of bytes.
type decoder[T any] struct {
	elem reflect.Type // what T points to, nil if T is not a pointer

	// unmarshal decodes protobuf, nil if T cannot.
	unmarshal func(object T, data []byte) error

	json    func(data []byte, object any) error
	builtin bool                                   // objects come without kind and apiVersion
	project func(e Encoding, object []byte) []byte // nil if nothing is removed
}

// streaming is the decoder for lists and watches, which does what the user wants.
func (d decoder[T]) streaming(opts ResourceOptions) decoder[T] {
	if decode := opts.DecodeProtobuf; decode != nil && d.elem != nil {
		d.unmarshal = func(object T, data []byte) error { return decode(data, object) }
	}
	if opts.DecodeJSON != nil {
		d.json = opts.DecodeJSON
	}
	if opts.Project != nil {
		d.project = opts.Project.projector(d.elem)
	}
	return d
}

// pointee is what T points to, nil if T is not a pointer.
func pointee[T any]() reflect.Type {
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return nil
}

// decode makes an object of its encoding. list is what the list around it says
// about itself, or empty. It panics where a method of T does.
func (d decoder[T]) decode(e Encoding, data []byte, list *envelope) (none T, err error) {
	if d.elem == nil {
		var object T
		err = d.decodeJSON(&object, data, list)
		return object, err
	}
	object := reflect.New(d.elem).Interface().(T)
	if e == Protobuf {
		err = d.unmarshal(object, data)
	} else {
		err = d.decodeJSON(object, data, list)
	}
	if err != nil {
		return none, err
	}
	return object, nil
}

func (d decoder[T]) decodeJSON(target any, data []byte, list *envelope) error {
	if u, ok := target.(runtime.Unstructured); ok {
		return decodeUnstructured(u, d.json, data, list)
	}
	if err := d.json(data, target); err != nil {
		return err
	}
	if o, ok := target.(runtime.Object); ok && d.builtin {
		o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return nil
}

// decodeUnstructured fills a map. An object without a kind gets what its list
// implies, since the server leaves it out of the items of a typed list.
func decodeUnstructured(u runtime.Unstructured, decode func([]byte, any) error, data []byte, list *envelope) error {
	var content map[string]any
	if err := decode(data, &content); err != nil {
		return err
	}
	if content == nil {
		return errors.New("null instead of an object")
	}
	if kind, _ := content["kind"].(string); kind == "" {
		kind = strings.TrimSuffix(list.kind, "List")
		if kind == "" {
			return errors.New("the object has no kind")
		}
		content["kind"] = kind
		if version, _ := content["apiVersion"].(string); version == "" {
			content["apiVersion"] = list.apiVersion
		}
	}
	u.SetUnstructuredContent(content)
	return nil
}

// knownFunc is [listwatch.ListOptions].Known, or nil.
type knownFunc func(key types.NamespacedName, resourceVersion string) bool

// item makes an Item of the encoding of an object. What cannot be decoded, or has
// no name, is an *ObjectError.
func (r *Resource[T]) item(x *exchange, e Encoding, data []byte, list *envelope, known knownFunc) (listwatch.Item[T], error) {
	id := identify(e, data, false)
	if known != nil && len(id.name) > 0 {
		key, version := id.key(), string(id.version)
		if known(key, version) {
			return listwatch.Item[T]{Key: key, ResourceVersion: version, Unchanged: true}, nil
		}
	}
	if project := r.streams.project; project != nil {
		data = project(e, data)
		id = identify(e, data, false) // the bytes have moved
	}
	var item listwatch.Item[T]
	err := guarded(func() (err error) {
		if item.Object, err = r.streams.decode(e, data, list); err == nil {
			item.Key, item.ResourceVersion = id.keyOf(item.Object)
		}
		return err
	})
	if err == nil && len(id.name) == 0 {
		err = errors.New("metadata.name is missing")
	}
	if err != nil {
		return listwatch.Item[T]{}, objectError(x, id, err)
	}
	return item, nil
}

// objectError reports an object that cannot be read, with the request that it
// came from.
func objectError(x *exchange, id identity, err error) *listwatch.ObjectError {
	return &listwatch.ObjectError{
		Key: id.key(), ResourceVersion: string(id.version),
		Err: &Error{Method: x.method, URL: x.url, Err: err},
	}
}
