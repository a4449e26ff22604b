package main

import (
	"go/types"
	"reflect"
	"strings"
)

// field describes a field of a struct of k8s.io/api. The generated apply configuration, which is
// called the counterpart, has a field for it.
type field struct {
	name, json string
	shape      shape
	of         *types.TypeName // API type whose counterpart the field holds, or nil
	// key and element type of a map or a slice; elem is also the type of a leaf
	key, elem types.Type
	embedded  bool // promotes its fields to the enclosing struct
}

// shape is the form of the Go type of a field in the counterpart.
type shape int

const (
	leaf  shape = iota // *T
	slice              // []T
	table              // map[K]T
)

// skipped are the fields of ObjectMeta that cannot be applied.
var skipped = map[string]bool{"SelfLink": true, "ManagedFields": true}

// fields returns the fields of the counterpart of a struct.
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

// field returns the field of a counterpart for a struct field of type t.
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
