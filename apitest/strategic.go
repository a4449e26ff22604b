package apitest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Directives of a strategic merge patch, in the place of a key or before one. The
// page "Strategic Merge Patch" of Kubernetes' API conventions describes them.
const (
	patchDirective  = "$patch"
	retainDirective = "$retainKeys"
	removePrefix    = "$deleteFromPrimitiveList/"
	orderPrefix     = "$setElementOrder/"
)

// strategicMergePatch applies a patch to an object of a built-in type: a merge
// patch which merges lists as well, where the fields of the Go type say by which
// key (patchStrategy, patchMergeKey).
func strategicMergePatch(doc, patch []byte, goType reflect.Type) ([]byte, error) {
	var object, changes map[string]any
	if err := utiljson.Unmarshal(doc, &object); err != nil {
		return nil, err
	}
	if err := utiljson.Unmarshal(patch, &changes); err != nil {
		return nil, apierrors.NewBadRequest("strategic merge patch: " + err.Error())
	}
	merged, err := mergeMap(object, changes, goType)
	if err != nil {
		return nil, apierrors.NewBadRequest("strategic merge patch: " + err.Error())
	}
	return json.Marshal(merged)
}

// mergeMap applies changes to object, which it may modify, and whose Go type is t.
func mergeMap(object, changes map[string]any, t reflect.Type) (map[string]any, error) {
	switch directive := changes[patchDirective]; directive {
	case nil, "merge":
	case "replace":
		delete(changes, patchDirective)
		return changes, nil
	case "delete":
		return map[string]any{}, nil
	default:
		return nil, fmt.Errorf("%s: %v is unknown", patchDirective, directive)
	}
	if object == nil {
		object = map[string]any{}
	}
	if keep, ok := changes[retainDirective].([]any); ok {
		for name := range object {
			if !contains(keep, name) {
				delete(object, name)
			}
		}
	}
	for name, change := range changes {
		if strings.HasPrefix(name, "$") {
			continue
		}
		if change == nil {
			delete(object, name)
			continue
		}
		merged, err := mergeValue(object[name], change, fieldOf(t, name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		object[name] = merged
	}
	for directive, values := range changes {
		list, ok := values.([]any)
		if name, found := strings.CutPrefix(directive, removePrefix); found && ok {
			old, _ := object[name].([]any)
			object[name] = slices.DeleteFunc(old, func(v any) bool { return contains(list, v) })
		}
	}
	for directive, values := range changes {
		order, ok := values.([]any)
		if name, found := strings.CutPrefix(directive, orderPrefix); found && ok {
			if merged, ok := object[name].([]any); ok {
				reorder(merged, order, fieldOf(t, name).mergeKey)
			}
		}
	}
	return object, nil
}

// mergeValue applies a change to the value of a field.
func mergeValue(old, change any, f patchField) (any, error) {
	switch change := change.(type) {
	case map[string]any:
		oldMap, _ := old.(map[string]any)
		return mergeMap(oldMap, change, f.goType)
	case []any:
		oldList, _ := old.([]any)
		switch {
		case !f.merge:
			return change, nil
		case f.mergeKey == "":
			return union(oldList, change), nil
		}
		return mergeList(oldList, change, f)
	}
	return change, nil
}

// union appends the values that are new.
func union(list, values []any) []any {
	for _, v := range values {
		if !contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// contains compares by depth, since what clients send may not be comparable.
func contains(list []any, v any) bool {
	return slices.ContainsFunc(list, func(e any) bool { return reflect.DeepEqual(e, v) })
}

// mergeList applies changes to a list of objects, which are told apart by a key.
func mergeList(list, changes []any, f patchField) ([]any, error) {
	replaced := slices.ContainsFunc(changes, func(c any) bool {
		change, _ := c.(map[string]any)
		return change[patchDirective] == "replace"
	})
	if replaced {
		list = nil
	}
	for _, c := range changes {
		change, ok := c.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("an element is a %T, not an object", c)
		}
		id, ok := change[f.mergeKey]
		if !ok {
			if replaced && len(change) == 1 {
				continue // the directive alone
			}
			return nil, fmt.Errorf("an element has no %s, by which this list is merged", f.mergeKey)
		}
		i := slices.IndexFunc(list, func(e any) bool { return reflect.DeepEqual(keyIn(e, f.mergeKey), id) })
		if change[patchDirective] == "delete" {
			if i >= 0 {
				list = slices.Delete(list, i, i+1)
			}
			continue
		}
		var old map[string]any
		if i >= 0 {
			old, _ = list[i].(map[string]any)
		} else {
			i = len(list)
			list = append(list, nil)
		}
		merged, err := mergeMap(old, change, f.goType)
		if err != nil {
			return nil, err
		}
		list[i] = merged
	}
	return list, nil
}

// reorder puts the elements that order names into that order; the others keep
// their places.
func reorder(list, order []any, mergeKey string) {
	id := func(e any) any { return keyIn(e, mergeKey) }
	rank := func(e any) int {
		return slices.IndexFunc(order, func(o any) bool { return reflect.DeepEqual(id(o), id(e)) })
	}
	var places []int
	var named []any
	for i, e := range list {
		if rank(e) >= 0 {
			places = append(places, i)
			named = append(named, e)
		}
	}
	slices.SortStableFunc(named, func(a, b any) int { return rank(a) - rank(b) })
	for i, place := range places {
		list[place] = named[i]
	}
}

// keyIn returns what tells an element of a list from others: the value under its
// key, or the element itself.
func keyIn(element any, mergeKey string) any {
	if object, ok := element.(map[string]any); ok {
		return object[mergeKey]
	}
	return element
}

// patchField is what a Go type says about one of its fields.
type patchField struct {
	goType   reflect.Type // of the value, or of the elements of a list; nil if unknown
	merge    bool         // a list is merged rather than replaced
	mergeKey string
}

// fieldOf finds the field with this name in JSON.
func fieldOf(t reflect.Type, name string) patchField {
	if t == nil {
		return patchField{}
	}
	if t.Kind() == reflect.Map {
		return patchField{goType: element(t.Elem())}
	}
	if t.Kind() != reflect.Struct {
		return patchField{}
	}
	for _, f := range reflect.VisibleFields(t) {
		if jsonName, _, _ := strings.Cut(f.Tag.Get("json"), ","); jsonName != name {
			continue
		}
		return patchField{
			goType:   element(f.Type),
			merge:    slices.Contains(strings.Split(f.Tag.Get("patchStrategy"), ","), "merge"),
			mergeKey: f.Tag.Get("patchMergeKey"),
		}
	}
	return patchField{}
}

// element looks through pointers and lists.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}
