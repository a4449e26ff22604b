package rest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// DeleteCollection requests the deletion of all objects in a namespace that match the selectors of
// r and the selectors in list. Without selectors, all objects match. If namespace is "", the
// namespace of r is used. If r has no namespace either, the resource must be cluster-scoped: one
// request cannot delete objects in all namespaces.
//
// The deletion is not a transaction: after an error, some objects may be gone. As with Delete, the
// server only marks objects that have finalizers.
func (r *Resource[T]) DeleteCollection(ctx context.Context, namespace string, opts metav1.DeleteOptions, list metav1.ListOptions) error {
	switch {
	case namespace == "":
		namespace = r.opts.Namespace
	case r.opts.Namespace != "" && namespace != r.opts.Namespace:
		return fmt.Errorf("rest: DELETE in namespace %q: this Resource is for namespace %q", namespace, r.opts.Namespace)
	}
	if r.namespaced && namespace == "" { // RS-4
		return fmt.Errorf("rest: DELETE of all %s: a namespace is required", r.gvr.Resource)
	}
	if err := checkSegments(namespace); err != nil {
		return err
	}
	body, err := deleteBody(opts)
	if err != nil {
		return err
	}
	query := r.listQuery(listwatch.ListOptions{
		ResourceVersion: list.ResourceVersion, ResourceVersionMatch: list.ResourceVersionMatch, Limit: list.Limit, Continue: list.Continue,
	})
	narrow(query, "labelSelector", list.LabelSelector)
	narrow(query, "fieldSelector", list.FieldSelector)
	if list.TimeoutSeconds != nil {
		query.Set("timeoutSeconds", strconv.FormatInt(*list.TimeoutSeconds, 10))
	}
	of := About{Verb: "deletecollection", Resource: r.gvr}
	return r.client.persist(ctx, http.MethodDelete, of, func() error {
		x, _, err := r.send(ctx, request{
			method: http.MethodDelete, path: r.path(types.NamespacedName{Namespace: namespace}), query: query,
			body: body, contentType: mediaTypeJSON, about: about{About: of},
		}, &r.decoder)
		if err != nil {
			return err
		}
		defer x.close()
		// The response is the list of deleted objects, of any length.
		n, err := io.Copy(io.Discard, io.LimitReader(x, r.client.maxListBytes+1))
		if err == nil && n > r.client.maxListBytes {
			err = r.client.listTooLarge()
		}
		if err != nil {
			return x.fail(err)
		}
		return nil
	})
}

// narrow adds a selector to the query's selector: objects must match both.
func narrow(query url.Values, key, selector string) {
	if already := query.Get(key); already != "" && selector != "" {
		selector = already + "," + selector
	}
	set(query, key, selector)
}
