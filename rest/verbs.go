package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/wire"
)

// Get returns one object.
//
// As with all verbs, every failure of the request is an [*Error], for which the predicates of
// apierrors work. [Error] says after which failures the client retries.
func (r *Resource[T]) Get(ctx context.Context, key types.NamespacedName, opts metav1.GetOptions) (T, error) {
	query := url.Values{}
	set(query, "resourceVersion", opts.ResourceVersion)
	return r.do(ctx, http.MethodGet, key, query, nil, "")
}

// Create creates obj, in its own namespace or otherwise in the namespace of r, and returns the
// stored object. obj is not changed. Its metadata.name may be empty if generateName is set.
//
// Kind and apiVersion may be missing in obj. For built-in types the server adds them. For other
// types the client sends them if ResourceOptions.Kind has the kind. Without ResourceOptions.Kind,
// obj must have them.
func (r *Resource[T]) Create(ctx context.Context, obj T, opts metav1.CreateOptions) (T, error) {
	query := writeQuery(opts.DryRun, opts.FieldManager, opts.FieldValidation)
	return r.write(ctx, http.MethodPost, obj, query)
}

// Update replaces the object with obj's name, and returns the stored object. If obj has a
// resourceVersion, and the stored object has another one, the error is a conflict. Namespace, kind
// and apiVersion are as for Create.
//
// The server deletes all fields that obj lacks. So T must have all fields of the resource, and obj
// must not come from a list that left fields out. Update refuses an obj that it recognises as
// incomplete; see [Omit].
func (r *Resource[T]) Update(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	query := writeQuery(opts.DryRun, opts.FieldManager, opts.FieldValidation)
	return r.write(ctx, http.MethodPut, obj, query)
}

// UpdateStatus is like Update, for the status of an object. The server ignores other changes in
// obj.
func (r *Resource[T]) UpdateStatus(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	query := writeQuery(opts.DryRun, opts.FieldManager, opts.FieldValidation)
	return r.write(ctx, http.MethodPut, obj, query, "status")
}

// Patch changes an object, or one of its subresources such as "status", by a patch of the given
// type, and returns the stored object.
func (r *Resource[T]) Patch(ctx context.Context, key types.NamespacedName, patchType types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error) {
	query := writeQuery(opts.DryRun, opts.FieldManager, opts.FieldValidation)
	if opts.Force != nil {
		query.Set("force", strconv.FormatBool(*opts.Force))
	}
	if data == nil {
		data = []byte{}
	}
	return r.do(ctx, http.MethodPatch, key, query, data, string(patchType), subresources...)
}

// Delete requests the deletion of an object. It returns nil if the server deleted the object, or
// marked it for deletion, for example because of its finalizers.
func (r *Resource[T]) Delete(ctx context.Context, key types.NamespacedName, opts metav1.DeleteOptions) error {
	body, err := deleteBody(opts)
	if err != nil {
		return err
	}
	x, encoding, data, err := r.exchange(ctx, http.MethodDelete, key, nil, body, mediaTypeJSON)
	if err != nil {
		return err
	}
	if _, _, err = responseTypeMeta(encoding, data); err != nil {
		return x.wrapError(err)
	}
	return nil
}

// deleteBody encodes the body of a request to delete.
func deleteBody(opts metav1.DeleteOptions) ([]byte, error) {
	if opts.Kind == "" {
		opts.TypeMeta = metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"}
	}
	body, err := json.Marshal(opts)
	if err != nil {
		return nil, fmt.Errorf("rest: delete options: %w", err)
	}
	return body, nil
}

// writeQuery returns the query parameters that all writing verbs have in common.
func writeQuery(dryRun []string, fieldManager, fieldValidation string) url.Values {
	query := url.Values{}
	if len(dryRun) > 0 {
		query["dryRun"] = dryRun
	}
	set(query, "fieldManager", fieldManager)
	set(query, "fieldValidation", fieldValidation)
	return query
}

// write sends an object with the kind that the server needs, and returns the stored object.
func (r *Resource[T]) write(ctx context.Context, method string, obj T, query url.Values, subresources ...string) (none T, err error) {
	o, ok := any(obj).(metav1.Object)
	if !ok {
		return none, notAnObjectError(obj)
	}
	body, err := encodeBody(method, obj)
	if err == nil && method == http.MethodPut {
		err = r.checkComplete(method, o)
	}
	if err != nil {
		return none, err
	}
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
	return r.do(ctx, method, key, query, r.kinds.Load().AddTypeMeta(body), mediaTypeJSON, subresources...)
}

// encodeBody encodes an object to send.
func encodeBody(method string, obj any) ([]byte, error) {
	body, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("rest: %s %T: %w", method, obj, err)
	}
	if string(body) == "null" {
		return nil, fmt.Errorf("rest: %s: the %T is nil", method, obj)
	}
	return body, nil
}

