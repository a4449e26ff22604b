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

// Field is a part of an object, with its size as JSON.
type Field struct {
	// Path is its name in JSON, such as "metadata.managedFields": names of the object's type. A name that is content, as
	// those of labels or of data are, is never in it.
	Path string `json:"path"`

	// Raw and Stored are the bytes of the object that the server has and of the one in the store; 0 where it is not there.
	Raw    int `json:"raw"`
	Stored int `json:"stored"`

	// Entries is how many there are in an array or a map.
	Entries int `json:"entries,omitempty"`

	// Value is the beginning of its JSON, where Options.Values lets the page show it.
	Value string `json:"value,omitempty"`
}

// other is the path of fields whose names the type does not say, and of those after mostFields: an object without a type may have
// a hundred thousand, whose writer decides on that.
const other = "(other)"

// mostFields is how many fields of an object are told apart.
const mostFields = 300

// shownValue is how many bytes of a value are shown.
const shownValue = 120

// fieldsOf measures the parts of an object, two levels deep, and the whole. set is where the size of a field belongs.
func fieldsOf(object any, values bool, set func(*Field, int)) (fields []Field, size int, err error) {
	defer func() {
		if p := recover(); p != nil { // of a method of the type
			err = fmt.Errorf("%T cannot be written as JSON: its method panicked", object)
		}
	}()
	text, err := json.Marshal(object)
	if err != nil {
		return nil, 0, err
	}
	values = values && isPlain(object)
	find := func(path string) int { return slices.IndexFunc(fields, func(f Field) bool { return f.Path == path }) }
	add := func(path string, size int, value []byte) {
		at := find(path)
		if at < 0 && len(fields) >= mostFields {
			path = other
			at = find(path)
		}
		if at < 0 {
			at = len(fields)
			fields = append(fields, Field{Path: path})
		}
		f := &fields[at]
		var before Field
		set(&before, size)
		f.Raw, f.Stored, f.Entries = f.Raw+before.Raw, f.Stored+before.Stored, f.Entries+entries(value)
		if values && path != other && !strings.HasSuffix(path, "."+other) {
			f.Value = clean(string(value[:min(len(value), shownValue)]))
		}
	}
	names := namesOf(object)
	whole := members(text, func(name string, size int, value []byte) {
		inner, known := names(name)
		if !known {
			add(other, size, value)
			return
		}
		head := size - len(value)
		if inner == nil || !members(value, func(part string, size int, value []byte) {
			if !inner[part] {
				part = other
			}
			add(name+"."+part, size+head, value)
			head = 0 // The outer name is counted once.
		}) || head > 0 {
			add(name, size, value)
		}
	})
	if !whole {
		add(other, len(text), text)
	}
	return fields, len(text), nil
}

// sizeOf returns the bytes of an object as JSON.
func sizeOf(object any) (size int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%T cannot be written as JSON: its method panicked", object)
		}
	}()
	text, err := json.Marshal(object)
	return len(text), err
}

// members calls each with the members of a JSON object, and with the bytes of each, name and comma included. It returns false if it is
// another value.
func members(text []byte, each func(name string, size int, value []byte)) bool {
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

// entries counts those of an array or a map.
func entries(value []byte) (n int) {
	if members(value, func(string, int, []byte) { n++ }) {
		return n
	}
	var all []json.RawMessage
	if json.Unmarshal(value, &all) != nil {
		return 0
	}
	return len(all)
}

// identifier is how fields of types are called.
var identifier = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9]{0,60}$`)

// namesOf returns a function that says whether a name is one of a field of an object's type, and which names the fields have that are in
// it: nil if that is content.
func namesOf(object any) func(name string) (inner map[string]bool, known bool) {
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

// jsonFields returns the types of a struct's fields by their names in JSON; nil for other types.
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

// isPlain says whether values of an object's fields may be shown, if the program lets them. It says no unless the object itself tells
// of what kind it is, and that it is no Secret. Of metadata alone nobody can tell, and an annotation may have all data.
func isPlain(object any) bool {
	o, ok := object.(runtime.Object)
	if !ok || reflect.ValueOf(object).Kind() != reflect.Pointer || reflect.ValueOf(object).IsNil() {
		return false
	}
	kind := o.GetObjectKind().GroupVersionKind().Kind
	if _, ok := object.(runtime.Unstructured); ok {
		return kind != "" && !hides(kind)
	}
	t := reflect.TypeOf(object).Elem()
	return !hides(kind) && !hides(t.Name()) && !embeds(t)
}

// embeds reports whether a type has its methods of an object of another type, so that they say nothing of the rest.
func embeds(t reflect.Type) bool {
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

// hides reports whether objects of a kind, or a type of Go, are Secrets, or may be.
func hides(kind string) bool {
	return strings.Contains(strings.ToLower(kind), "secret") || strings.HasPrefix(kind, "PartialObjectMetadata")
}
