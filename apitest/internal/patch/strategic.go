package patch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// The directives of a strategic merge patch. Each is a key or the prefix of a key. The page
// "Strategic Merge Patch" of the Kubernetes API conventions describes them.
const (
	patchDirective  = "$patch"
	retainDirective = "$retainKeys"
	removePrefix    = "$deleteFromPrimitiveList/"
	orderPrefix     = "$setElementOrder/"
)

// strategicMergePatch applies a patch to an object of a built-in type. It is a merge patch that can
// also merge lists, if the Go fields have tags for this (patchStrategy, patchMergeKey).
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

// mergeMap applies changes to object, whose Go type is t. It may change the map object.
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
		switch list := listOfDirective(name); {
		case list != "" && changes[list] == nil && object[list] != nil:
			// a directive for a list that the patch itself does not contain
			name, change = list, []any{}
		case strings.HasPrefix(name, "$"):
			continue
		case change == nil:
			delete(object, name)
			continue
		}
		wanted, _ := changes[orderPrefix+name].([]any)
		removed, _ := changes[removePrefix+name].([]any)
		merged, err := mergeValue(object[name], change, fieldOf(t, name), wanted, removed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		object[name] = merged
	}
	return object, nil
}

// listOfDirective returns the name of the list that a directive refers to, or "".
func listOfDirective(directive string) string {
	for _, prefix := range []string{orderPrefix, removePrefix} {
		if name, ok := strings.CutPrefix(directive, prefix); ok {
			return name
		}
	}
	return ""
}

// mergeValue applies a change to the value of a field. For a list, the argument order has the
// desired order, and the argument removed has the values to remove.
func mergeValue(old, change any, f patchField, order, removed []any) (any, error) {
	switch change := change.(type) {
	case map[string]any:
		oldMap, _ := old.(map[string]any)
		return mergeMap(oldMap, change, f.goType)
	case []any:
		if !f.merge {
			return change, nil
		}
		list, _ := old.([]any)
		if order == nil {
			order = change
		}
		list = slices.DeleteFunc(list, func(v any) bool { return contains(removed, v) })
		if f.mergeKey == "" {
			return applyOrder(union(list, change), list, order, f.mergeKey), nil
		}
		merged, err := mergeList(list, change, f)
		return applyOrder(merged, list, order, f.mergeKey), err
	}
	return change, nil
}

// union returns the list, with the values that it lacks appended.
func union(list, values []any) []any {
	list = slices.Clone(list)
	for _, v := range values {
		if !contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// contains compares deeply, because values from clients may not be comparable.
func contains(list []any, v any) bool { return indexOf(list, v, "") >= 0 }

// indexOf returns the position of the element with the same key as v, or -1.
func indexOf(list []any, v any, mergeKey string) int {
	id := mergeKeyOf(v, mergeKey)
	return slices.IndexFunc(list, func(e any) bool { return reflect.DeepEqual(mergeKeyOf(e, mergeKey), id) })
}

// mergeList merges changes into a list of objects. A key field identifies the objects.
func mergeList(list, changes []any, f patchField) ([]any, error) {
	list = slices.Clone(list)
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
		if change[f.mergeKey] == nil {
			if replaced && len(change) == 1 {
				continue // The element has only the directive.
			}
			return nil, fmt.Errorf("an element has no %s, by which this list is merged", f.mergeKey)
		}
		i := indexOf(list, change, f.mergeKey)
		if change[patchDirective] == "delete" {
			if i >= 0 {
				list = slices.Delete(list, i, i+1)
			}
			continue
		}
		if i < 0 {
			i = len(list)
			list = append(list, nil)
		}
		old, _ := list[i].(map[string]any)
		merged, err := mergeMap(old, change, f.goType)
		if err != nil {
			return nil, err
		}
		list[i] = merged
	}
	return list, nil
}

// applyOrder sorts a list after a merge. The elements that are also in the argument order get its
// order. Every other element comes before the first of them that it preceded in the old list.
func applyOrder(list, old, order []any, mergeKey string) []any {
	var named, others []any
	for _, e := range list {
		if indexOf(order, e, mergeKey) >= 0 {
			named = append(named, e)
		} else {
			others = append(others, e)
		}
	}
	slices.SortStableFunc(named, func(a, b any) int {
		return indexOf(order, a, mergeKey) - indexOf(order, b, mergeKey)
	})
	arranged := list[:0]
	for _, e := range named {
		for len(others) > 0 && indexOf(old, others[0], mergeKey) < indexOf(old, e, mergeKey) {
			arranged = append(arranged, others[0])
			others = others[1:]
		}
		arranged = append(arranged, e)
	}
	return append(arranged, others...)
}

// mergeKeyOf returns the identity of a list element: the value of its key field, or the element
// itself.
func mergeKeyOf(element any, mergeKey string) any {
	if object, ok := element.(map[string]any); ok && mergeKey != "" {
		return object[mergeKey]
	}
	return element
}

// patchField describes a field of a Go type for patches.
type patchField struct {
	goType   reflect.Type // type of the value or of the list elements; nil if unknown
	merge    bool         // the list is merged, not replaced
	mergeKey string
}

// fieldOf finds the field with this name in JSON.
func fieldOf(t reflect.Type, name string) patchField {
	if t == nil {
		return patchField{}
	}
	if t.Kind() == reflect.Map {
		return patchField{goType: elementType(t.Elem())}
	}
	if t.Kind() != reflect.Struct {
		return patchField{}
	}
	for _, f := range reflect.VisibleFields(t) {
		if jsonName, _, _ := strings.Cut(f.Tag.Get("json"), ","); jsonName != name {
			continue
		}
		return patchField{
			goType:   elementType(f.Type),
			merge:    slices.Contains(strings.Split(f.Tag.Get("patchStrategy"), ","), "merge"),
			mergeKey: f.Tag.Get("patchMergeKey"),
		}
	}
	return patchField{}
}

// elementType returns the type to which pointers and lists of t finally lead.
func elementType(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}