// do sends a request about one object and decodes the object in the response.
func (r *Resource[T]) do(ctx context.Context, method string, key types.NamespacedName, query url.Values, body []byte, contentType string, subresources ...string) (none T, err error) {
	x, encoding, data, err := r.exchange(ctx, method, key, query, body, contentType, subresources...)
	if err != nil {
		return none, err
	}
	obj, err := r.decodeObject(encoding, data)
	if err != nil {
		return none, x.wrapError(err)
	}
	return obj, nil
}

// exchange sends a request about one object and reads the whole response. The returned exchange is
// already closed.
func (r *Resource[T]) exchange(ctx context.Context, method string, key types.NamespacedName, query url.Values, body []byte, contentType string, subresources ...string) (*exchange, Encoding, []byte, error) {
	requested := key
	switch {
	case key.Namespace == "":
		key.Namespace = r.opts.Namespace
	case r.opts.Namespace != "" && key.Namespace != r.opts.Namespace:
		return nil, 0, nil, fmt.Errorf("rest: %s %s: this Resource is for namespace %q", method, key, r.opts.Namespace)
	}
	if method == http.MethodPost && len(subresources) == 0 {
		key.Name = "" // the request goes to the collection
	} else if key.Name == "" {
		return nil, 0, nil, fmt.Errorf("rest: %s %s: a name is required", method, r.gvr.Resource)
	}
	if r.namespaced && key.Namespace == "" { // RS-4
		return nil, 0, nil, fmt.Errorf("rest: %s %s %q: a namespace is required", method, r.gvr.Resource, requested.Name)
	}
	if err := checkSegments(append([]string{key.Namespace, key.Name}, subresources...)...); err != nil {
		return nil, 0, nil, err
	}
	var x *exchange
	var encoding Encoding
	var data []byte
	target := requestTarget{RequestInfo{Verb: verbOf(method), Resource: r.gvr, Subresource: strings.Join(subresources, "/")}, requested.Name}
	err := r.client.withRetries(ctx, method, target.RequestInfo, func() (err error) {
		x, encoding, err = r.send(ctx, request{
			method: method, path: r.path(key, subresources...), query: query,
			body: body, contentType: contentType, target: target,
		}, &r.items.Single)
		if err != nil {
			return err
		}
		defer x.close()
		data, err = x.body(r.client.maxObjectBytes)
		if err == nil && len(data) == 0 {
			err = wire.Malformed("the body is empty")
		}
		if err != nil {
			return x.wrapError(err)
		}
		return nil
	})
	if err != nil {
		err = withHint(err, key.Namespace, body)
	}
	return x, encoding, data, err
}

// verbOf returns the API's verb for a request about one object.
func verbOf(method string) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	default:
		return strings.ToLower(method) // get, patch, delete
	}
}

// decodeObject decodes the response to a request about one object.
func (r *Resource[T]) decodeObject(encoding Encoding, data []byte) (none T, err error) {
	apiVersion, kind, err := responseTypeMeta(encoding, data)
	if err == nil {
		err = r.kinds.Load().CheckObject(apiVersion, kind)
	}
	if err != nil {
		return none, err
	}
	if encoding == Protobuf {
		if _, _, data, err = wire.Unwrap(data, false); err != nil {
			return none, err
		}
	}
	var scan wire.JSONScan
	if encoding == JSON {
		scan.End(data)
	}
	if err = r.items.Estimator.Check(wire.Encoding(encoding), data, scan.Size); err != nil {
		return none, err
	}
	var obj T
	err = wire.CatchPanic(func() error {
		object, err := r.items.Single.Decode(wire.Encoding(encoding), data, &wire.Envelope{})
		if err == nil {
			obj, _ = object.(T)
		}
		return err
	})
	if err != nil {
		return none, wire.Malformed("%w", err)
	}
	return obj, nil
}

// responseTypeMeta reads apiVersion and kind of an object. In JSON, a missing kind is an error.
func responseTypeMeta(encoding Encoding, data []byte) (apiVersion, kind []byte, err error) {
	if encoding == Protobuf {
		apiVersion, kind, _, err = wire.Unwrap(data, false)
		return apiVersion, kind, err
	}
	if start := data[wire.Space(data, 0):]; len(start) == 0 || start[0] != '{' {
		return nil, nil, wire.NotJSON(start)
	}
	if !json.Valid(data) {
		return nil, nil, wire.Malformed("the %d bytes of the response are not valid JSON", len(data))
	}
	if apiVersion, kind = decode.TypeMeta(data); len(kind) == 0 {
		return nil, nil, wire.Malformed("the response is an object without a kind")
	}
	return apiVersion, kind, nil
}
