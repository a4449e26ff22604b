package crdschema

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// Schema is a structural schema of a CustomResourceDefinition. It has the keywords that the
// server checks.
type Schema struct {
	Type       string `json:"type"`
	Format     string `json:"format"`
	Nullable   bool   `json:"nullable"`
	Default    any    `json:"default"`
	Enum       []any  `json:"enum"`
	Pattern    string `json:"pattern"`
	MinLength  *int64 `json:"minLength"`
	MaxLength  *int64 `json:"maxLength"`
	UniqueList bool   `json:"uniqueItems"`
	MinItems   *int64 `json:"minItems"`
	MaxItems   *int64 `json:"maxItems"`

	Minimum          *float64 `json:"minimum"`
	ExclusiveMinimum bool     `json:"exclusiveMinimum"`
	Maximum          *float64 `json:"maximum"`
	ExclusiveMaximum bool     `json:"exclusiveMaximum"`
	MultipleOf       *float64 `json:"multipleOf"`

	Required      []string           `json:"required"`
	Properties    map[string]*Schema `json:"properties"`
	Additional    *schemaOrBool      `json:"additionalProperties"`
	MinProperties *int64             `json:"minProperties"`
	MaxProperties *int64             `json:"maxProperties"`
	Items         *Schema            `json:"items"`

	AllOf []*Schema `json:"allOf"`
	AnyOf []*Schema `json:"anyOf"`
	OneOf []*Schema `json:"oneOf"`
	Not   *Schema   `json:"not"`

	Preserve    bool     `json:"x-kubernetes-preserve-unknown-fields"`
	Embedded    bool     `json:"x-kubernetes-embedded-resource"`
	IntOrString bool     `json:"x-kubernetes-int-or-string"`
	ListType    string   `json:"x-kubernetes-list-type"`
	ListMapKeys []string `json:"x-kubernetes-list-map-keys"`

	pattern *regexp.Regexp // compiled from Pattern
}

// schemaOrBool is the value of additionalProperties. It is a schema for the properties that no
// other schema names, or a bool. The bool says whether such properties are allowed; then the field
// schema is nil.
type schemaOrBool struct {
	allowed bool
	schema  *Schema
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *schemaOrBool) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true", "false":
		s.allowed = data[0] == 't'
		return nil
	}
	s.allowed, s.schema = true, &Schema{}
	return utiljson.Unmarshal(data, s.schema)
}

// Parse parses the schema of a version. It returns nil if the version has no schema.
func Parse(schema map[string]any) (*Schema, error) {
	if schema == nil {
		return nil, nil
	}
	s := &Schema{}
	if err := utiljson.Unmarshal(apiobject.MustJSON(schema), s); err != nil {
		return nil, fmt.Errorf("schema.openAPIV3Schema: %w", err)
	}
	if s.Type != "object" {
		return nil, fmt.Errorf(`schema.openAPIV3Schema.type must be "object" and not %q`, s.Type)
	}
	return s, s.compile("schema.openAPIV3Schema")
}

// compile compiles the patterns, and refuses invalid schemas.
func (s *Schema) compile(path string) (err error) {
	if s == nil {
		return fmt.Errorf("%s must not be null", path)
	}
	if s.Pattern != "" {
		if s.pattern, err = regexp.Compile(s.Pattern); err != nil {
			return fmt.Errorf("%s.pattern: %w", path, err)
		}
	}
	all := s.children()
	for _, at := range slices.Sorted(maps.Keys(all)) {
		if err := all[at].compile(path + "." + at); err != nil {
			return err
		}
	}
	return nil
}

// children returns the schemas inside a schema, by their paths.
func (s *Schema) children() map[string]*Schema {
	all := map[string]*Schema{}
	for name, p := range s.Properties {
		all["properties."+name] = p
	}
	for name, list := range map[string][]*Schema{"allOf": s.AllOf, "anyOf": s.AnyOf, "oneOf": s.OneOf} {
		for i, p := range list {
			all[fmt.Sprintf("%s[%d]", name, i)] = p
		}
	}
	if s.Items != nil {
		all["items"] = s.Items
	}
	if s.Not != nil {
		all["not"] = s.Not
	}
	if s.Additional != nil && s.Additional.schema != nil {
		all["additionalProperties"] = s.Additional.schema
	}
	return all
}

// rootFields are the fields that every object has, even if its schema does not name them.
var rootFields = []string{"apiVersion", "kind", "metadata"}

// prune removes the fields that the schema does not have, and returns their paths.
func (s *Schema) prune(v any, path string, root bool) (unknown []string) {
	switch value := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if (root || s.Embedded) && slices.Contains(rootFields, name) {
				continue
			}
			at := joinPath(path, name)
			switch property := s.property(name); {
			case property != nil:
				unknown = append(unknown, property.prune(value[name], at, false)...)
			case s.Preserve, s.Additional != nil && s.Additional.allowed:
			default:
				delete(value, name)
				unknown = append(unknown, at)
			}
		}
	case []any:
		if s.Items == nil {
			break
		}
		for i, element := range value {
			unknown = append(unknown, s.Items.prune(element, fmt.Sprintf("%s[%d]", path, i), false)...)
		}
	}
	return unknown
}

// property returns the schema of a property, or nil.
func (s *Schema) property(name string) *Schema {
	if p, ok := s.Properties[name]; ok {
		return p
	}
	if s.Additional != nil {
		return s.Additional.schema
	}
	return nil
}

// setDefaults sets missing fields to their defaults. A null that is not allowed becomes the
// default, or is removed if there is no default.
func (s *Schema) setDefaults(v any) {
	switch value := v.(type) {
	case map[string]any:
		for name, p := range s.Properties {
			if _, has := value[name]; !has && p.Default != nil {
				value[name] = runtime.DeepCopyJSONValue(p.Default)
			}
		}
		for name, element := range value {
			p := s.property(name)
			switch {
			case p == nil:
			case element != nil || p.Nullable:
				p.setDefaults(element)
			case p.Default != nil:
				value[name] = runtime.DeepCopyJSONValue(p.Default)
				p.setDefaults(value[name])
			default:
				delete(value, name)
			}
		}
	case []any:
		if s.Items == nil {
			return
		}
		for i, element := range value {
			if element == nil && !s.Items.Nullable && s.Items.Default != nil {
				value[i] = runtime.DeepCopyJSONValue(s.Items.Default)
			}
			s.Items.setDefaults(value[i])
		}
	}
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
