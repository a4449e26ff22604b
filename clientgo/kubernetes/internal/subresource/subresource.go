// Package subresource sends the requests of typed clients for subresources whose type differs from
// the object's type.
package subresource

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/apply"
)

// Scope says whether a resource is namespaced or cluster-scoped, and has the namespace.
type Scope struct {
	namespaced bool
	namespace  string
}

// Cluster is the scope of a cluster-scoped resource.
var Cluster Scope

// Namespaced is the scope of a namespaced resource. Requests that need a namespace fail if
// namespace is "".
func Namespaced(namespace string) Scope { return Scope{true, namespace} }

// object is the constraint of a pointer type *T that is an object.
type object[T any] interface {
	*T
	runtime.Object
}

// Get reads a subresource.
func Get[T any, P object[T]](ctx context.Context, c rest.Interface, codec runtime.ParameterCodec, scope Scope, resource, name, sub string, opts metav1.GetOptions) (*T, error) {
	return send[T, P](ctx, at(c.Get(), scope, resource, name, sub).UseProtobufAsDefault().VersionedParams(&opts, codec))
}

// Update replaces a subresource.
func Update[T any, P object[T]](ctx context.Context, c rest.Interface, codec runtime.ParameterCodec, scope Scope, resource, name, sub string, body runtime.Object, opts metav1.UpdateOptions) (*T, error) {
	return send[T, P](ctx, at(c.Put(), scope, resource, name, sub).UseProtobufAsDefault().VersionedParams(&opts, codec).Body(body))
}

// Create posts to a subresource.
func Create[T any, P object[T]](ctx context.Context, c rest.Interface, codec runtime.ParameterCodec, scope Scope, resource, name, sub string, body runtime.Object, opts metav1.CreateOptions) (*T, error) {
	return send[T, P](ctx, at(c.Post(), scope, resource, name, sub).UseProtobufAsDefault().VersionedParams(&opts, codec).Body(body))
}

// Apply applies the configuration of a subresource. configuration must not be nil.
func Apply[T any, P object[T], C any](ctx context.Context, c rest.Interface, codec runtime.ParameterCodec, scope Scope, resource, name, sub string, configuration *C, opts metav1.ApplyOptions) (*T, error) {
	if configuration == nil {
		return nil, fmt.Errorf("%s provided to Apply%s must not be nil", sub, strings.ToUpper(sub[:1])+sub[1:])
	}
	patch := opts.ToPatchOptions()
	request, err := apply.NewRequest(c, configuration)
	if err != nil {
		return nil, err
	}
	// As in client-go, an apply without a namespace is sent nevertheless, and the server rejects
	// it.
	scope.namespaced = scope.namespace != ""
	return send[T, P](ctx, at(request, scope, resource, name, sub).UseProtobufAsDefault().VersionedParams(&patch, codec))
}

func at(r *rest.Request, scope Scope, resource, name, sub string) *rest.Request {
	return r.NamespaceIfScoped(scope.namespace, scope.namespaced).Resource(resource).Name(name).SubResource(sub)
}

func send[T any, P object[T]](ctx context.Context, r *rest.Request) (*T, error) {
	result := new(T)
	err := r.Do(ctx).Into(P(result))
	return result, err
}
