package internal

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Pick returns the fields that a manager has applied to a subresource and still owns, for an object
// of any kind. The result shares parts of the object. It is nil if there are no such fields.
//
// Without a schema, Pick cannot know whether the path of a map or a list includes its content. The
// managed fields show it: if any manager owns a part of the map or list, its parts have their own
// owners.
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

// pick returns the part of v at the paths in owned. The second set has the paths of all managers.
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
				if matchesItem(element, i, item) {
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

// children returns the path elements below which a set has further paths.
func children(set *fieldpath.Set) *fieldpath.PathElementSet {
	elements := fieldpath.NewSet()
	for element := range set.Children.All() {
		elements.Members.Insert(element)
	}
	return &elements.Members
}

// pickMember returns the owned part of the member at an element. The second result reports whether
// owned has paths there.
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

// matchesItem reports whether a path element selects an item.
func matchesItem(element fieldpath.PathElement, index int, item any) bool {
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
