package rest

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/rest/internal/decode"
)

// Subresource is a subresource of a Resource's objects that has its own type S: the scale of a
// deployment (*autoscalingv1.Scale), the eviction of a pod (*policyv1.Eviction), its binding to a
// node (*corev1.Binding), the token of a service account (*authenticationv1.TokenRequest). Only
// programs that name S link the type S. A Subresource is safe for concurrent use.
//
// A subresource with the type of the object itself, such as "status", needs no Subresource: see
// UpdateStatus, Patch and ServerSideApply of [Resource].
//
// All requests and responses are in JSON. Values of S have everything that the server sent, kind
// and apiVersion included. A value to send may lack kind and apiVersion if the resource is
// built-in.
type Subresource[S any] struct {
	resource *Resource[S]
	name     string
}

// NewSubresource returns a subresource of r by its name in URLs, such as "scale":
//
//	scales, err := rest.NewSubresource[*autoscalingv1.Scale](deployments, "scale")
//
// NewSubresource sends no request, so its error is only about the arguments.
func NewSubresource[S, T any](r *Resource[T], name string) (*Subresource[S], error) {
	switch {
	case r == nil:
		return nil, errors.New("rest: a subresource needs a Resource, which is nil")
	case name == "":
		return nil, errors.New("rest: a subresource needs a name, such as \"scale\"")
	}
	if err := checkSegments(name); err != nil {
		return nil, err
	}
	s, err := NewJSONResource[S](r.client, r.gvr, ResourceOptions{Namespace: r.opts.Namespace, Encoding: JSON})
	if err != nil {
		return nil, err
	}
	s.namespaced = r.namespaced
	s.kinds.Store(&decode.KindChecker{}) // The kind of S is not known, and may be of another group.
	return &Subresource[S]{resource: s, name: name}, nil
}

// Get returns the subresource of one object.
func (s *Subresource[S]) Get(ctx context.Context, key types.NamespacedName, opts metav1.GetOptions) (S, error) {
	query := url.Values{}
	set(query, "resourceVersion", opts.ResourceVersion)
	return s.resource.do(ctx, http.MethodGet, key, query, nil, "", s.name)
}

// Update replaces the subresource of one object, and returns the stored subresource.
func (s *Subresource[S]) Update(ctx context.Context, key types.NamespacedName, part S, opts metav1.UpdateOptions) (none S, err error) {
	body, err := encodeBody(http.MethodPut, part)
	if err != nil {
		return none, err
	}
	query := writeQuery(opts.DryRun, opts.FieldManager, opts.FieldValidation)
	return s.resource.do(ctx, http.MethodPut, key, query, body, mediaTypeJSON, s.name)
}

// Patch changes the subresource of one object, and returns the stored subresource.
func (s *Subresource[S]) Patch(ctx context.Context, key types.NamespacedName, patchType types.PatchType, data []byte, opts metav1.PatchOptions) (S, error) {
	return s.resource.Patch(ctx, key, patchType, data, opts, s.name)
}

// Create sends part to the subresource of one object, to request an action such as an eviction, and
// returns the response. If the response is only a Status of success, as for an eviction or a
// binding, Create returns the argument part.
func (s *Subresource[S]) Create(ctx context.Context, key types.NamespacedName, part S, opts metav1.CreateOptions) (none S, err error) {
	body, err := encodeBody(http.MethodPost, part)
	if err != nil {
		return none, err
	}
	query := writeQuery(opts.DryRun, opts.FieldManager, opts.FieldValidation)
	x, encoding, data, err := s.resource.exchange(ctx, http.MethodPost, key, query, body, mediaTypeJSON, s.name)
	if err != nil {
		return none, err
	}
	_, kind, err := responseTypeMeta(encoding, data)
	if err == nil && string(kind) == "Status" {
		return part, nil
	}
	if err == nil {
		part, err = s.resource.decodeObject(encoding, data)
	}
	if err != nil {
		return none, x.wrapError(err)
	}
	return part, nil
}
