package fake

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/internal/fakes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	restfake "k8s.io/client-go/rest/fake"
	"k8s.io/client-go/testing"
)

// Bind records the binding in the binding's namespace.
func (c fakePods) Bind(_ context.Context, binding *corev1.Binding, _ metav1.CreateOptions) error {
	_, err := c.Invokes(testing.NewCreateSubresourceAction(c.Resource(), "", "binding", binding.Namespace, binding), binding)
	return err
}

// Evict records the eviction in the client's namespace.
func (c fakePods) Evict(_ context.Context, eviction *policyv1beta1.Eviction) error {
	return fakes.Evict(c.Fake, c.Namespace(), eviction)
}

// EvictV1 records the eviction in the client's namespace.
func (c fakePods) EvictV1(_ context.Context, eviction *policyv1.Eviction) error {
	return fakes.Evict(c.Fake, c.Namespace(), eviction)
}

// EvictV1beta1 records the eviction in the client's namespace.
func (c fakePods) EvictV1beta1(_ context.Context, eviction *policyv1beta1.Eviction) error {
	return fakes.Evict(c.Fake, c.Namespace(), eviction)
}

// GetLogs records the action at once, and returns a request. The response to the request is "fake
// logs", unless a reactor handles a get of pods/log. Then the response has the bytes of the
// reactor's *runtime.Unknown, or the reactor's error.
func (c fakePods) GetLogs(name string, opts *corev1.PodLogOptions) *rest.Request {
	action := testing.GenericActionImpl{
		ActionImpl: testing.ActionImpl{Namespace: c.Namespace(), Verb: "get", Resource: c.Resource(), Subresource: "log"},
		Value:      opts,
	}
	obj, err := c.Invokes(action, &runtime.Unknown{Raw: []byte("fake logs")})
	log, ok := obj.(*runtime.Unknown)
	if err == nil && !ok {
		err = fmt.Errorf("fake Pods.GetLogs expected reactor to return *runtime.Unknown, got %T", obj)
	}
	client := &restfake.RESTClient{
		NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
		GroupVersion:         c.Kind().GroupVersion(),
		Client: restfake.CreateHTTPClient(func(*http.Request) (*http.Response, error) {
			if err != nil {
				return nil, err
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(log.Raw)))}, nil
		}),
	}
	// AbsPath accepts an empty namespace or name; the methods Namespace and Name do not.
	return client.Get().AbsPath("/api/v1/namespaces", c.Namespace(), "pods", name, "log")
}

// ProxyGet returns the result of a proxy reactor, or nil.
func (c fakePods) ProxyGet(scheme, name, port, path string, params map[string]string) rest.ResponseWrapper {
	return c.InvokesProxy(testing.NewProxyGetAction(c.Resource(), c.Namespace(), scheme, name, port, path, params))
}

// ProxyGet returns the result of a proxy reactor, or nil.
func (c fakeServices) ProxyGet(scheme, name, port, path string, params map[string]string) rest.ResponseWrapper {
	return c.InvokesProxy(testing.NewProxyGetAction(c.Resource(), c.Namespace(), scheme, name, port, path, params))
}

// Finalize is recorded as a create of the subresource.
func (c fakeNamespaces) Finalize(_ context.Context, namespace *corev1.Namespace, _ metav1.UpdateOptions) (*corev1.Namespace, error) {
	return fakes.Invoke(c, testing.NewRootCreateSubresourceAction(c.Resource(), "", "finalize", namespace), namespace)
}

// PatchStatus patches the whole node, because a tracker does not treat status as a separate
// subresource.
func (c fakeNodes) PatchStatus(_ context.Context, nodeName string, data []byte) (*corev1.Node, error) {
	return fakes.Invoke(c, testing.NewRootPatchSubresourceAction(c.Resource(), nodeName, types.StrategicMergePatchType, data, "status"), &corev1.Node{})
}
