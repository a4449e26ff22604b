package crdschema

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/jsonpath"
)

// pathOf converts a path to the form for errors.
func pathOf(path string) *field.Path {
	if path == "" {
		return nil
	}
	return field.NewPath(path)
}

// check compares a value with the schema.
func (s *Schema) check(v any, path string) (errs field.ErrorList) {
	if !s.hasType(v) {
		is, want := jsonTypeOf(v), s.Type
		if s.IntOrString {
			want = "integer,string"
		}
		errs = append(errs, field.TypeInvalid(pathOf(path), is, fmt.Sprintf("%s in body must be of type %s: %q", path, want, is)))
		if s.Type == "integer" && is == "number" && (s.Minimum != nil || s.Maximum != nil || s.MultipleOf != nil) {
			errs = append(errs, field.Invalid(nil, "", "Checked value must be of type integer (default format) in "+path))
		}
		return append(errs, s.checkEnum(v, path)...)
	}
	if v == nil {
		return nil
	}
	switch value := v.(type) {
	case string:
		errs = append(errs, s.checkText(value, path)...)
	case int64:
		errs = append(errs, s.checkNumber(float64(value), v, path)...)
	case float64:
		errs = append(errs, s.checkNumber(value, v, path)...)
	case []any:
		errs = append(errs, s.checkList(value, path)...)
	case map[string]any:
		errs = append(errs, s.checkMap(value, path)...)
	}
	errs = append(errs, s.checkEnum(v, path)...)
	for _, each := range s.AllOf {
		errs = append(errs, each.check(v, path)...)
	}
	if s.Not != nil && len(s.Not.check(v, path)) == 0 {
		errs = append(errs, field.Invalid(nil, "", fmt.Sprintf("%q must not validate the schema (not)", path)))
	}
	if n := s.countMatching(s.AnyOf, v, path); len(s.AnyOf) > 0 && n == 0 {
		errs = append(errs, field.Invalid(nil, "", fmt.Sprintf("%q must validate at least one schema (anyOf)", path)))
	}
	if n := s.countMatching(s.OneOf, v, path); len(s.OneOf) > 0 && n != 1 {
		found := "Found none valid"
		if n > 1 {
			found = fmt.Sprintf("Found %d valid alternatives", n)
		} else {
			// If no schema matches, report the errors of the first one.
			errs = append(errs, s.OneOf[0].check(v, path)...)
		}
		errs = append(errs, field.Invalid(nil, "", fmt.Sprintf("%q must validate one and only one schema (oneOf). %s", path, found)))
	}
	return errs
}

// checkEnum returns an error if a value is not one of the allowed values.
func (s *Schema) checkEnum(v any, path string) field.ErrorList {
	if s.Enum == nil || slices.ContainsFunc(s.Enum, func(e any) bool { return reflect.DeepEqual(e, v) }) {
		return nil
	}
	values := make([]string, len(s.Enum))
	for i, e := range s.Enum {
		values[i] = jsonpath.Text(e)
	}
	return field.ErrorList{field.NotSupported(pathOf(path), v, values)}
}

// countMatching counts the schemas that allow a value.
func (s *Schema) countMatching(schemas []*Schema, v any, path string) (n int) {
	for _, each := range schemas {
		if len(each.check(v, path)) == 0 {
			n++
		}
	}
	return n
}

// hasType reports whether a value has the type of the schema.
func (s *Schema) hasType(v any) bool {
	switch is := jsonTypeOf(v); {
	case is == "null":
		return s.Nullable || s.Type == "" && !s.IntOrString
	case s.IntOrString:
		return is == "integer" || is == "string"
	case s.Type == "", s.Type == is:
		return true
	case s.Type == "number":
		return is == "integer"
	case s.Type == "integer":
		f, ok := v.(float64)
		return ok && f == math.Trunc(f)
	}
	return false
}

