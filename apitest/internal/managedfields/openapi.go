package managedfields

import (
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// OfSchema returns the Type of a custom resource with this structural schema (openAPIV3Schema). If
// the schema has no fields, the result is the zero Type.
func OfSchema(openAPI map[string]any) Type {
	properties, _ := openAPI["properties"].(document)
	if len(properties) == 0 {
		return Type{}
	}
	var ts types
	const name = "object"
	def, _ := ts.add(name)
	ref := ts.openAPIObject(openAPI)
	m := ref.Inlined.Map
	m.Fields = slices.DeleteFunc(m.Fields, func(f schema.StructField) bool {
		return f.Name == "apiVersion" || f.Name == "kind" || f.Name == "metadata"
	})
	meta := reflect.TypeFor[metav1.ObjectMeta]()
	m.Fields = append(m.Fields,
		schema.StructField{Name: "apiVersion", Type: scalarType(schema.String)},
		schema.StructField{Name: "kind", Type: scalarType(schema.String)},
		schema.StructField{Name: "metadata", Type: ts.goType(meta)})
	def.Atom = schema.Atom{Map: m}
	return ts.typeNamed(name)
}

// openAPI converts a schema, or a schema inside another schema.
func (ts *types) openAPI(s document) schema.TypeRef {
	if s["x-kubernetes-int-or-string"] == true {
		return scalarType(schema.Untyped)
	}
	switch s["type"] {
	case "string":
		return scalarType(schema.String)
	case "boolean":
		return scalarType(schema.Boolean)
	case "integer", "number":
		return scalarType(schema.Numeric)
	case "array":
		items, _ := s["items"].(document)
		list := &schema.List{ElementType: ts.openAPI(items), ElementRelationship: schema.Atomic}
		switch s["x-kubernetes-list-type"] {
		case "set":
			list.ElementRelationship = schema.Associative
		case "map":
			list.ElementRelationship = schema.Associative
			keys, _ := s["x-kubernetes-list-map-keys"].([]any)
			for _, key := range keys {
				if name, ok := key.(string); ok {
					list.Keys = append(list.Keys, name)
				}
			}
		}
		return inline(schema.Atom{List: list})
	case "object":
		return ts.openAPIObject(s)
	}
	return ts.anything()
}

func (ts *types) openAPIObject(s document) schema.TypeRef {
	properties, _ := s["properties"].(document)
	additional, isMap := s["additionalProperties"].(document)
	preserve := s["x-kubernetes-preserve-unknown-fields"] == true || s["additionalProperties"] == true
	if len(properties) == 0 && !isMap && preserve {
		return ts.anything()
	}
	m := &schema.Map{ElementRelationship: relationshipOf(s["x-kubernetes-map-type"] == "atomic")}
	for name, property := range properties {
		inner, _ := property.(document)
		m.Fields = append(m.Fields, schema.StructField{Name: name, Type: ts.openAPI(inner), Default: inner["default"]})
	}
	switch {
	case isMap:
		m.ElementType = ts.openAPI(additional)
	case preserve:
		m.ElementType = ts.anything()
	}
	return inline(schema.Atom{Map: m})
}
