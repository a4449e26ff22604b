package rest

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Subresource is a part or an action of the objects of a Resource that has a type
// of its own: the scale of a deployment (*autoscalingv1.Scale), the eviction of a
// pod (*policyv1.Eviction), its binding to a node (*corev1.Binding), the token of a
// service account (*authenticationv1.TokenRequest). Only programs that name such a
// type link it. It is safe for concurrent use.
//
// What has the type of the object itself, such as "status", needs none:
// UpdateStatus, Patch and ServerSideApply of [Resource] do that.
//
// It speaks JSON. Objects come with what the server wrote, kind and apiVersion
// included; in what is sent, these may be missing for built-in resources.
type Subresource[S any] struct {
	resource *Resource[S]
	name     string
}

// NewSubresource returns the subresource of r with the name that it has in URLs,
// such as "scale":
//
//	scales, err := rest.NewSubresource[*autoscalingv1.Scale](deployments, "scale")
//
// The error is about the arguments.
func NewSubresource[S, T any](r *Resource[T], name string) (*Subresource[S], error) {
	switch {
	case r == nil:
		return nil, errors.New("rest: a subresource needs a Resource, and has none")
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
	s.kinds.Store(&kinds{}) // which is not known, and may be of another group
	return &Subresource[S]{resource: s, name: name}, nil
}

// Get returns the subresource of one object.
func (s *Subresource[S]) Get(ctx context.Context, key types.NamespacedName, opts metav1.GetOptions) (S, error) {
	query := url.Values{}
	set(query, "resourceVersion", opts.ResourceVersion)
	return s.resource.do(ctx, http.MethodGet, key, query, nil, "", s.name)
}

// Update replaces the subresource of one object and returns it as it was stored.
func (s *Subresource[S]) Update(ctx context.Context, key types.NamespacedName, part S, opts metav1.UpdateOptions) (none S, err error) {
	body, err := encodeBody(http.MethodPut, part)
	if err != nil {
		return none, err
	}
	query := writeQuery(opts.DryRun, opts.FieldManager, opts.FieldValidation)
	return s.resource.do(ctx, http.MethodPut, key, query, body, mediaTypeJSON, s.name)
}

// Patch changes the subresource of one object and returns it as it was stored.
func (s *Subresource[S]) Patch(ctx context.Context, key types.NamespacedName, patchType types.PatchType, data []byte, opts metav1.PatchOptions) (S, error) {
	return s.resource.Patch(ctx, key, patchType, data, opts, s.name)
}

// Create sends what asks for an action on one object, and returns the answer or,
// where that says no more than success, as for an eviction and a binding, what was
// sent.
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
	_, kind, err := answerKind(encoding, data)
	if err == nil && string(kind) == "Status" {
		return part, nil
	}
	if err == nil {
		part, err = s.resource.object(encoding, data)
	}
	if err != nil {
		return none, x.fail(err)
	}
	return part, nil
}
