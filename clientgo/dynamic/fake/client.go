// Package fake has a dynamic client whose objects are in memory.
package fake

import (
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/testing"
)

// FakeDynamicClient is a dynamic client that reads and writes an ObjectTracker, unless a reactor of
// the test handles the action.
type FakeDynamicClient struct {
	testing.Fake
	scheme    *runtime.Scheme
	listKinds map[schema.GroupVersionResource]string
	tracker   testing.ObjectTracker
}

var (
	_ dynamic.Interface  = &FakeDynamicClient{}
	_ testing.FakeClient = &FakeDynamicClient{}
)

// NewSimpleDynamicClient returns a client with objects. It can list the resources of scheme's list
// types and of the objects. Objects may be typed. The client converts them to unstructured objects,
// and treats all types of scheme as unstructured.
func NewSimpleDynamicClient(scheme *runtime.Scheme, objects ...runtime.Object) *FakeDynamicClient {
	own := runtime.NewScheme()
	for gvk := range scheme.AllKnownTypes() {
		register(own, gvk)
	}
	var converted []runtime.Object
	for _, obj := range objects {
		for _, item := range items(obj) {
			u, err := toUnstructured(scheme, item)
			if err != nil {
				panic(err)
			}
			if said := item.GetObjectKind().GroupVersionKind(); said.Group != "" && said.Kind != "" {
				u.SetGroupVersionKind(said) // a type may have several kinds
			}
			gvk := u.GroupVersionKind()
			register(own, gvk)
			register(own, gvk.GroupVersion().WithKind(gvk.Kind+"List"))
			converted = append(converted, u)
		}
	}
	return NewSimpleDynamicClientWithCustomListKinds(own, nil, converted...)
}

// NewSimpleDynamicClientWithCustomListKinds returns a client with objects. gvrToListKind has the
// list kinds that scheme lacks, and the list kinds whose resource cannot be guessed from the kind.
// The function adds these list kinds to scheme.
func NewSimpleDynamicClientWithCustomListKinds(scheme *runtime.Scheme, gvrToListKind map[schema.GroupVersionResource]string, objects ...runtime.Object) *FakeDynamicClient {
	listKinds := map[schema.GroupVersionResource]string{}
	for gvk := range scheme.AllKnownTypes() {
		if kind, ok := strings.CutSuffix(gvk.Kind, "List"); ok {
			gvr, _ := meta.UnsafeGuessKindToResource(gvk.GroupVersion().WithKind(kind))
			listKinds[gvr] = gvk.Kind
		}
	}
	for gvr, kind := range gvrToListKind {
		if !strings.HasSuffix(kind, "List") {
			panic(fmt.Sprintf("the list kind %q of %s does not end in List", kind, gvr))
		}
		register(scheme, gvr.GroupVersion().WithKind(kind))
	}
	maps.Copy(listKinds, gvrToListKind)

	tracker := testing.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())
	for _, obj := range objects {
		if err := tracker.Add(obj); err != nil {
			panic(err)
		}
	}
	c := &FakeDynamicClient{scheme: scheme, listKinds: listKinds, tracker: tracker}
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

// register adds a kind as unstructured to a scheme that does not have it.
func register(scheme *runtime.Scheme, gvk schema.GroupVersionKind) {
	switch {
	case scheme.Recognizes(gvk):
	case strings.HasSuffix(gvk.Kind, "List"):
		scheme.AddKnownTypeWithName(gvk, &unstructured.UnstructuredList{})
	default:
		scheme.AddKnownTypeWithName(gvk, &unstructured.Unstructured{})
	}
}

// items returns the items of obj if obj is a list, and otherwise obj itself.
func items(obj runtime.Object) []runtime.Object {
	if !meta.IsListType(obj) {
		return []runtime.Object{obj}
	}
	found, err := meta.ExtractList(obj)
	if err != nil {
		panic(err)
	}
	return found
}

// toUnstructured returns an object as unstructured. A typed object gets its kind and version from
// the scheme. An unstructured object or list is returned unchanged, so a reactor may omit its kind
// and version.
func toUnstructured(scheme *runtime.Scheme, obj runtime.Object) (*unstructured.Unstructured, error) {
	switch obj := obj.(type) {
	case *unstructured.Unstructured:
		return obj, nil
	case runtime.Unstructured:
		return &unstructured.Unstructured{Object: obj.UnstructuredContent()}, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	if kinds, _, err := scheme.ObjectKinds(obj); err == nil {
		u.SetGroupVersionKind(kinds[0])
	} else if u.GetKind() == "" {
		return nil, err
	}
	return u, nil
}

// Tracker returns the objects behind the client.
func (c *FakeDynamicClient) Tracker() testing.ObjectTracker { return c.tracker }

// IsWatchListSemanticsUnSupported makes reflectors list, because the client's watches send no
// bookmark after the initial events.
func (c *FakeDynamicClient) IsWatchListSemanticsUnSupported() bool { return true }

// Resource implements dynamic.Interface.
func (c *FakeDynamicClient) Resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return &resourceClient{client: c, resource: resource}
}
