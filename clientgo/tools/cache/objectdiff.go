package cache

import (
	"fmt"
	"reflect"
	"strings"
)

// changedFields returns the fields in which an object differs from its copy, one per line.
// apimachinery's package diff is not used, because it prints both objects as a whole, and because
// every program with an informer would link it.
func changedFields(before, after interface{}) string {
	var lines fieldPaths
	lines.compare("", reflect.ValueOf(before), reflect.ValueOf(after), 0)
	return strings.Join(lines, "\n")
}

type fieldPaths []string

func (f *fieldPaths) note(path string, before, after reflect.Value) {
	*f = append(*f, fmt.Sprintf("%s: was %s, is %s", path, shown(before), shown(after)))
}

func shown(v reflect.Value) string {
	if !v.IsValid() {
		return "absent"
	}
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	s := fmt.Sprintf("%#v", v)
	if len(s) > 200 {
		s = s[:200] + "..."
	}
	return s
}

// maxCompareDepth bounds the recursion, so that the comparison of a cyclic value ends.
const maxCompareDepth = 50

func (f *fieldPaths) compare(path string, a, b reflect.Value, depth int) {
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() || depth > maxCompareDepth {
		if a.IsValid() || b.IsValid() {
			f.note(path, a, b)
		}
		return
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				f.note(path, a, b)
			}
			return
		}
		f.compare(path, a.Elem(), b.Elem(), depth+1)
	case reflect.Struct:
		for i := range a.NumField() {
			name := path + "." + a.Type().Field(i).Name
			if a.Type().Field(i).Anonymous {
				name = path
			}
			f.compare(name, a.Field(i), b.Field(i), depth+1)
		}
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() || a.Kind() == reflect.Slice && a.IsNil() != b.IsNil() {
			f.note(path, a, b)
			return
		}
		for i := range a.Len() {
			f.compare(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i), depth+1)
		}
	case reflect.Map:
		if a.IsNil() != b.IsNil() {
			f.note(path, a, b)
			return
		}
		for _, key := range a.MapKeys() {
			f.compare(fmt.Sprintf("%s[%v]", path, key), a.MapIndex(key), b.MapIndex(key), depth+1)
		}
		for _, key := range b.MapKeys() {
			if !a.MapIndex(key).IsValid() {
				f.note(fmt.Sprintf("%s[%v]", path, key), reflect.Value{}, b.MapIndex(key))
			}
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		if a.Pointer() != b.Pointer() {
			f.note(path, a, b)
		}
	default:
		if !a.Equal(b) {
			f.note(path, a, b)
		}
	}
}
