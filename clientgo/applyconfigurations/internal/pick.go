package internal

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Pick returns what a manager has applied to a subresource of an object of any kind, and owns still. The result shares parts of the
// object, and is nil if that is nothing.
//
// No schema says whether the path of a map or a list stands for all that is in it. The managed fields do: where any manager owns a part
// of it, parts have owners of their own.
func Pick(object *unstructured.Unstructured, manager, subresource string) (map[string]any, error) {
	owned, err := ownedFields(object, manager, subresource)
	if err != nil || owned == nil {
		return nil, err
	}
	all := &fieldpath.Set{}
	for _, entry := range object.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		fields := &fieldpath.Set{}
		if err := fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			return nil, fmt.Errorf("reading the managed fields of %s: %w", entry.Manager, err)
		}
		all = all.Union(fields)
	}
	part, _ := pick(object.Object, owned, all).(map[string]any)
	return part, nil
}

// pick returns the part of v that owned names, where all is what all managers own of it.
func pick(v any, owned, all *fieldpath.Set) any {
	switch v := v.(type) {
	case map[string]any:
		part := map[string]any{}
		for name, member := range v {
			if picked, ok := pickMember(fieldpath.PathElement{FieldName: &name}, member, owned, all); ok {
				part[name] = picked
			}
		}
		return part
	case []any:
		part := []any{}
		for i, item := range v {
			for element := range owned.Members.Union(children(owned)).All() {
				if denotes(element, i, item) {
					picked, _ := pickMember(element, item, owned, all)
					part = append(part, picked)
					break
				}
			}
		}
		return part
	default:
		return v
	}
}

// children are the elements below which a set has paths.
func children(set *fieldpath.Set) *fieldpath.PathElementSet {
	elements := fieldpath.NewSet()
	for element := range set.Children.All() {
		elements.Members.Insert(element)
	}
	return &elements.Members
}

// pickMember returns the part that owned names of what is at an element, if it names any.
func pickMember(element fieldpath.PathElement, member any, owned, all *fieldpath.Set) (part any, is bool) {
	below, parts := all.Children.Get(element)
	if owned, ok := owned.Children.Get(element); ok {
		return pick(member, owned, below), true
	}
	if !owned.Members.Has(element) {
		return nil, false
	}
	if !parts {
		return member, true
	}
	part = pick(member, fieldpath.NewSet(), below)
	if fields, ok := part.(map[string]any); ok && element.Key != nil {
		for _, key := range *element.Key {
			fields[key.Name] = key.Value.Unstructured()
		}
	}
	return part, true
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
