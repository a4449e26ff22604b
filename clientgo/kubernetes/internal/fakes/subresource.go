package fakes

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/testing"
)

// Client is the fake client of a kind.
type Client interface {
	Invokes(action testing.Action, defaultReturnObj runtime.Object) (runtime.Object, error)
	Namespace() string
	Resource() schema.GroupVersionResource
}

// result is the constraint of a pointer type *T that is an object.
type result[T any] interface {
	*T
	runtime.Object
}

// Invoke returns the result of the reactor that handles an action. If no reactor handles the
// action, it returns defaultObj. The result may be nil if there is an error.
func Invoke[T any, R result[T]](c Client, action testing.Action, defaultObj R) (R, error) {
	obj, err := c.Invokes(action, defaultObj)
	if obj == nil {
		return nil, err
	}
	return obj.(R), err
}

// invokeNonNil is Invoke, but returns an empty object instead of nil.
func invokeNonNil[T any, R result[T]](c Client, action testing.Action) (R, error) {
	empty := R(new(T))
	found, err := Invoke(c, action, empty)
	if found == nil {
		return empty, err
	}
	return found, err
}

// Get runs a get of a subresource.
func Get[T any, R result[T]](c Client, name, sub string, opts metav1.GetOptions) (R, error) {
	return invokeNonNil[T, R](c, testing.NewGetSubresourceActionWithOptions(c.Resource(), c.Namespace(), sub, name, opts))
}

// Update runs an update of a subresource. It ignores the name, because the action takes the name
// from the body.
func Update[T any, R result[T]](c Client, _, sub string, body runtime.Object, opts metav1.UpdateOptions) (R, error) {
	return invokeNonNil[T, R](c, testing.NewUpdateSubresourceActionWithOptions(c.Resource(), sub, c.Namespace(), body, opts))
}

// Create runs a create of a subresource.
func Create[T any, R result[T]](c Client, name, sub string, body runtime.Object, opts metav1.CreateOptions) (R, error) {
	return invokeNonNil[T, R](c, testing.NewCreateSubresourceActionWithOptions(c.Resource(), name, sub, c.Namespace(), body, opts))
}

// Apply runs an apply of a subresource. configuration must not be nil.
func Apply[T any, R result[T], C any](c Client, name, sub string, configuration *C, opts metav1.ApplyOptions) (R, error) {
	if configuration == nil {
		return nil, fmt.Errorf("%s provided to Apply%s must not be nil", sub, strings.ToUpper(sub[:1])+sub[1:])
	}
	data, err := json.Marshal(configuration)
	if err != nil {
		return nil, err
	}
	return invokeNonNil[T, R](c, testing.NewPatchSubresourceActionWithOptions(c.Resource(), c.Namespace(), name, types.ApplyYAMLPatchType, data, opts.ToPatchOptions(), sub))
}

// Evict records an eviction of a pod. An eviction of either version is a create of pods/eviction.
func Evict(fake *testing.Fake, namespace string, eviction runtime.Object) error {
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	_, err := fake.Invokes(testing.NewCreateSubresourceAction(pods, "", "eviction", namespace, eviction), eviction)
	return err
}
