package v1

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/internal/codec"
	"k8s.io/client-go/rest"
)

// PodExpansion has the methods that only the client of pods has.
type PodExpansion interface {
	// Bind binds a pod to a node.
	Bind(ctx context.Context, binding *corev1.Binding, opts metav1.CreateOptions) error

	// Evict is EvictV1beta1.
	//
	// Deprecated: servers since 1.25 support only EvictV1.
	Evict(ctx context.Context, eviction *policyv1beta1.Eviction) error

	// EvictV1 deletes a pod, unless its disruption budgets forbid it.
	EvictV1(ctx context.Context, eviction *policyv1.Eviction) error

	// EvictV1beta1 is EvictV1 for servers before 1.22.
	EvictV1beta1(ctx context.Context, eviction *policyv1beta1.Eviction) error

	// GetLogs returns the request for a container's log.
	GetLogs(name string, opts *corev1.PodLogOptions) *rest.Request

	// ProxyGet returns a request to a port of the pod. The API server forwards the request.
	ProxyGet(scheme, name, port, path string, params map[string]string) rest.ResponseWrapper
}

// Bind implements PodExpansion.
func (c *pods) Bind(ctx context.Context, binding *corev1.Binding, opts metav1.CreateOptions) error {
	return c.GetClient().Post().Namespace(c.GetNamespace()).Resource("pods").Name(binding.Name).SubResource("binding").
		VersionedParams(&opts, codec.Parameters).Body(binding).Do(ctx).Error()
}

// Evict implements PodExpansion.
func (c *pods) Evict(ctx context.Context, eviction *policyv1beta1.Eviction) error {
	return c.EvictV1beta1(ctx, eviction)
}

// EvictV1 implements PodExpansion.
func (c *pods) EvictV1(ctx context.Context, eviction *policyv1.Eviction) error {
	return c.evict(ctx, eviction.Name, eviction)
}

// EvictV1beta1 implements PodExpansion.
func (c *pods) EvictV1beta1(ctx context.Context, eviction *policyv1beta1.Eviction) error {
	return c.evict(ctx, eviction.Name, eviction)
}

func (c *pods) evict(ctx context.Context, name string, eviction runtime.Object) error {
	return c.GetClient().Post().Namespace(c.GetNamespace()).Resource("pods").Name(name).SubResource("eviction").Body(eviction).Do(ctx).Error()
}

// GetLogs implements PodExpansion.
func (c *pods) GetLogs(name string, opts *corev1.PodLogOptions) *rest.Request {
	return c.GetClient().Get().Namespace(c.GetNamespace()).Name(name).Resource("pods").SubResource("log").VersionedParams(opts, codec.Parameters)
}

// ProxyGet implements PodExpansion.
func (c *pods) ProxyGet(scheme, name, port, path string, params map[string]string) rest.ResponseWrapper {
	return proxied(c.GetClient(), c.GetNamespace(), "pods", net.JoinSchemeNamePort(scheme, name, port), path, params)
}

// ServiceExpansion has the methods that only the client of services has.
type ServiceExpansion interface {
	// ProxyGet returns a request to a port of the service. The API server forwards the request.
	ProxyGet(scheme, name, port, path string, params map[string]string) rest.ResponseWrapper
}

// ProxyGet implements ServiceExpansion.
func (c *services) ProxyGet(scheme, name, port, path string, params map[string]string) rest.ResponseWrapper {
	return proxied(c.GetClient(), c.GetNamespace(), "services", net.JoinSchemeNamePort(scheme, name, port), path, params)
}

// proxied returns a request that the API server forwards.
func proxied(c rest.Interface, namespace, resource, name, path string, params map[string]string) *rest.Request {
	request := c.Get().Namespace(namespace).Resource(resource).SubResource("proxy").Name(name).Suffix(path)
	for key, value := range params {
		request = request.Param(key, value)
	}
	return request
}

// NamespaceExpansion has the methods that only the client of namespaces has.
type NamespaceExpansion interface {
	// Finalize replaces the finalizers in the spec of a namespace.
	Finalize(ctx context.Context, item *corev1.Namespace, opts metav1.UpdateOptions) (*corev1.Namespace, error)
}

// Finalize implements NamespaceExpansion.
func (c *namespaces) Finalize(ctx context.Context, item *corev1.Namespace, opts metav1.UpdateOptions) (*corev1.Namespace, error) {
	result := &corev1.Namespace{}
	err := c.GetClient().Put().Resource("namespaces").Name(item.Name).VersionedParams(&opts, codec.Parameters).
		SubResource("finalize").Body(item).Do(ctx).Into(result)
	return result, err
}

// NodeExpansion has the methods that only the client of nodes has.
type NodeExpansion interface {
	// PatchStatus changes the status of a node with a strategic merge patch, and returns the node
	// as the server stored it.
	PatchStatus(ctx context.Context, nodeName string, data []byte) (*corev1.Node, error)
}

// PatchStatus implements NodeExpansion.
func (c *nodes) PatchStatus(ctx context.Context, nodeName string, data []byte) (*corev1.Node, error) {
	result := &corev1.Node{}
	err := c.GetClient().Patch(types.StrategicMergePatchType).Resource("nodes").Name(nodeName).SubResource("status").Body(data).Do(ctx).Into(result)
	return result, err
}

// EventExpansion has the methods that only the client of events has. Methods with EventNamespace in
// their names use the namespace of the event. If the client has a namespace, it must be the same.
type EventExpansion interface {
	// Deprecated: use CreateWithEventNamespaceWithContext.
	CreateWithEventNamespace(event *corev1.Event) (*corev1.Event, error)
	// Deprecated: use UpdateWithEventNamespaceWithContext.
	UpdateWithEventNamespace(event *corev1.Event) (*corev1.Event, error)
	// Deprecated: use PatchWithEventNamespaceWithContext.
	PatchWithEventNamespace(event *corev1.Event, data []byte) (*corev1.Event, error)
	// Deprecated: use SearchWithContext.
	Search(scheme *runtime.Scheme, objOrRef runtime.Object) (*corev1.EventList, error)

	CreateWithEventNamespaceWithContext(ctx context.Context, event *corev1.Event) (*corev1.Event, error)
	UpdateWithEventNamespaceWithContext(ctx context.Context, event *corev1.Event) (*corev1.Event, error)
	PatchWithEventNamespaceWithContext(ctx context.Context, event *corev1.Event, data []byte) (*corev1.Event, error)

	// SearchWithContext returns the events about an object.
	SearchWithContext(ctx context.Context, scheme *runtime.Scheme, objOrRef runtime.Object) (*corev1.EventList, error)

	// GetFieldSelector returns a selector of the events about an object. It does not select by
	// arguments that are nil.
	GetFieldSelector(involvedObjectName, involvedObjectNamespace, involvedObjectKind, involvedObjectUID *string) fields.Selector
}
