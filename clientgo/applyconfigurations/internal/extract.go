package internal

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Extract copies the fields that a manager has applied to a subresource and still owns. It writes
// them into an empty configuration, the argument into. The manager may own no fields. The merge
// rules of the type decide what an owned path selects. If a map is merged entry by entry, the path
// of the map does not select its entries: each entry has its own path.
func Extract(object runtime.Object, manager, subresource string, into any) error {
	owned, err := ownedFields(object, manager, subresource)
	if err != nil || owned == nil {
		return err
	}
	whole, err := Parser().Type(schemaName(object)).FromStructured(object, typed.AllowDuplicates)
	if err != nil {
		return fmt.Errorf("reading the fields of the object: %w", err)
	}
	part, ok := whole.ExtractItems(owned).AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(part, into); err != nil {
		return fmt.Errorf("writing the fields of the configuration: %w", err)
	}
	return nil
}

// schemaName returns the name of an object's type in the schema: its package path, with the host
// name reversed.
func schemaName(object runtime.Object) string {
	t := reflect.TypeOf(object).Elem()
	return "io.k8s." + strings.ReplaceAll(strings.TrimPrefix(t.PkgPath(), "k8s.io/"), "/", ".") + "." + t.Name()
}

// ownedFields returns the fields that a manager has applied, or nil.
func ownedFields(object runtime.Object, manager, subresource string) (*fieldpath.Set, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	for _, entry := range accessor.GetManagedFields() {
		if entry.Manager != manager || entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != subresource || entry.FieldsV1 == nil {
			continue
		}
		owned := &fieldpath.Set{}
		if err := owned.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			return nil, fmt.Errorf("reading the managed fields of %s: %w", manager, err)
		}
		return owned.Leaves(), nil
	}
	return nil, nil
}
