package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	metadatafake "k8s.io/client-go/metadata/fake"
)

var widgets = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"}

func widget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"namespace": "a", "name": name}, "spec": map[string]any{"size": int64(1)},
	}}
}

func testDynamicClient() {
	c := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(scheme.Scheme, map[schema.GroupVersionResource]string{widgets: "WidgetList"}, widget("one"), configMap("a", "typed"))
	do := func(name string, f func() (any, error)) { printRow("dynamic: "+name, &c.Fake, f) }
	in := c.Resource(widgets).Namespace("a")
	maps := c.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace("a")
	do("get", func() (any, error) { return in.Get(ctx, "one", metav1.GetOptions{}) })
	do("get a typed object", func() (any, error) { return maps.Get(ctx, "typed", metav1.GetOptions{}) })
	do("get what is missing", func() (any, error) { return in.Get(ctx, "two", metav1.GetOptions{}) })
	do("get a subresource", func() (any, error) { return in.Get(ctx, "one", metav1.GetOptions{}, "status") })
	do("create", func() (any, error) { return in.Create(ctx, widget("two"), metav1.CreateOptions{}) })
	do("create again", func() (any, error) { return in.Create(ctx, widget("two"), metav1.CreateOptions{}) })
	do("create a subresource", func() (any, error) { return in.Create(ctx, widget("two"), metav1.CreateOptions{}, "sub") })
	do("create a generated name", func() (any, error) {
		object := widget("")
		object.SetGenerateName("g-")
		got, err := in.Create(ctx, object, metav1.CreateOptions{})
		return got != nil, err
	})
	do("update", func() (any, error) { return in.Update(ctx, widget("two"), metav1.UpdateOptions{}) })
	do("update what is missing", func() (any, error) { return in.Update(ctx, widget("x"), metav1.UpdateOptions{}) })
	do("update status", func() (any, error) { return in.UpdateStatus(ctx, widget("two"), metav1.UpdateOptions{}) })
	do("merge patch", func() (any, error) {
		return in.Patch(ctx, "two", types.MergePatchType, []byte(`{"spec":{"size":2}}`), metav1.PatchOptions{})
	})
	do("strategic merge patch", func() (any, error) {
		return in.Patch(ctx, "two", types.StrategicMergePatchType, []byte(`{"spec":{"size":2}}`), metav1.PatchOptions{})
	})
	do("apply", func() (any, error) {
		return applied(in.Apply(ctx, "two", widget("two"), metav1.ApplyOptions{FieldManager: "me"}))
	})
	do("apply of another name", func() (any, error) {
		return applied(in.Apply(ctx, "three", widget("two"), metav1.ApplyOptions{FieldManager: "me"}))
	})
	do("apply status", func() (any, error) {
		return applied(in.ApplyStatus(ctx, "two", widget("two"), metav1.ApplyOptions{FieldManager: "me"}))
	})
	do("list", func() (any, error) { return in.List(ctx, metav1.ListOptions{}) })
	do("list by label", func() (any, error) { return in.List(ctx, metav1.ListOptions{LabelSelector: "a=b"}) })
	do("list typed objects", func() (any, error) { return maps.List(ctx, metav1.ListOptions{LabelSelector: "name=typed"}) })
	do("list of an unknown resource", func() (any, error) {
		_, panicked, _ := attempt(func() (any, error) {
			return c.Resource(widgets.GroupVersion().WithResource("unknown")).List(ctx, metav1.ListOptions{})
		})
		return withoutError(panicked != "") // the texts of the panics differ
	})
	do("delete", func() (any, error) { return onlyError(in.Delete(ctx, "two", metav1.DeleteOptions{})) })
	do("delete again", func() (any, error) { return onlyError(in.Delete(ctx, "two", metav1.DeleteOptions{})) })
	do("delete collection", func() (any, error) {
		return onlyError(in.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "a=b"}))
	})
	do("watch", func() (any, error) {
		w, err := in.Watch(ctx, metav1.ListOptions{ResourceVersion: "1", LabelSelector: "a=b"})
		if err != nil {
			return nil, err
		}
		defer w.Stop()
		_, err = c.Resource(widgets).Namespace("a").Create(ctx, widget("watched"), metav1.CreateOptions{})
		return availableEvents(w), err
	})
}

func testMetadataClient() {
	types_ := runtime.NewScheme()
	_ = metav1.AddMetaToScheme(types_)
	partial := func(name string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, Labels: map[string]string{"name": name}}}
	}
	c := metadatafake.NewSimpleMetadataClient(types_, partial("one"), partial("two"))
	do := func(name string, f func() (any, error)) { printRow("metadata: "+name, &c.Fake, f) }
	pods := c.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace("a")
	do("get", func() (any, error) { return pods.Get(ctx, "one", metav1.GetOptions{}) })
	do("get what is missing", func() (any, error) { return pods.Get(ctx, "x", metav1.GetOptions{}) })
	do("list", func() (any, error) { return pods.List(ctx, metav1.ListOptions{LabelSelector: "name=two"}) })
	do("patch", func() (any, error) {
		return pods.Patch(ctx, "one", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	})
	do("delete", func() (any, error) { return onlyError(pods.Delete(ctx, "one", metav1.DeleteOptions{})) })
	do("delete collection", func() (any, error) {
		return onlyError(pods.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	})
	do("watch", func() (any, error) {
		w, err := pods.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		defer w.Stop()
		err = pods.Delete(ctx, "two", metav1.DeleteOptions{})
		return availableEvents(w), err
	})
}

// applied omits the error of an apply to a kind without a schema, because it names an arbitrary
// field.
func applied(object *unstructured.Unstructured, err error) (any, error) {
	return []bool{object != nil, err == nil}, nil
}
