package managedfields

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// goTypeCache caches Types by Go type.
var goTypeCache sync.Map

// OfGoType returns the Type of a Go struct type.
func OfGoType(t reflect.Type) Type {
	if made, ok := goTypeCache.Load(t); ok {
		return made.(Type)
	}
	var ts types
	ts.goStruct(t)
	made, _ := goTypeCache.LoadOrStore(t, ts.typeNamed(nameOf(t)))
	return made.(Type)
}

// nameOf returns the name of a Go type in the markers.
func nameOf(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

var (
	marshaler = reflect.TypeFor[json.Marshaler]()

	// scalars are Go structs that are scalars in JSON.
	scalars = map[reflect.Type]bool{
		reflect.TypeFor[metav1.Time](): true, reflect.TypeFor[metav1.MicroTime](): true, reflect.TypeFor[metav1.Duration](): true,
		reflect.TypeFor[resource.Quantity](): true, reflect.TypeFor[intstr.IntOrString](): true,
	}
)

// goType converts the Go type of a field or an element.
func (ts *types) goType(t reflect.Type) schema.TypeRef {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return scalarType(schema.String)
	case reflect.Bool:
		return scalarType(schema.Boolean)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return scalarType(schema.Numeric)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return scalarType(schema.String)
		}
		return inline(schema.Atom{List: &schema.List{ElementType: ts.goType(t.Elem()), ElementRelationship: schema.Atomic}})
	case reflect.Map:
		return inline(schema.Atom{Map: &schema.Map{ElementType: ts.goType(t.Elem()), ElementRelationship: relationshipOf(kubernetesMarkers().atomic[nameOf(t)])}})
	case reflect.Struct:
		switch {
		case scalars[t]:
			return scalarType(schema.Untyped)
		case t == reflect.TypeFor[runtime.RawExtension]() || reflect.PointerTo(t).Implements(marshaler):
			return ts.anything()
		}
		ts.goStruct(t)
		return typeRef(nameOf(t))
	}
	return ts.anything()
}

// relationshipOf returns the relationship of a map's entries: atomic if they are replaced together,
// separable if they are merged.
func relationshipOf(atomic bool) schema.ElementRelationship {
	if atomic {
		return schema.Atomic
	}
	return schema.Separable
}

// goStruct adds the named type of a struct, unless the type exists already.
func (ts *types) goStruct(t reflect.Type) {
	def, isNew := ts.add(nameOf(t))
	if !isNew {
		return
	}
	m := &schema.Map{ElementRelationship: relationshipOf(kubernetesMarkers().atomic[nameOf(t)])}
	ts.goFields(t, m)
	def.Atom = schema.Atom{Map: m}
}

// goFields adds the fields of a struct, including the fields of its inline structs.
func (ts *types) goFields(t reflect.Type, to *schema.Map) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if strings.Contains(options, "inline") || f.Anonymous && name == "" {
			if f.Type.Kind() == reflect.Struct {
				ts.goFields(f.Type, to)
			}
			continue
		}
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		at := nameOf(t) + "." + name
		to.Fields = append(to.Fields, schema.StructField{Name: name, Type: ts.applyMarkers(at, ts.goType(f.Type)), Default: kubernetesMarkers().defaults[at]})
	}
}

// applyMarkers changes the type of a field according to the field's markers.
func (ts *types) applyMarkers(at string, ref schema.TypeRef) schema.TypeRef {
	list := ref.Inlined.List
	switch keys, isMap := kubernetesMarkers().maps[at]; {
	case isMap && list != nil:
		return inline(schema.Atom{List: &schema.List{ElementType: list.ElementType, ElementRelationship: schema.Associative, Keys: keys}})
	case kubernetesMarkers().sets[at] && list != nil:
		return inline(schema.Atom{List: &schema.List{ElementType: list.ElementType, ElementRelationship: schema.Associative}})
	case kubernetesMarkers().atomic[at]:
		atomic := schema.Atomic
		ref.ElementRelationship = &atomic
	}
	return ref
}
