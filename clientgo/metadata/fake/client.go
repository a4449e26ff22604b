// Package fake has a metadata client whose objects are in memory.
package fake

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/testing"
)

// listKind is the kind that the client passes to the tracker for lists of all resources.
var listKind = schema.GroupVersionKind{Group: "fake-metadata-client-group", Version: "v1"}

// MetadataClient is the client for a resource: a metadata.Getter that can also create and update
// objects.
type MetadataClient interface {
	metadata.Getter
	CreateFake(obj *metav1.PartialObjectMetadata, opts metav1.CreateOptions, subresources ...string) (*metav1.PartialObjectMetadata, error)
	UpdateFake(obj *metav1.PartialObjectMetadata, opts metav1.UpdateOptions, subresources ...string) (*metav1.PartialObjectMetadata, error)
}

// FakeMetadataClient is a metadata client that reads and writes an ObjectTracker, unless a reactor
// of the test handles the action.
type FakeMetadataClient struct {
	testing.Fake
	tracker testing.ObjectTracker
}

var (
	_ metadata.Interface = &FakeMetadataClient{}
	_ testing.FakeClient = &FakeMetadataClient{}
	_ MetadataClient     = &resourceClient{}
)

// NewTestScheme returns an empty scheme. Use one for each test, because the client adds types to
// it.
func NewTestScheme() *runtime.Scheme { return runtime.NewScheme() }

// NewSimpleMetadataClient returns a client with objects. Each object is a PartialObjectMetadata
// with the kind and version of the whole object. The types of metadata must be registered in scheme
// (metav1.AddMetaToScheme).
func NewSimpleMetadataClient(scheme *runtime.Scheme, objects ...runtime.Object) *FakeMetadataClient {
	if gvk := listKind.GroupVersion().WithKind("List"); !scheme.Recognizes(gvk) {
		scheme.AddKnownTypeWithName(gvk, &metav1.List{})
	}
	tracker := testing.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())
	for _, obj := range objects {
		if err := tracker.Add(obj); err != nil {
			panic(err)
		}
	}
	c := &FakeMetadataClient{tracker: tracker}
	c.AddReactor("*", "*", testing.ObjectReaction(tracker))
	c.AddWatchReactor("*", func(action testing.Action) (bool, watch.Interface, error) {
		var options metav1.ListOptions
		if a, ok := action.(testing.WatchActionImpl); ok {
			options = a.ListOptions
		}
		watches, err := tracker.Watch(action.GetResource(), action.GetNamespace(), options)
		return err == nil, watches, err
	})
	return c
}

// Tracker returns the store of the objects.
func (c *FakeMetadataClient) Tracker() testing.ObjectTracker { return c.tracker }

// IsWatchListSemanticsUnSupported makes reflectors list, because the client's watches send no
// bookmark after the initial events.
func (c *FakeMetadataClient) IsWatchListSemanticsUnSupported() bool { return true }

// Resource implements metadata.Interface. It returns a MetadataClient.
func (c *FakeMetadataClient) Resource(resource schema.GroupVersionResource) metadata.Getter {
	return &resourceClient{client: c, resource: resource}
}

// resourceClient implements MetadataClient. As in client-go, the actions of deletions and watches
// have all options. The actions of lists have only the selectors, and other actions have no
// options.
type resourceClient struct {
	client    *FakeMetadataClient
	resource  schema.GroupVersionResource
	namespace string
}

// Namespace implements metadata.Getter. It returns a MetadataClient.
func (c *resourceClient) Namespace(ns string) metadata.ResourceInterface {
	in := *c
	in.namespace = ns
	return &in
}

// failureStatus returns the result of an unhandled action that has no object to return, such as a
// get.
func failureStatus(verb string) *metav1.Status {
	return &metav1.Status{Status: "metadata " + verb + " fail"}
}

// invoke runs an action whose result is an object. If no reactor handles the action, the result is
// the argument defaultObject.
func (c *resourceClient) invoke(action testing.Action, defaultObject runtime.Object) (*metav1.PartialObjectMetadata, error) {
	obj, err := c.client.Invokes(action, defaultObject)
	if err != nil || obj == nil {
		return nil, err
	}
	partial, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok {
		return nil, fmt.Errorf("unexpected return value type %T", obj)
	}
	return partial, nil
}

