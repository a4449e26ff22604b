package crdschema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// Normalize removes unknown metadata fields from a custom resource, and all fields that its schema
// does not have. It then sets defaults. It returns the paths of the fields that the schema does not
// have. An object of a built-in type stays as it is.
func (s *Schema) Normalize(obj apiobject.Object) (unknown []string) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	meta, _ := u.Object["metadata"].(map[string]any)
	for name := range meta {
		if !metadataFields()[name] {
			delete(meta, name)
			unknown = append(unknown, "metadata."+name)
		}
	}
	slices.Sort(unknown)
	if s == nil {
		return unknown
	}
	unknown = append(unknown, s.prune(u.Object, "", true)...)
	s.setDefaults(u.Object)
	return unknown
}

// metadataFields are the JSON names of the fields of ObjectMeta.
var metadataFields = sync.OnceValue(func() map[string]bool {
	fields := map[string]bool{}
	for field := range reflect.TypeFor[metav1.ObjectMeta]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields[name] = true
	}
	return fields
})

// CheckObject returns nil if obj is valid, and otherwise an error with the violations of the
// schema, in the real server's texts. The error names the kind of the object.
func (s *Schema) CheckObject(kind schema.GroupKind, obj apiobject.Object) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok || s == nil {
		return nil
	}
	if errs := s.check(u.Object, ""); len(errs) > 0 {
		return apierrors.NewInvalid(kind, obj.GetName(), errs)
	}
	return nil
}

// CheckUpdate is like CheckObject, for an update. It ignores errors in values that the update does
// not change.
func (s *Schema) CheckUpdate(kind schema.GroupKind, cur, obj apiobject.Object) error {
	if s == nil {
		return nil
	}
	was, is := maps.Clone(cur.(*unstructured.Unstructured).Object), maps.Clone(obj.(*unstructured.Unstructured).Object)
	delete(was, "metadata")
	delete(is, "metadata")
	if apiobject.Equal(was, is) {
		return nil
	}
	return s.CheckObject(kind, obj)
}

// UnknownFieldsText returns the error text for an object with fields that its schema does not have.
// Only clients that request strict validation get the error.
func UnknownFieldsText(paths []string) string {
	texts := make([]string, len(paths))
	for i, path := range paths {
		texts[i] = fmt.Sprintf("unknown field %q", path)
	}
	return "strict decoding error: " + strings.Join(texts, ", ")
}
