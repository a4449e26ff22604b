package apitest

import (
	"maps"
	"reflect"
	"strings"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// document is a JSON document, or an object inside a JSON document.
type document = map[string]any

// schemas generates OpenAPI schemas from Go types, by reflection.
type schemas struct {
	v3   bool // version 3; otherwise version 2
	docs func(reflect.Type) map[string]string
	all  document // schemas by name
}

// plainTypes are the schemas of types whose JSON form differs from their Go form.
var plainTypes = map[reflect.Type]document{
	reflect.TypeFor[metav1.Time]():          {"type": "string", "format": "date-time"},
	reflect.TypeFor[metav1.MicroTime]():     {"type": "string", "format": "date-time"},
	reflect.TypeFor[metav1.Duration]():      {"type": "string"},
	reflect.TypeFor[apiresource.Quantity](): {"type": "string"},
	reflect.TypeFor[intstr.IntOrString]():   {"type": "string", "format": "int-or-string"},
	reflect.TypeFor[metav1.FieldsV1]():      {"type": "object"},
	reflect.TypeFor[runtime.RawExtension](): {"type": "object"},
}

// plainTypesV3 are the schemas of types that OpenAPI version 3 describes in more detail.
var plainTypesV3 = map[reflect.Type]document{
	reflect.TypeFor[apiresource.Quantity](): {"oneOf": []any{document{"type": "string"}, document{"type": "number"}}},
	reflect.TypeFor[intstr.IntOrString]():   {"oneOf": []any{document{"type": "integer"}, document{"type": "string"}}, "format": "int-or-string"},
}

// schemaName is the name of a Go type in documents, such as io.k8s.api.core.v1.Pod.
func schemaName(t reflect.Type) string {
	domain, path, _ := strings.Cut(t.PkgPath(), "/")
	parts := strings.Split(domain, ".")
	reversed := make([]string, 0, len(parts))
	for i := len(parts) - 1; i >= 0; i-- {
		reversed = append(reversed, parts[i])
	}
	return strings.Join(reversed, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

// ref returns a reference to a named schema.
func (s *schemas) ref(name string) document {
	if s.v3 {
		return document{"$ref": "#/components/schemas/" + name}
	}
	return document{"$ref": "#/definitions/" + name}
}

// schemaOf(t) returns the schema of a type: the schema itself for simple types, otherwise a
// reference.
func (s *schemas) schemaOf(t reflect.Type) document {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	plain, ok := plainTypes[t]
	if three := plainTypesV3[t]; s.v3 && three != nil {
		plain = three
	}
	switch {
	case ok && s.all[schemaName(t)] == nil:
		s.all[schemaName(t)] = s.withDescription(maps.Clone(plain), t)
		fallthrough
	case ok:
		return s.ref(schemaName(t))
	}
	switch t.Kind() {
	case reflect.String:
		return document{"type": "string"}
	case reflect.Bool:
		return document{"type": "boolean"}
	case reflect.Int64, reflect.Uint64, reflect.Int, reflect.Uint:
		return document{"type": "integer", "format": "int64"}
	case reflect.Int32, reflect.Uint32, reflect.Int16, reflect.Uint16, reflect.Int8, reflect.Uint8:
		return document{"type": "integer", "format": "int32"}
	case reflect.Float32, reflect.Float64:
		return document{"type": "number", "format": "double"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return document{"type": "string", "format": "byte"}
		}
		return document{"type": "array", "items": s.nested(t.Elem())}
	case reflect.Map:
		return document{"type": "object", "additionalProperties": s.nested(t.Elem())}
	case reflect.Struct:
		s.add(t)
		return s.ref(schemaName(t))
	}
	return document{"type": "object"}
}

// nested returns a schema for use in another schema. Version 3 wraps a reference in allOf, because
// it needs a default beside the reference.
func (s *schemas) nested(t reflect.Type) document {
	schema := s.schemaOf(t)
	if s.v3 && schema["$ref"] != nil {
		return document{"allOf": []any{schema}, "default": document{}}
	}
	return schema
}

// add adds the schema of a struct and of all types in it, unless the schema exists already.
func (s *schemas) add(t reflect.Type) document {
	name := schemaName(t)
	if schema, ok := s.all[name].(document); ok {
		return schema
	}
	properties := document{}
	schema := s.withDescription(document{"type": "object"}, t)
	s.all[name] = schema // set first, because a field may have the same type
	var required []any
	s.fields(t, properties, &required)
	if len(properties) > 0 {
		schema["properties"] = properties
	}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func (s *schemas) fields(t reflect.Type, properties document, required *[]any) {
	var docs map[string]string
	if s.docs != nil {
		docs = s.docs(t)
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if strings.Contains(options, "inline") || f.Anonymous && name == "" {
			if f.Type.Kind() == reflect.Struct {
				s.fields(f.Type, properties, required)
			}
			continue
		}
		if name == "-" || name == "" || !f.IsExported() {
			continue
		}
		schema := maps.Clone(s.nested(f.Type))
		if text := docs[name]; text != "" {
			schema["description"] = text
		}
		if strategy := f.Tag.Get("patchStrategy"); strategy != "" {
			schema["x-kubernetes-patch-strategy"] = strategy
		}
		if key := f.Tag.Get("patchMergeKey"); key != "" {
			schema["x-kubernetes-patch-merge-key"] = key
		}
		properties[name] = schema
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			*required = append(*required, name)
		}
	}
}

// withDescription adds the description of a type.
func (s *schemas) withDescription(schema document, t reflect.Type) document {
	if s.docs != nil {
		if text := s.docs(t)[""]; text != "" {
			schema["description"] = text
		}
	}
	return schema
}

// resource adds the schemas of a resource's kind and of its list.
func (s *schemas) resource(res *resource) {
	kind := document{"group": res.Group, "version": res.Version, "kind": res.Kind}
	meta := s.nested(reflect.TypeFor[metav1.ObjectMeta]())
	var name string
	if res.goType != nil {
		name = schemaName(res.goType)
		s.add(res.goType)["x-kubernetes-group-version-kind"] = []any{kind}
	} else {
		name = reversedName(res.Group) + "." + res.Version + "." + res.Kind
		schema := runtime.DeepCopyJSON(orEmpty(res.crdVersion.Schema.OpenAPIV3Schema))
		schema["type"] = "object"
		properties, _ := schema["properties"].(document)
		if properties == nil {
			properties = document{}
			schema["x-kubernetes-preserve-unknown-fields"] = true
		}
		text := s.typeDocs()
		properties["apiVersion"], properties["kind"], properties["metadata"] = text("apiVersion"), text("kind"), meta
		schema["properties"], schema["x-kubernetes-group-version-kind"] = properties, []any{kind}
		if !s.v3 {
			dropV3(schema)
		}
		s.all[name] = schema
	}
	text := s.typeDocs()
	s.all[name+"List"] = document{
		"type": "object", "required": []any{"items"}, "description": res.Kind + "List is a list of " + res.Plural + ".",
		"properties": document{
			"apiVersion": text("apiVersion"), "kind": text("kind"),
			"items":    document{"type": "array", "items": s.nestedRef(name)},
			"metadata": s.nested(reflect.TypeFor[metav1.ListMeta]()),
		},
		"x-kubernetes-group-version-kind": []any{document{"group": res.Group, "version": res.Version, "kind": res.Kind + "List"}},
	}
}

// nestedRef returns a reference to a named schema, for use in another schema.
func (s *schemas) nestedRef(name string) document {
	if s.v3 {
		return document{"allOf": []any{s.ref(name)}, "default": document{}}
	}
	return s.ref(name)
}

// typeDocs describes the fields kind and apiVersion of every object.
func (s *schemas) typeDocs() func(string) document {
	var docs map[string]string
	if s.docs != nil {
		docs = s.docs(reflect.TypeFor[metav1.TypeMeta]())
	}
	return func(name string) document {
		schema := document{"type": "string"}
		if text := docs[name]; text != "" {
			schema["description"] = text
		}
		return schema
	}
}

// dropV3 removes the keywords that OpenAPI version 2 does not have from a schema, as the real
// server does.
func dropV3(schema document) {
	for _, key := range []string{"anyOf", "oneOf", "not", "nullable", "default"} {
		delete(schema, key)
	}
	properties, _ := schema["properties"].(document)
	for _, p := range properties {
		if inner, ok := p.(document); ok {
			dropV3(inner)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[key].(document); ok {
			dropV3(inner)
		}
	}
}

func reversedName(group string) string {
	parts := strings.Split(group, ".")
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, ".")
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return document{}
	}
	return m
}
