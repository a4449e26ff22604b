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
// r and the selectors in list. Without selectors, all objects match. If namespace is "", it
// defaults to the namespace of r. If r has no namespace either, the resource must be
// cluster-scoped: one request cannot delete objects in all namespaces.
//
// The deletion is not a transaction: after an error, some objects may be deleted. As with Delete,
// the server only marks objects that have finalizers for deletion.
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
	addSelector(query, "labelSelector", list.LabelSelector)
	addSelector(query, "fieldSelector", list.FieldSelector)
	if list.TimeoutSeconds != nil {
		query.Set("timeoutSeconds", strconv.FormatInt(*list.TimeoutSeconds, 10))
	}
	info := RequestInfo{Verb: "deletecollection", Resource: r.gvr}
	return r.client.withRetries(ctx, http.MethodDelete, info, func() error {
		x, _, err := r.send(ctx, request{
			method: http.MethodDelete, path: r.path(types.NamespacedName{Namespace: namespace}), query: query,
			body: body, contentType: mediaTypeJSON, target: requestTarget{RequestInfo: info},
		}, &r.items.Single)
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
			return x.wrapError(err)
		}
		return nil
	})
}

// addSelector adds a selector to the query's selector: objects must match both.
func addSelector(query url.Values, key, selector string) {
	if existing := query.Get(key); existing != "" && selector != "" {
		selector = existing + "," + selector
	}
	set(query, key, selector)
}