// jsonTypeOf returns the JSON type of a value.
func jsonTypeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func (s *Schema) checkText(value, path string) (errs field.ErrorList) {
	length := int64(utf8.RuneCountInString(value))
	if s.MaxLength != nil && length > *s.MaxLength {
		errs = append(errs, field.TooLong(pathOf(path), value, int(*s.MaxLength)))
	}
	if s.MinLength != nil && length < *s.MinLength {
		errs = append(errs, field.Invalid(pathOf(path), value, fmt.Sprintf("%s in body should be at least %d chars long", path, *s.MinLength)))
	}
	if s.pattern != nil && !s.pattern.MatchString(value) {
		errs = append(errs, field.Invalid(pathOf(path), value, fmt.Sprintf("%s in body should match '%s'", path, s.Pattern)))
	}
	if is, ok := formats[s.Format]; ok && !is(value) {
		errs = append(errs, field.TypeInvalid(pathOf(path), value, fmt.Sprintf("%s in body must be of type %s: %q", path, s.Format, value)))
	}
	return errs
}

var uuid = regexp.MustCompile(`^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`)

// formats are the formats that the server checks, a subset of the real server's.
var formats = map[string]func(string) bool{
	"date":      func(s string) bool { _, err := time.Parse(time.DateOnly, s); return err == nil },
	"date-time": func(s string) bool { _, err := time.Parse(time.RFC3339Nano, s); return err == nil },
	"ipv4":      func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is4() },
	"ipv6":      func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is6() },
	"cidr":      func(s string) bool { _, err := netip.ParsePrefix(s); return err == nil },
	"byte":      func(s string) bool { _, err := base64.StdEncoding.DecodeString(s); return err == nil },
	"uuid":      uuid.MatchString,
}

func (s *Schema) checkNumber(n float64, value any, path string) (errs field.ErrorList) {
	fail := func(format string, bound float64) {
		errs = append(errs, field.Invalid(pathOf(path), value, fmt.Sprintf("%s in body should be "+format, path, bound)))
	}
	if m := s.Minimum; m != nil {
		switch {
		case s.ExclusiveMinimum && n <= *m:
			fail("greater than %v", *m)
		case n < *m:
			fail("greater than or equal to %v", *m)
		}
	}
	if m := s.Maximum; m != nil {
		switch {
		case s.ExclusiveMaximum && n >= *m:
			fail("less than %v", *m)
		case n > *m:
			fail("less than or equal to %v", *m)
		}
	}
	if m := s.MultipleOf; m != nil && *m != 0 && n / *m != math.Trunc(n / *m) {
		fail("a multiple of %v", *m)
	}
	return errs
}

func (s *Schema) checkList(list []any, path string) (errs field.ErrorList) {
	length := int64(len(list))
	if s.MaxItems != nil && length > *s.MaxItems {
		errs = append(errs, field.TooMany(pathOf(path), len(list), int(*s.MaxItems)))
	}
	if s.MinItems != nil && length < *s.MinItems {
		errs = append(errs, field.Invalid(pathOf(path), length, fmt.Sprintf("%s in body should have at least %d items", path, *s.MinItems)))
	}
	seen := map[string]bool{}
	for i, element := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if s.Items != nil {
			errs = append(errs, s.Items.check(element, at)...)
		}
		if key, shown, ok := s.listKey(element); ok {
			if seen[key] {
				errs = append(errs, field.Duplicate(pathOf(at), shown))
			}
			seen[key] = true
		}
	}
	return errs
}

// listKey returns the key of an element, which must be unique in a list that is a set or a map.
func (s *Schema) listKey(element any) (key string, shown any, ok bool) {
	switch s.ListType {
	case "set":
		return string(apiobject.MustJSON(element)), element, true
	case "map":
		fields, _ := element.(map[string]any)
		keys := map[string]any{}
		for _, name := range s.ListMapKeys {
			keys[name] = fields[name]
		}
		return string(apiobject.MustJSON(keys)), keys, true
	}
	return "", nil, false
}

func (s *Schema) checkMap(fields map[string]any, path string) (errs field.ErrorList) {
	length := int64(len(fields))
	if s.MaxProperties != nil && length > *s.MaxProperties {
		errs = append(errs, field.TooMany(pathOf(path), len(fields), int(*s.MaxProperties)))
	}
	if s.MinProperties != nil && length < *s.MinProperties {
		errs = append(errs, field.Invalid(pathOf(path), length, fmt.Sprintf("%s in body should have at least %d properties", path, *s.MinProperties)))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if p := s.property(name); p != nil {
			errs = append(errs, p.check(fields[name], joinPath(path, name))...)
		}
	}
	for _, name := range s.Required {
		if _, ok := fields[name]; !ok {
			errs = append(errs, field.Required(pathOf(joinPath(path, name)), ""))
		}
	}
	return errs
}
