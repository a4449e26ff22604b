package fake

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/testing"
)

// resourceClient implements dynamic.NamespaceableResourceInterface.
type resourceClient struct {
	client    *FakeDynamicClient
	resource  schema.GroupVersionResource
	namespace string
}

// Namespace implements dynamic.NamespaceableResourceInterface.
func (c *resourceClient) Namespace(ns string) dynamic.ResourceInterface {
	in := *c
	in.namespace = ns
	return &in
}

// failureStatus returns the result of an unhandled action that has no object to return, such as a
// get.
func failureStatus(verb string) *metav1.Status {
	return &metav1.Status{Status: "dynamic " + verb + " fail"}
}

// invoke runs an action whose result is an object. If no reactor handles the action, the result is
// the argument defaultObject.
func (c *resourceClient) invoke(action testing.Action, defaultObject runtime.Object) (*unstructured.Unstructured, error) {
	obj, err := c.client.Invokes(action, defaultObject)
	if err != nil || obj == nil {
		return nil, err
	}
	return toUnstructured(c.client.scheme, obj)
}

// Create implements dynamic.ResourceInterface.
func (c *resourceClient) Create(ctx context.Context, obj *unstructured.Unstructured, opts metav1.CreateOptions, subresources ...string) (*unstructured.Unstructured, error) {
	name := ""
	if len(subresources) > 0 {
		name = obj.GetName()
	}
	return c.invoke(testing.NewCreateSubresourceActionWithOptions(c.resource, name, strings.Join(subresources, "/"), c.namespace, obj, opts), obj)
}

// Update implements dynamic.ResourceInterface.
func (c *resourceClient) Update(ctx context.Context, obj *unstructured.Unstructured, opts metav1.UpdateOptions, subresources ...string) (*unstructured.Unstructured, error) {
	return c.invoke(testing.NewUpdateSubresourceActionWithOptions(c.resource, strings.Join(subresources, "/"), c.namespace, obj, opts), obj)
}

// UpdateStatus implements dynamic.ResourceInterface.
func (c *resourceClient) UpdateStatus(ctx context.Context, obj *unstructured.Unstructured, opts metav1.UpdateOptions) (*unstructured.Unstructured, error) {
	return c.Update(ctx, obj, opts, "status")
}

// Delete implements dynamic.ResourceInterface.
func (c *resourceClient) Delete(ctx context.Context, name string, opts metav1.DeleteOptions, subresources ...string) error {
	_, err := c.client.Invokes(testing.NewDeleteSubresourceActionWithOptions(c.resource, strings.Join(subresources, "/"), c.namespace, name, opts), nil)
	return err
}

// DeleteCollection implements dynamic.ResourceInterface. It does nothing, unless a reactor of the
// test handles it.
func (c *resourceClient) DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOptions metav1.ListOptions) error {
	_, err := c.client.Invokes(testing.NewDeleteCollectionActionWithOptions(c.resource, c.namespace, opts, listOptions), nil)
	return err
}

// Get implements dynamic.ResourceInterface.
func (c *resourceClient) Get(ctx context.Context, name string, opts metav1.GetOptions, subresources ...string) (*unstructured.Unstructured, error) {
	return c.invoke(testing.NewGetSubresourceActionWithOptions(c.resource, c.namespace, strings.Join(subresources, "/"), name, opts), failureStatus("get"))
}

// List implements dynamic.ResourceInterface. It selects by labels, but not by fields.
func (c *resourceClient) List(ctx context.Context, opts metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	listKind, ok := c.client.listKinds[c.resource]
	if !ok {
		panic(fmt.Sprintf("the fake dynamic client knows no list kind for %v: name it in NewSimpleDynamicClientWithCustomListKinds, "+
			"or register the list in the scheme; it knows %v", c.resource, c.client.listKinds))
	}
	listGVK := c.resource.GroupVersion().WithKind(listKind)
	gvk := c.resource.GroupVersion().WithKind(strings.TrimSuffix(listKind, "List"))
	action := testing.NewListActionWithOptions(c.resource, gvk, c.namespace, opts)
	if c.namespace == "" {
		// the action of a list in all namespaces records fewer options
		action = testing.NewRootListActionWithOptions(c.resource, gvk, opts)
	}
	obj, err := c.client.Invokes(action, failureStatus("list"))
	if obj == nil {
		return nil, err // an error with an object is dropped, as with typed fakes
	}
	selector, err := labels.Parse(opts.LabelSelector)
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(listGVK)
	if all, ok := obj.(metav1.ListInterface); ok {
		list.SetResourceVersion(all.GetResourceVersion())
		list.SetRemainingItemCount(all.GetRemainingItemCount())
		list.SetContinue(all.GetContinue())
	} else if all, ok := obj.(metav1.ListMetaAccessor); ok {
		list.SetResourceVersion(all.GetListMeta().GetResourceVersion())
		list.SetRemainingItemCount(all.GetListMeta().GetRemainingItemCount())
		list.SetContinue(all.GetListMeta().GetContinue())
	}
	if !meta.IsListType(obj) {
		if _, err := toUnstructured(c.client.scheme, obj); err != nil {
			return nil, err
		}
		return list, nil
	}
	for _, item := range items(obj) {
		u, err := toUnstructured(c.client.scheme, item)
		if err != nil {
			return nil, err
		}
		if selector.Matches(labels.Set(u.GetLabels())) {
			list.Items = append(list.Items, *u)
		}
	}
	return list, nil
}

// Watch implements dynamic.ResourceInterface. It selects by namespace only.
func (c *resourceClient) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.client.InvokesWatch(testing.NewWatchActionWithOptions(c.resource, c.namespace, opts))
}

// Patch implements dynamic.ResourceInterface.
func (c *resourceClient) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*unstructured.Unstructured, error) {
	return c.invoke(testing.NewPatchSubresourceActionWithOptions(c.resource, c.namespace, name, pt, data, opts, subresources...), failureStatus("patch"))
}

// Apply implements dynamic.ResourceInterface.
func (c *resourceClient) Apply(ctx context.Context, name string, obj *unstructured.Unstructured, opts metav1.ApplyOptions, subresources ...string) (*unstructured.Unstructured, error) {
	data, err := runtime.Encode(unstructured.UnstructuredJSONScheme, obj)
	if err != nil {
		return nil, err
	}
	return c.Patch(ctx, name, types.ApplyYAMLPatchType, data, opts.ToPatchOptions(), subresources...)
}

// ApplyStatus implements dynamic.ResourceInterface.
func (c *resourceClient) ApplyStatus(ctx context.Context, name string, obj *unstructured.Unstructured, opts metav1.ApplyOptions) (*unstructured.Unstructured, error) {
	return c.Apply(ctx, name, obj, opts, "status")
}
