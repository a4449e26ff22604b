package dynamic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/internal/respath"
	"k8s.io/client-go/rest"
)

// resourceClient implements NamespaceableResourceInterface.
type resourceClient struct {
	client    rest.Interface
	resource  schema.GroupVersionResource
	namespace string
}

// Namespace implements NamespaceableResourceInterface.
func (c *resourceClient) Namespace(ns string) ResourceInterface {
	in := *c
	in.namespace = ns
	return &in
}

// completeRequest completes the request r for the object with a name, or for the collection if the
// name is empty.
func (c *resourceClient) completeRequest(r *rest.Request, name string, options runtime.Object, subresources ...string) *rest.Request {
	return r.AbsPath(respath.Of(c.resource, c.namespace, name, subresources...)...).
		SpecificallyVersionedParams(options, metav1.ParameterCodec, version)
}

// object sends a request whose response is an object.
func object(ctx context.Context, r *rest.Request) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	if err := r.Do(ctx).Into(obj); err != nil {
		return nil, err
	}
	return obj, nil
}

// nameOf returns the name of an object. An empty name is an error, because the path of the request
// needs one.
func nameOf(obj *unstructured.Unstructured) (string, error) {
	if obj.GetName() == "" {
		return "", errors.New("name is required")
	}
	return obj.GetName(), nil
}

// Create implements ResourceInterface.
func (c *resourceClient) Create(ctx context.Context, obj *unstructured.Unstructured, opts metav1.CreateOptions, subresources ...string) (*unstructured.Unstructured, error) {
	name := ""
	if len(subresources) > 0 {
		var err error
		if name, err = nameOf(obj); err != nil {
			return nil, err
		}
	}
	if err := respath.CheckCollection(c.namespace, name); err != nil {
		return nil, err
	}
	return c.write(ctx, c.client.Post(), name, obj, &opts, subresources)
}

// Update implements ResourceInterface.
func (c *resourceClient) Update(ctx context.Context, obj *unstructured.Unstructured, opts metav1.UpdateOptions, subresources ...string) (*unstructured.Unstructured, error) {
	name, err := nameOf(obj)
	if err != nil {
		return nil, err
	}
	if err := respath.Check(c.namespace, name); err != nil {
		return nil, err
	}
	return c.write(ctx, c.client.Put(), name, obj, &opts, subresources)
}

// UpdateStatus implements ResourceInterface.
func (c *resourceClient) UpdateStatus(ctx context.Context, obj *unstructured.Unstructured, opts metav1.UpdateOptions) (*unstructured.Unstructured, error) {
	return c.Update(ctx, obj, opts, "status")
}

// write sends an object as the body of a request.
func (c *resourceClient) write(ctx context.Context, r *rest.Request, name string, obj *unstructured.Unstructured, options runtime.Object, subresources []string) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(obj.Object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.resource.GroupResource(), err)
	}
	body = append(body, '\n')
	return object(ctx, c.completeRequest(r, name, options, subresources...).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body))
}

// Delete implements ResourceInterface.
func (c *resourceClient) Delete(ctx context.Context, name string, opts metav1.DeleteOptions, subresources ...string) error {
	if err := respath.Check(c.namespace, name); err != nil {
		return err
	}
	body, err := respath.Body(opts)
	if err != nil {
		return err
	}
	return c.client.Delete().AbsPath(respath.Of(c.resource, c.namespace, name, subresources...)...).
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx).Error()
}

// DeleteCollection implements ResourceInterface.
func (c *resourceClient) DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOptions metav1.ListOptions) error {
	if err := respath.CheckCollection(c.namespace, ""); err != nil {
		return err
	}
	body, err := respath.Body(opts)
	if err != nil {
		return err
	}
	return c.completeRequest(c.client.Delete(), "", &listOptions).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx).Error()
}

// Get implements ResourceInterface.
func (c *resourceClient) Get(ctx context.Context, name string, opts metav1.GetOptions, subresources ...string) (*unstructured.Unstructured, error) {
	if err := respath.Check(c.namespace, name); err != nil {
		return nil, err
	}
	return object(ctx, c.completeRequest(c.client.Get(), name, &opts, subresources...))
}

// List implements ResourceInterface.
func (c *resourceClient) List(ctx context.Context, opts metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	if err := respath.CheckCollection(c.namespace, ""); err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	if err := c.completeRequest(c.client.Get(), "", &opts).Do(ctx).Into(list); err != nil {
		return nil, err
	}
	return list, nil
}

// Watch implements ResourceInterface.
func (c *resourceClient) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	if err := respath.CheckCollection(c.namespace, ""); err != nil {
		return nil, err
	}
	opts.Watch = true
	return c.completeRequest(c.client.Get(), "", &opts).Watch(ctx)
}

// Patch implements ResourceInterface.
func (c *resourceClient) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*unstructured.Unstructured, error) {
	if err := respath.Check(c.namespace, name); err != nil {
		return nil, err
	}
	return object(ctx, c.completeRequest(c.client.Patch(pt), name, &opts, subresources...).Body(data))
}

// Apply implements ResourceInterface.
func (c *resourceClient) Apply(ctx context.Context, name string, obj *unstructured.Unstructured, opts metav1.ApplyOptions, subresources ...string) (*unstructured.Unstructured, error) {
	if err := respath.Check(c.namespace, name); err != nil {
		return nil, err
	}
	if len(obj.GetManagedFields()) > 0 {
		return nil, fmt.Errorf("%s %q has managedFields: apply only the fields that you want to own", c.resource.GroupResource(), name)
	}
	body, err := json.Marshal(obj.Object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.resource.GroupResource(), err)
	}
	return c.Patch(ctx, name, types.ApplyYAMLPatchType, body, opts.ToPatchOptions(), subresources...)
}

// ApplyStatus implements ResourceInterface.
func (c *resourceClient) ApplyStatus(ctx context.Context, name string, obj *unstructured.Unstructured, opts metav1.ApplyOptions) (*unstructured.Unstructured, error) {
	return c.Apply(ctx, name, obj, opts, "status")
}
