package managedfields

import (
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Type describes how the objects of a resource are merged. The zero value derives the types from
// the object itself: lists are atomic, and everything else is merged field by field.
type Type struct {
	parseable *typed.ParseableType
}

// read converts a document to a typed value.
func (t Type) read(doc document) (*typed.TypedValue, error) {
	if t.parseable == nil {
		return typed.DeducedParseableType.FromUnstructured(doc)
	}
	return t.parseable.FromUnstructured(doc, typed.AllowDuplicates)
}

// readStrictly converts a document to a typed value. It fails if a list has two elements with the
// same key.
func (t Type) readStrictly(doc document) (*typed.TypedValue, error) {
	if t.parseable == nil {
		return typed.DeducedParseableType.FromUnstructured(doc)
	}
	return t.parseable.FromUnstructured(doc)
}

// document is an object as decoded JSON.
type document = map[string]any

// types are the named types of a schema.
type types struct {
	defs map[string]*schema.TypeDef
	list []*schema.TypeDef
}

// typeNamed returns the Type of a named type.
func (ts *types) typeNamed(name string) Type {
	s := &schema.Schema{}
	for _, def := range ts.list {
		s.Types = append(s.Types, *def)
	}
	return Type{&typed.ParseableType{Schema: s, TypeRef: schema.TypeRef{NamedType: &name}}}
}

// add adds a named type and reports whether it is new. The caller fills in the type afterwards,
// because a field of the type may have the same type.
func (ts *types) add(name string) (*schema.TypeDef, bool) {
	if def := ts.defs[name]; def != nil {
		return def, false
	}
	def := &schema.TypeDef{Name: name}
	if ts.defs == nil {
		ts.defs = map[string]*schema.TypeDef{}
	}
	ts.defs[name], ts.list = def, append(ts.list, def)
	return def, true
}

// anything returns the type of untyped fields: any value, merged field by field.
func (ts *types) anything() schema.TypeRef {
	const name = "anything"
	ref := typeRef(name)
	if def, isNew := ts.add(name); isNew {
		def.Atom = schema.Atom{
			Scalar: scalar(schema.Untyped),
			List:   &schema.List{ElementType: ref, ElementRelationship: schema.Atomic},
			Map:    &schema.Map{ElementType: ref, ElementRelationship: schema.Separable},
		}
	}
	return ref
}

func typeRef(name string) schema.TypeRef { return schema.TypeRef{NamedType: &name} }

func inline(atom schema.Atom) schema.TypeRef { return schema.TypeRef{Inlined: atom} }

func scalar(s schema.Scalar) *schema.Scalar { return &s }

// scalarType returns the type of a scalar.
func scalarType(s schema.Scalar) schema.TypeRef { return inline(schema.Atom{Scalar: &s}) }
