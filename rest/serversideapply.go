package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ServerSideApply applies obj to the object with obj's name by server-side apply (KEP-555), and
// returns the stored object. The server creates a missing object. obj is not changed.
//
// obj must have exactly the fields that opts.FieldManager wants to own. The server removes a field
// that this manager set before and that obj lacks now. If another manager owns a field of obj with
// another value, the error is a conflict, unless opts.Force takes over the field. With a
// subresource such as "status", the server applies only that part.
//
// As in Create, obj may lack kind and apiVersion if the kind is known. ServerSideApply does not
// send managedFields, which servers refuse. It does not send an empty status, which typed objects
// always have, unless the status is the subresource. It does not send fields that are null in the
// JSON of a Go type, because a null would remove values that others have set. The manager also owns
// other empty fields that the JSON of the Go type has. If this is a problem, use an
// *unstructured.Unstructured, whose nulls are sent, or Patch with [types.ApplyPatchType].
//
// The method is not called Apply, because an informer's sink has a method Apply. The linker would
// then keep ServerSideApply in every program with an informer.
func (r *Resource[T]) ServerSideApply(ctx context.Context, obj T, opts metav1.ApplyOptions, subresources ...string) (none T, err error) {
	o, ok := any(obj).(metav1.Object)
	if !ok {
		return none, notAnObjectError(obj)
	}
	if opts.FieldManager == "" {
		return none, errors.New("rest: ServerSideApply: a FieldManager is required")
	}
	body, err := encodeBody("apply", obj)
	if err == nil {
		err = r.checkComplete(http.MethodPatch, o)
	}
	if err != nil {
		return none, err
	}
	if _, unstructured := any(obj).(interface{ UnstructuredContent() map[string]any }); !unstructured {
		if body, err = withoutNull(body); err != nil {
			return none, fmt.Errorf("rest: apply %T: %w", obj, err)
		}
	}
	if body, err = r.applyBody(r.kinds.Load().AddTypeMeta(body), len(subresources) > 0); err != nil {
		return none, fmt.Errorf("rest: apply %T: %w", obj, err)
	}
	query := writeQuery(opts.DryRun, opts.FieldManager, "")
	if opts.Force {
		query.Set("force", "true")
	}
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
	return r.do(ctx, http.MethodPatch, key, query, body, string(types.ApplyPatchType), subresources...)
}

// withoutNull removes every object member with the value null from JSON.
func withoutNull(data json.RawMessage) (json.RawMessage, error) {
	switch data[0] {
	case '{':
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil {
			return nil, err
		}
		for name, value := range members {
			if string(value) == "null" {
				delete(members, name)
				continue
			}
			inner, err := withoutNull(value)
			if err != nil {
				return nil, err
			}
			members[name] = inner
		}
		return json.Marshal(members)
	case '[':
		var elements []json.RawMessage
		if err := json.Unmarshal(data, &elements); err != nil {
			return nil, err
		}
		for i, value := range elements {
			inner, err := withoutNull(value)
			if err != nil {
				return nil, err
			}
			elements[i] = inner
		}
		return json.Marshal(elements)
	}
	return data, nil
}

// applyBody makes an apply patch from an object in JSON. It removes an empty status unless status
// is true, which says that the patch is for a subresource.
func (r *Resource[T]) applyBody(object []byte, status bool) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, err
	}
	if string(fields["status"]) == "{}" && !status {
		delete(fields, "status")
	}
	var metadata map[string]json.RawMessage
	if err := json.Unmarshal(fields["metadata"], &metadata); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	delete(metadata, "managedFields")
	if string(metadata["creationTimestamp"]) == "null" {
		delete(metadata, "creationTimestamp")
	}
	var err error
	if fields["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	if fields["kind"] == nil || fields["apiVersion"] == nil {
		if !r.items.Single.Protobuf() || r.partial {
			return nil, errors.New("kind and apiVersion are required: set ResourceOptions.Kind, or kind and apiVersion in the object")
		}
		fields["kind"], _ = json.Marshal(r.items.Single.Go.Elem().Name())
		fields["apiVersion"], _ = json.Marshal(r.gvr.GroupVersion().String())
	}
	return json.Marshal(fields)
}

// notAnObjectError returns the error for an object that cannot be written, because it does not
// implement metav1.Object.
func notAnObjectError(obj any) error {
	return fmt.Errorf("rest: %s cannot be written: the type is not a metav1.Object, so the name of the object is unknown", reflect.TypeOf(obj))
}