// CreateFake implements MetadataClient.
func (c *resourceClient) CreateFake(obj *metav1.PartialObjectMetadata, opts metav1.CreateOptions, subresources ...string) (*metav1.PartialObjectMetadata, error) {
	name := ""
	if len(subresources) > 0 {
		name = obj.Name
	}
	return c.invoke(testing.NewCreateSubresourceAction(c.resource, name, strings.Join(subresources, "/"), c.namespace, obj), obj)
}

// UpdateFake implements MetadataClient.
func (c *resourceClient) UpdateFake(obj *metav1.PartialObjectMetadata, opts metav1.UpdateOptions, subresources ...string) (*metav1.PartialObjectMetadata, error) {
	return c.invoke(testing.NewUpdateSubresourceAction(c.resource, strings.Join(subresources, "/"), c.namespace, obj), obj)
}

// UpdateStatus is UpdateFake for the subresource status.
func (c *resourceClient) UpdateStatus(obj *metav1.PartialObjectMetadata, opts metav1.UpdateOptions) (*metav1.PartialObjectMetadata, error) {
	return c.UpdateFake(obj, opts, "status")
}

// Delete implements metadata.ResourceInterface.
func (c *resourceClient) Delete(ctx context.Context, name string, opts metav1.DeleteOptions, subresources ...string) error {
	_, err := c.client.Invokes(testing.NewDeleteSubresourceActionWithOptions(c.resource, strings.Join(subresources, "/"), c.namespace, name, opts), nil)
	return err
}

// DeleteCollection implements metadata.ResourceInterface. It does nothing, unless a reactor of the
// test handles it.
func (c *resourceClient) DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOptions metav1.ListOptions) error {
	_, err := c.client.Invokes(testing.NewDeleteCollectionAction(c.resource, c.namespace, listOptions), nil)
	return err
}

// Get implements metadata.ResourceInterface.
func (c *resourceClient) Get(ctx context.Context, name string, opts metav1.GetOptions, subresources ...string) (*metav1.PartialObjectMetadata, error) {
	return c.invoke(testing.NewGetSubresourceAction(c.resource, c.namespace, strings.Join(subresources, "/"), name), failureStatus("get"))
}

// List implements metadata.ResourceInterface. It selects by labels, but not by fields.
func (c *resourceClient) List(ctx context.Context, opts metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	obj, err := c.client.Invokes(testing.NewListAction(c.resource, listKind, c.namespace, opts), failureStatus("list"))
	if obj == nil {
		return nil, err // an error with an object is dropped, as with typed fakes
	}
	selector, err := labels.Parse(opts.LabelSelector)
	if err != nil {
		return nil, err
	}
	items, err := meta.ExtractList(obj)
	if err != nil {
		return nil, err
	}
	list := &metav1.PartialObjectMetadataList{}
	if all, err := meta.ListAccessor(obj); err == nil {
		list.ResourceVersion = all.GetResourceVersion()
		list.Continue = all.GetContinue()
		list.RemainingItemCount = all.GetRemainingItemCount()
	}
	for _, item := range items {
		partial, ok := item.(*metav1.PartialObjectMetadata)
		if !ok {
			return nil, fmt.Errorf("unexpected item type %T", item)
		}
		if selector.Matches(labels.Set(partial.Labels)) {
			list.Items = append(list.Items, *partial)
		}
	}
	return list, nil
}

// Watch implements metadata.ResourceInterface. It selects by namespace only.
func (c *resourceClient) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.client.InvokesWatch(testing.NewWatchActionWithOptions(c.resource, c.namespace, opts))
}

// Patch implements metadata.ResourceInterface.
func (c *resourceClient) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*metav1.PartialObjectMetadata, error) {
	return c.invoke(testing.NewPatchSubresourceAction(c.resource, c.namespace, name, pt, data, subresources...), failureStatus("patch"))
}
