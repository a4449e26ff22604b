package main

import (
	"bytes"
	"fmt"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/client-go/internal/generate/model"
)

// schemas writes the merge rules of the types: one line for each type, and one for each of its
// fields. Package applyconfigurations/internal reads them. A comment in that package describes the
// format.
func (a *api) schemas() []byte {
	s := schemas{api: a, lines: map[string][]string{}}
	for object := range a.Applied {
		s.add(object)
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(s.lines)) {
		fmt.Fprintf(&b, "%s\n", name)
		for _, line := range s.lines[name] {
			fmt.Fprintf(&b, "\t%s\n", line)
		}
	}
	return b.Bytes()
}

type schemas struct {
	*api
	lines map[string][]string // lines of the fields, by type
}

// modelName returns the OpenAPI name of a type.
func modelName(object *types.TypeName) string {
	path := strings.Replace(object.Pkg().Path(), "k8s.io/", "io.k8s.", 1)
	return strings.ReplaceAll(path, "/", ".") + "." + object.Name()
}

// add writes a struct and all types that it contains.
func (s *schemas) add(object *types.TypeName) {
	name := modelName(object)
	atomic := s.typeMarkers(object)["structType"] == "atomic" || s.typeMarkers(object)["mapType"] == "atomic"
	if atomic {
		name += " atomic"
	}
	if _, known := s.lines[name]; known {
		return
	}
	s.lines[name] = nil
	s.lines[name] = s.fieldsOf(object)
}

// fieldsOf writes the fields of a struct. If a struct is embedded without a JSON name, its fields
// are written too.
func (s *schemas) fieldsOf(object *types.TypeName) (lines []string) {
	under := object.Type().Underlying().(*types.Struct)
	for i := range under.NumFields() {
		f := under.Field(i)
		name, _, _ := strings.Cut(reflect.StructTag(under.Tag(i)).Get("json"), ",")
		switch {
		case !f.Exported() || name == "-":
		case name == "" && f.Embedded():
			lines = append(lines, s.fieldsOf(types.Unalias(f.Type()).(*types.Named).Obj())...)
		default:
			lines = append(lines, name+" "+s.shape(f.Type(), s.fieldMarkers(object, f.Name())))
		}
	}
	return lines
}

// shape returns the text for the type of a field.
func (s *schemas) shape(t types.Type, m map[string]string) string {
	switch u := types.Unalias(t).(type) {
	case *types.Pointer:
		return s.shape(u.Elem(), m)
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return "string"
		case u.Info()&types.IsBoolean != 0:
			return "boolean"
		default:
			return "numeric"
		}
	case *types.Slice:
		if b, ok := u.Elem().(*types.Basic); ok && b.Kind() == types.Byte {
			return "string"
		}
		how := ""
		switch m["listType"] {
		case "set":
			how = "set"
		case "map":
			how = m["listMapKey"]
		}
		return "[" + how + "]" + s.shape(u.Elem(), nil)
	case *types.Map:
		how := ""
		if m["mapType"] == "atomic" {
			how = "atomic"
		}
		return "{" + how + "}" + s.shape(u.Elem(), nil)
	case *types.Named:
		under := u.Underlying()
		structure, ok := under.(*types.Struct)
		if !ok {
			return s.shape(under, m)
		}
		inAPI := strings.HasPrefix(u.Obj().Pkg().Path(), model.APIs) || u.Obj().Pkg().Path() == model.MetaV1 && slices.Contains(model.MetaTypes, u.Obj().Name())
		if !inAPI || structure.NumFields() == 0 {
			return "any"
		}
		s.add(u.Obj())
		atomic := ""
		if m["structType"] == "atomic" || m["mapType"] == "atomic" {
			atomic = " atomic"
		}
		return "@" + modelName(u.Obj()) + atomic
	default:
		return "any"
	}
}

func (s *schemas) sourceOf(object *types.TypeName) *model.Package {
	for _, p := range s.Packages {
		if p.Path() == object.Pkg().Path() {
			return p
		}
	}
	return nil
}

func (s *schemas) typeMarkers(object *types.TypeName) map[string]string {
	return s.sourceOf(object).Merging[object.Name()]
}

func (s *schemas) fieldMarkers(object *types.TypeName, field string) map[string]string {
	return s.sourceOf(object).Merging[object.Name()+"."+field]
}
