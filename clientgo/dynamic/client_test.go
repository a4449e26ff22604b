package dynamic_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// clientOf returns a client of a new server.
func clientOf(t *testing.T) *dynamic.DynamicClient {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	client, err := dynamic.NewForConfig(&rest.Config{Host: apitest.Start(t, apitest.Options{}).URL(), Transport: transport, QPS: -1})
	require.NoError(t, err)
	return client
}

func configMap(name, value string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"k": value},
	}}
}

func value(t *testing.T, obj *unstructured.Unstructured) string {
	t.Helper()
	v, _, err := unstructured.NestedString(obj.Object, "data", "k")
	require.NoError(t, err)
	return v
}

func TestVerbsOverAServer(t *testing.T) {
	ctx := t.Context()
	all := clientOf(t).Resource(configMaps)
	in := all.Namespace("default")
	created, err := in.Create(ctx, configMap("x", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "default", created.GetNamespace())
	watches, err := all.Watch(ctx, metav1.ListOptions{ResourceVersion: created.GetResourceVersion()})
	require.NoError(t, err)
	defer watches.Stop()

	created.Object["data"] = map[string]any{"k": "2"}
	updated, err := in.Update(ctx, created, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, "2", value(t, updated))
	event := <-watches.ResultChan()
	require.Equal(t, watch.Modified, event.Type)
	require.Equal(t, updated, event.Object)

	patched, err := in.Patch(ctx, "x", types.MergePatchType, []byte(`{"data":{"k":"3"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Equal(t, "3", value(t, patched))
	applied, err := in.Apply(ctx, "x", configMap("x", "4"), metav1.ApplyOptions{FieldManager: "m", Force: true})
	require.NoError(t, err)
	require.Equal(t, "4", value(t, applied))
	_, err = in.Apply(ctx, "x", applied, metav1.ApplyOptions{FieldManager: "m"})
	require.ErrorContains(t, err, "managedFields")
	got, err := in.Get(ctx, "x", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, applied, got)

	list, err := all.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=x"})
	require.NoError(t, err)
	require.Equal(t, "ConfigMapList", list.GetKind())
	require.NotEmpty(t, list.GetResourceVersion())
	require.Len(t, list.Items, 1)
	require.Equal(t, "ConfigMap", list.Items[0].GetKind())
	require.Equal(t, "4", value(t, &list.Items[0]))

	require.NoError(t, in.Delete(ctx, "x", metav1.DeleteOptions{}))
	_, err = in.Get(ctx, "x", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	_, err = in.Create(ctx, configMap("y", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, in.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	list, err = in.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, list.Items)
}

// In lists of custom resources, kind and metadata follow the items.
func TestAListKeepsFieldsBesideItsItems(t *testing.T) {
	const item = `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a"}}`
	const body = `{"apiVersion":"example.com/v1","items":[` + item + `],"kind":"FooList","metadata":{"continue":"c","remainingItemCount":3,
		"resourceVersion":"9","selfLink":"/foos","shardInfo":{"selector":"s"},"unknown":{"a":[1]}},"columns":["x"]}`
	client, err := dynamic.NewForConfig(&rest.Config{Host: "http://foos.example", Transport: staticResponse(body)})
	require.NoError(t, err)
	list, err := client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "foos"}).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	encoded, err := list.MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, body, string(encoded))
}

// staticResponse is a transport that returns the same JSON body for every request.
type staticResponse string

func (a staticResponse) RoundTrip(r *http.Request) (*http.Response, error) {
	header := http.Header{"Content-Type": {runtime.ContentTypeJSON}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(string(a))), Request: r}, nil
}

// A watch that the server rejects ends with its Status, decoded to the Go type.
func TestAWatchFromAnExpiredVersionReturnsTheStatus(t *testing.T) {
	server := apitest.Start(t, apitest.Options{})
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL(), Transport: transport, QPS: -1})
	require.NoError(t, err)
	in := client.Resource(configMaps).Namespace("default")
	first, err := in.Create(t.Context(), configMap("x", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = in.Create(t.Context(), configMap("y", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	server.Compact()
	watches, err := in.Watch(t.Context(), metav1.ListOptions{ResourceVersion: first.GetResourceVersion()})
	if err == nil {
		event := <-watches.ResultChan()
		watches.Stop()
		require.Equal(t, watch.Error, event.Type)
		require.IsType(t, &metav1.Status{}, event.Object)
		err = apierrors.FromObject(event.Object)
	}
	require.True(t, apierrors.IsResourceExpired(err) || apierrors.IsGone(err), "%v", err)
}

func TestInvalidPathSegmentsAreNotSent(t *testing.T) {
	client := dynamic.NewForConfigOrDie(&rest.Config{Host: "http://127.0.0.1:1"})
	in := client.Resource(configMaps).Namespace("a/b")
	_, err := in.Get(t.Context(), "x", metav1.GetOptions{})
	require.ErrorContains(t, err, `invalid namespace "a/b"`)
	_, err = client.Resource(configMaps).Get(t.Context(), "../x", metav1.GetOptions{})
	require.ErrorContains(t, err, `invalid resource name "../x"`)
	require.EqualError(t, client.Resource(configMaps).Delete(t.Context(), "", metav1.DeleteOptions{}), "name is required")
	_, err = client.Resource(configMaps).Update(t.Context(), &unstructured.Unstructured{}, metav1.UpdateOptions{})
	require.EqualError(t, err, "name is required")
}
