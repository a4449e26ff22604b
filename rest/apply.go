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

// ServerSideApply makes the object that has obj's name have what obj says, creates it if
// there is none, and returns it as it was stored: server-side apply (KEP-555).
// obj, which is not changed, is to have what opts.FieldManager has an opinion on,
// and no more: fields that it had set before, and that are missing now, are removed,
// and fields that another manager has set otherwise are a conflict, unless
// opts.Force takes them over. A subresource such as "status" is applied alone.
//
// kind and apiVersion may be missing in a type of k8s.io/api. managedFields is left
// out, for a server takes no such wish, and so is an empty status, which typed
// objects always have, unless it is the status that is applied. Other
// fields that a Go type writes although they are empty count as an opinion; where
// that hurts, use an *unstructured.Unstructured, or Patch with
// [types.ApplyPatchType] and any bytes.
//
// (It is not called Apply: every method of that name, and all that it calls, is
// linked into a program with an informer, whose sink has one.)
func (r *Resource[T]) ServerSideApply(ctx context.Context, obj T, opts metav1.ApplyOptions, subresources ...string) (none T, err error) {
	o, ok := any(obj).(metav1.Object)
	if !ok {
		return none, errNoObject(obj)
	}
	if opts.FieldManager == "" {
		return none, errors.New("rest: ServerSideApply: a FieldManager is required")
	}
	body, err := encodeBody("apply", obj)
	if err == nil {
		err = r.whole(http.MethodPatch, o)
	}
	if err != nil {
		return none, err
	}
	if body, err = r.applyBody(body, len(subresources) > 0); err != nil {
		return none, fmt.Errorf("rest: apply %T: %w", obj, err)
	}
	query := writeQuery(opts.DryRun, opts.FieldManager, "")
	if opts.Force {
		query.Set("force", "true")
	}
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
	return r.do(ctx, http.MethodPatch, key, query, body, string(types.ApplyPatchType), subresources...)
}

// applyBody makes a patch of an object in JSON.
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
		if r.decoder.protobuf == nil || r.partial {
			return nil, errors.New("kind and apiVersion are required")
		}
		fields["kind"], _ = json.Marshal(r.decoder.typ.Elem().Name())
		fields["apiVersion"], _ = json.Marshal(r.gvr.GroupVersion().String())
	}
	return json.Marshal(fields)
}

// errNoObject says that something has no name to write it under.
func errNoObject(obj any) error {
	return fmt.Errorf("rest: %s cannot be written: it is no metav1.Object, so its name is not known", reflect.TypeOf(obj))
}
