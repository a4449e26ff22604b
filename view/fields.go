package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Field is a field of an object, with its size as JSON.
type Field struct {
	// Path is the field's JSON path, such as "metadata.managedFields". It contains only names that
	// the object's type defines. It never contains names that are content, such as label keys or
	// the keys of data.
	Path string `json:"path"`

	// Raw and Stored are the sizes of the field in bytes, on the server and in the store. A size is
	// 0 if the field is missing on that side.
	Raw    int `json:"raw"`
	Stored int `json:"stored"`

	// Entries is the number of entries in an array or a map.
	Entries int `json:"entries,omitempty"`

	// Value is the beginning of the JSON value, if Options.Values allows it.
	Value string `json:"value,omitempty"`
}

// otherFields is the path for the sum of all fields that have no path of their own. These are the
// fields that the type does not define, and the fields beyond maxFields. The author of an untyped
// object could create a hundred thousand fields.
const otherFields = "(other)"

// maxFields is the maximum number of separate fields of an object.
const maxFields = 300

// maxShownValue is the maximum number of bytes that the page shows of a value.
const maxShownValue = 120

// fieldsOf measures the fields of an object, two levels deep, and the whole object. The function
// set stores the size of a field in Raw or Stored.
func fieldsOf(object any, values bool, set func(*Field, int)) (fields []Field, size int, err error) {
	defer func() {
		if p := recover(); p != nil { // a method of the object's type has panicked
			err = fmt.Errorf("%T cannot be written as JSON: its method panicked", object)
		}
	}()
	text, err := json.Marshal(object)
	if err != nil {
		return nil, 0, err
	}
	values = values && mayShowValues(object)
	find := func(path string) int { return slices.IndexFunc(fields, func(f Field) bool { return f.Path == path }) }
	add := func(path string, size int, value []byte) {
		at := find(path)
		if at < 0 && len(fields) >= maxFields {
			path = otherFields
			at = find(path)
		}
		if at < 0 {
			at = len(fields)
			fields = append(fields, Field{Path: path})
		}
		f := &fields[at]
		var before Field
		set(&before, size)
		f.Raw, f.Stored, f.Entries = f.Raw+before.Raw, f.Stored+before.Stored, f.Entries+countEntries(value)
		if values && path != otherFields && !strings.HasSuffix(path, "."+otherFields) {
			f.Value = clean(string(value[:min(len(value), maxShownValue)]))
		}
	}
	names := fieldNamesOf(object)
	whole := eachMember(text, func(name string, size int, value []byte) {
		inner, known := names(name)
		if !known {
			add(otherFields, size, value)
			return
		}
		head := size - len(value)
		if inner == nil || !eachMember(value, func(part string, size int, value []byte) {
			if !inner[part] {
				part = otherFields
			}
			add(name+"."+part, size+head, value)
			head = 0 // The outer field's name counts only once.
		}) || head > 0 {
			add(name, size, value)
		}
	})
	if !whole {
		add(otherFields, len(text), text)
	}
	return fields, len(text), nil
}

// sizeOf returns the size of an object as JSON in bytes.
func sizeOf(object any) (size int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%T cannot be written as JSON: its method panicked", object)
		}
	}()
	text, err := json.Marshal(object)
	return len(text), err
}

// eachMember calls the function each for every member of a JSON object, with the member's name,
// size and value. The size includes the name and the comma. For any other JSON value, eachMember
// returns false.
func eachMember(text []byte, each func(name string, size int, value []byte)) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		from := d.InputOffset()
		t, err := d.Token()
		if err != nil {
			return true
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return true
		}
		name, _ := t.(string)
		each(name, int(d.InputOffset()-from), value)
	}
	return true
}

// countEntries counts the entries of an array or a map.
func countEntries(value []byte) (n int) {
	if eachMember(value, func(string, int, []byte) { n++ }) {
		return n
	}
	var all []json.RawMessage
	if json.Unmarshal(value, &all) != nil {
		return 0
	}
	return len(all)
}

// identifier matches names that a type could use for a field.
var identifier = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9]{0,60}$`)

// fieldNamesOf returns a function that reports whether an object's type has a field of this name.
// The function also returns the names of the fields inside that field, or nil if the inner names
// are content.
func fieldNamesOf(object any) func(name string) (inner map[string]bool, known bool) {
	if _, ok := object.(runtime.Unstructured); ok {
		return func(name string) (map[string]bool, bool) {
			if name == "metadata" {
				return keysOfMap(jsonFields(reflect.TypeFor[metav1.ObjectMeta]())), true
			}
			return nil, identifier.MatchString(name)
		}
	}
	fields := jsonFields(reflect.TypeOf(object))
	return func(name string) (map[string]bool, bool) {
		t, known := fields[name]
		if !known {
			return nil, false
		}
		return keysOfMap(jsonFields(t)), true
	}
}

func keysOfMap(fields map[string]reflect.Type) map[string]bool {
	if len(fields) == 0 {
		return nil
	}
	names := make(map[string]bool, len(fields))
	for name := range fields {
		names[name] = true
	}
	return names
}

// jsonFields returns the types of a struct's fields by their JSON names, or nil for other types.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "":
			for name, t := range jsonFields(f.Type) {
				fields[name] = t
			}
		case f.IsExported():
			if name == "" {
				name = f.Name
			}
			fields[name] = f.Type
		}
	}
	return fields
}

// mayShowValues reports whether the page may show the values of an object, if the program allows
// values. It returns false unless the object's own kind is known and is not Secret. The metadata
// alone does not contain the kind, but its annotations may contain all of the object's data.
func mayShowValues(object any) bool {
	o, ok := object.(runtime.Object)
	if !ok || reflect.ValueOf(object).Kind() != reflect.Pointer || reflect.ValueOf(object).IsNil() {
		return false
	}
	kind := o.GetObjectKind().GroupVersionKind().Kind
	if _, ok := object.(runtime.Unstructured); ok {
		return kind != "" && !mayBeSecret(kind)
	}
	t := reflect.TypeOf(object).Elem()
	return !mayBeSecret(kind) && !mayBeSecret(t.Name()) && !embedsObject(t)
}

// embedsObject reports whether a type inherits its methods from an embedded object type. Its kind
// then says nothing about its other fields.
func embedsObject(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return true
	}
	object := reflect.TypeFor[runtime.Object]()
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && (f.Type.Implements(object) || reflect.PointerTo(f.Type).Implements(object)) {
			return true
		}
	}
	return false
}

// mayBeSecret reports whether objects of this kind or Go type are Secrets, or may be Secrets.
func mayBeSecret(kind string) bool {
	return strings.Contains(strings.ToLower(kind), "secret") || strings.HasPrefix(kind, "PartialObjectMetadata")
}
