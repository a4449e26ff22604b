package openapi

import (
	"maps"
	"reflect"
	"strings"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// schemas generates OpenAPI schemas from Go types, by reflection.
type schemas struct {
	v3   bool // version 3; otherwise version 2
	docs func(reflect.Type) map[string]string
	all  apiobject.Document // schemas by name
}

// plainTypes are the schemas of types whose JSON form differs from their Go form.
var plainTypes = map[reflect.Type]apiobject.Document{
	reflect.TypeFor[metav1.Time]():          {"type": "string", "format": "date-time"},
	reflect.TypeFor[metav1.MicroTime]():     {"type": "string", "format": "date-time"},
	reflect.TypeFor[metav1.Duration]():      {"type": "string"},
	reflect.TypeFor[apiresource.Quantity](): {"type": "string"},
	reflect.TypeFor[intstr.IntOrString]():   {"type": "string", "format": "int-or-string"},
	reflect.TypeFor[metav1.FieldsV1]():      {"type": "object"},
	reflect.TypeFor[runtime.RawExtension](): {"type": "object"},
}

// plainTypesV3 are the schemas of types that OpenAPI version 3 describes in more detail.
var plainTypesV3 = map[reflect.Type]apiobject.Document{
	reflect.TypeFor[apiresource.Quantity](): {"oneOf": []any{apiobject.Document{"type": "string"}, apiobject.Document{"type": "number"}}},
	reflect.TypeFor[intstr.IntOrString]():   {"oneOf": []any{apiobject.Document{"type": "integer"}, apiobject.Document{"type": "string"}}, "format": "int-or-string"},
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
func (s *schemas) ref(name string) apiobject.Document {
	if s.v3 {
		return apiobject.Document{"$ref": "#/components/schemas/" + name}
	}
	return apiobject.Document{"$ref": "#/definitions/" + name}
}

// schemaOf(t) returns the schema of a type: the schema itself for simple types, otherwise a
// reference.
func (s *schemas) schemaOf(t reflect.Type) apiobject.Document {
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
		return apiobject.Document{"type": "string"}
	case reflect.Bool:
		return apiobject.Document{"type": "boolean"}
	case reflect.Int64, reflect.Uint64, reflect.Int, reflect.Uint:
		return apiobject.Document{"type": "integer", "format": "int64"}
	case reflect.Int32, reflect.Uint32, reflect.Int16, reflect.Uint16, reflect.Int8, reflect.Uint8:
		return apiobject.Document{"type": "integer", "format": "int32"}
	case reflect.Float32, reflect.Float64:
		return apiobject.Document{"type": "number", "format": "double"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return apiobject.Document{"type": "string", "format": "byte"}
		}
		return apiobject.Document{"type": "array", "items": s.nested(t.Elem())}
	case reflect.Map:
		return apiobject.Document{"type": "object", "additionalProperties": s.nested(t.Elem())}
	case reflect.Struct:
		s.add(t)
		return s.ref(schemaName(t))
	}
	return apiobject.Document{"type": "object"}
}

// nested returns a schema for use in another schema. Version 3 wraps a reference in allOf, because
// it needs a default beside the reference.
func (s *schemas) nested(t reflect.Type) apiobject.Document {
	schema := s.schemaOf(t)
	if s.v3 && schema["$ref"] != nil {
		return apiobject.Document{"allOf": []any{schema}, "default": apiobject.Document{}}
	}
	return schema
}

// add adds the schema of a struct and of all types in it, unless the schema exists already.
func (s *schemas) add(t reflect.Type) apiobject.Document {
	name := schemaName(t)
	if schema, ok := s.all[name].(apiobject.Document); ok {
		return schema
	}
	properties := apiobject.Document{}
	schema := s.withDescription(apiobject.Document{"type": "object"}, t)
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

func (s *schemas) fields(t reflect.Type, properties apiobject.Document, required *[]any) {
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
func (s *schemas) withDescription(schema apiobject.Document, t reflect.Type) apiobject.Document {
	if s.docs != nil {
		if text := s.docs(t)[""]; text != "" {
			schema["description"] = text
		}
	}
	return schema
}

// resource adds the schemas of a resource's kind and of its list.
func (s *schemas) resource(res *storage.Resource) {
	kind := apiobject.Document{"group": res.Group, "version": res.Version, "kind": res.Kind}
	meta := s.nested(reflect.TypeFor[metav1.ObjectMeta]())
	var name string
	if res.GoType != nil {
		name = schemaName(res.GoType)
		s.add(res.GoType)["x-kubernetes-group-version-kind"] = []any{kind}
	} else {
		name = reversedName(res.Group) + "." + res.Version + "." + res.Kind
		schema := runtime.DeepCopyJSON(orEmpty(res.CRDVersion.Schema.OpenAPIV3Schema))
		schema["type"] = "object"
		properties, _ := schema["properties"].(apiobject.Document)
		if properties == nil {
			properties = apiobject.Document{}
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
	s.all[name+"List"] = apiobject.Document{
		"type": "object", "required": []any{"items"}, "description": res.Kind + "List is a list of " + res.Plural + ".",
		"properties": apiobject.Document{
			"apiVersion": text("apiVersion"), "kind": text("kind"),
			"items":    apiobject.Document{"type": "array", "items": s.nestedRef(name)},
			"metadata": s.nested(reflect.TypeFor[metav1.ListMeta]()),
		},
		"x-kubernetes-group-version-kind": []any{apiobject.Document{"group": res.Group, "version": res.Version, "kind": res.Kind + "List"}},
	}
}

// nestedRef returns a reference to a named schema, for use in another schema.
func (s *schemas) nestedRef(name string) apiobject.Document {
	if s.v3 {
		return apiobject.Document{"allOf": []any{s.ref(name)}, "default": apiobject.Document{}}
	}
	return s.ref(name)
}

// typeDocs describes the fields kind and apiVersion of every object.
func (s *schemas) typeDocs() func(string) apiobject.Document {
	var docs map[string]string
	if s.docs != nil {
		docs = s.docs(reflect.TypeFor[metav1.TypeMeta]())
	}
	return func(name string) apiobject.Document {
		schema := apiobject.Document{"type": "string"}
		if text := docs[name]; text != "" {
			schema["description"] = text
		}
		return schema
	}
}

// dropV3 removes the keywords that OpenAPI version 2 does not have from a schema, as the real
// server does.
func dropV3(schema apiobject.Document) {
	for _, key := range []string{"anyOf", "oneOf", "not", "nullable", "default"} {
		delete(schema, key)
	}
	properties, _ := schema["properties"].(apiobject.Document)
	for _, p := range properties {
		if inner, ok := p.(apiobject.Document); ok {
			dropV3(inner)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[key].(apiobject.Document); ok {
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
		return apiobject.Document{}
	}
	return m
}
