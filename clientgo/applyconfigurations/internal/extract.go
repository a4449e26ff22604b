package internal

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Extract puts into an empty configuration what a manager has applied to a subresource of an object and owns still,
// which may be nothing.
func Extract(object runtime.Object, manager, subresource string, into any) error {
	owned, err := ownedFields(object, manager, subresource)
	if err != nil || owned == nil {
		return err
	}
	whole, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("reading the fields of the object: %w", err)
	}
	part, _ := pick(whole, owned).(map[string]any)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(part, into); err != nil {
		return fmt.Errorf("writing the fields of the configuration: %w", err)
	}
	return nil
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

// pick returns the part of v that owned names. An item of a list keeps the fields by which it is found.
func pick(v any, owned *fieldpath.Set) any {
	switch v := v.(type) {
	case map[string]any:
		part := map[string]any{}
		for name, member := range v {
			element := fieldpath.PathElement{FieldName: &name}
			if owned.Members.Has(element) {
				part[name] = member
			} else if children, ok := owned.Children.Get(element); ok {
				part[name] = pick(member, children)
			}
		}
		return part
	case []any:
		var part []any
		for i, item := range v {
			if picked, ok := pickItem(i, item, owned); ok {
				part = append(part, picked)
			}
		}
		return part
	default:
		return v
	}
}

// pickItem returns the part of an item of a list that owned names, if it does.
func pickItem(index int, item any, owned *fieldpath.Set) (part any, is bool) {
	for element := range owned.Members.All() {
		if denotes(element, index, item) {
			return item, true
		}
	}
	for element := range owned.Children.All() {
		if !denotes(element, index, item) {
			continue
		}
		children, _ := owned.Children.Get(element)
		part := pick(item, children)
		if fields, ok := part.(map[string]any); ok && element.Key != nil {
			for _, key := range *element.Key {
				fields[key.Name] = item.(map[string]any)[key.Name]
			}
		}
		return part, true
	}
	return nil, false
}

// denotes says whether an element of a path is about an item.
func denotes(element fieldpath.PathElement, index int, item any) bool {
	switch {
	case element.Index != nil:
		return *element.Index == index
	case element.Value != nil:
		return value.Equals(*element.Value, value.NewValueInterface(item))
	case element.Key != nil:
		fields, ok := item.(map[string]any)
		if !ok {
			return false
		}
		for _, key := range *element.Key {
			if held, ok := fields[key.Name]; !ok || !value.Equals(key.Value, value.NewValueInterface(held)) {
				return false
			}
		}
		return true
	default:
		return false
	}
}
