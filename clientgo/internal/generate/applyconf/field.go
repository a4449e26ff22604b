package main

import (
	"go/types"
	"reflect"
	"strings"
)

// field is a field of a struct, and what the counterpart has in its place.
type field struct {
	name, json string
	shape      shape
	of         *types.TypeName // the counterpart that it is of, or nil
	key, elem  types.Type      // of a map and a slice; elem is the type of a leaf as well
	embedded   bool            // its fields are those of the struct around it
}

// shape is how a field is held.
type shape int

const (
	leaf  shape = iota // *T
	slice              // []T
	table              // map[K]T
)

// skipped are fields of ObjectMeta that nobody applies.
var skipped = map[string]bool{"SelfLink": true, "ManagedFields": true}

// fields returns what a counterpart has for each field of a struct.
func (a *api) fields(object *types.TypeName) (all []field) {
	under := object.Type().Underlying().(*types.Struct)
	for i := range under.NumFields() {
		f := under.Field(i)
		name, _, _ := strings.Cut(reflect.StructTag(under.Tag(i)).Get("json"), ",")
		if !f.Exported() || name == "-" || object.Name() == "ObjectMeta" && skipped[f.Name()] {
			continue
		}
		converted := a.field(f.Type())
		converted.name, converted.json = f.Name(), name
		converted.embedded = f.Embedded() && converted.of != nil && (name == "" || f.Name() == "ObjectMeta")
		all = append(all, converted)
	}
	return all
}

// field returns how a value of a type is held.
func (a *api) field(t types.Type) field {
	switch u := types.Unalias(t).(type) {
	case *types.Pointer:
		return a.field(u.Elem())
	case *types.Slice:
		elem := u.Elem()
		if p, ok := elem.(*types.Pointer); ok && a.Counterpart(p.Elem()) != nil {
			elem = p.Elem()
		}
		return field{shape: slice, elem: elem, of: a.Counterpart(elem)}
	case *types.Map:
		return field{shape: table, key: u.Key(), elem: u.Elem(), of: a.Counterpart(u.Elem())}
	default:
		return field{shape: leaf, elem: t, of: a.Counterpart(t)}
	}
}
