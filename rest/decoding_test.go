package rest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/sharing"
)

var (
	podsGVR    = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	widgetsGVR = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
)

// partialPod has only the fields that a certain program needs.
type partialPod struct {
	metav1.ObjectMeta `json:"metadata" protobuf:"bytes,1,opt,name=metadata"`
	Spec              struct {
		NodeName string `json:"nodeName" protobuf:"bytes,10,opt,name=nodeName"`
	} `json:"spec" protobuf:"bytes,2,opt,name=spec"`
}

// startWithPods starts a server with pods and returns a client for it.
func startWithPods(t *testing.T, n int) *rest.Client {
	t.Helper()
	server := apitest.Start(t, apitest.Options{})
	require.NoError(t, apitest.Populate(server, apitest.Pods(n, apitest.PodOptions{})))
	client, err := rest.NewClient(rest.Config{Host: server.URL()}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func listAll[T any](t *testing.T, r *rest.Resource[T]) (objects []T) {
	t.Helper()
	stream, err := r.List(t.Context(), listwatch.ListOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, stream.Close()) }()
	for {
		item, err := stream.Next()
		if err == io.EOF {
			return objects
		}
		require.NoError(t, err)
		objects = append(objects, item.Object)
	}
}

func TestOnlyListsAndWatchesShareParts(t *testing.T) {
	t.Parallel()
	client := startWithPods(t, 60)
	own := rest.Must(rest.NewResource[*corev1.Pod](client, podsGVR, rest.ResourceOptions{Unshared: true}))
	lean := rest.Must(rest.NewResource[*corev1.Pod](client, podsGVR, rest.ResourceOptions{}))
	pods := listAll(t, lean)
	require.Equal(t, listAll(t, own), pods)
	require.NotSame(t, pods[0], pods[1])
	require.Same(t, pods[0].Spec.Containers[0].LivenessProbe, pods[1].Spec.Containers[0].LivenessProbe)
	require.Same(t, listAll(t, lean)[0].Spec.Containers[0].LivenessProbe, pods[1].Spec.Containers[0].LivenessProbe, "objects of a relist must share parts with earlier objects")

	got, err := lean.Get(t.Context(), keyOf(pods[0]), metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, pods[0], got)
	require.NotSame(t, got.Spec.Containers[0].LivenessProbe, pods[0].Spec.Containers[0].LivenessProbe, "an object of Get must share nothing, because the caller may change it")
}

func TestPartialStructIsDecodedInBothEncodings(t *testing.T) {
	t.Parallel()
	client := startWithPods(t, 5)
	inJSON := listAll(t, rest.Must(rest.NewJSONResource[*partialPod](client, podsGVR, rest.ResourceOptions{})))
	slim := rest.Must(rest.NewJSONResource[*partialPod](client, podsGVR, rest.ResourceOptions{
		Decoder: sharing.New(sharing.Options{}), Encoding: rest.Protobuf,
	}))
	inProtobuf := listAll(t, slim)
	require.Len(t, inProtobuf, 5)
	for i := range inProtobuf {
		require.Equal(t, inJSON[i].Spec, inProtobuf[i].Spec)
		require.Equal(t, inJSON[i].Labels, inProtobuf[i].Labels)
		require.NotEmpty(t, inProtobuf[i].Spec.NodeName)
	}
	got, err := slim.Get(t.Context(), keyOf(inJSON[0]), metav1.GetOptions{})
	require.NoError(t, err, "Get must decode JSON, because the type has no method Unmarshal")
	require.Equal(t, inJSON[0].Spec, got.Spec)
}

func TestPartialObjectMetadataRequestsOnlyMetadata(t *testing.T) {
	t.Parallel()
	api := apitest.New(apitest.Options{Resources: []apitest.Resource{{Group: "example.com", Version: "v1", Plural: "widgets", Kind: "Widget"}}})
	defer api.Close()
	require.NoError(t, apitest.Populate(api, apitest.Pods(3, apitest.PodOptions{})))
	widget := &unstructured.Unstructured{Object: map[string]any{
		"kind": "Widget", "apiVersion": "example.com/v1", "spec": map[string]any{"color": "red"},
		"metadata": map[string]any{"name": "w", "namespace": "n"},
	}}
	_, err := api.Create(widget)
	require.NoError(t, err)

	var answers sync.Map  // Content-Type of the responses, by path
	var plain atomic.Bool // the server does not know partial objects
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if plain.Load() {
			r.Header.Set("Accept", "application/json")
		}
		api.ServeHTTP(w, r)
		answers.Store(r.URL.Path, w.Header().Get("Content-Type"))
	}))
	defer server.Close()
	client, err := rest.NewClient(rest.Config{Host: server.URL}, rest.Options{})
	require.NoError(t, err)
	defer client.Close()

	pods := rest.Must(rest.NewResource[*metav1.PartialObjectMetadata](client, podsGVR, rest.ResourceOptions{}))
	widgets := rest.Must(rest.NewResource[*metav1.PartialObjectMetadata](client, widgetsGVR, rest.ResourceOptions{}))
	for _, old := range []bool{false, true} {
		plain.Store(old)
		list := listAll(t, pods)
		require.Len(t, list, 3)
		require.Len(t, list[0].Labels, 5)
		require.Equal(t, "w", listAll(t, widgets)[0].Name)
		one, err := widgets.Get(t.Context(), keyOf(widget), metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, widget.GetName(), one.Name)

		watch, err := widgets.Watch(t.Context(), listwatch.WatchOptions{})
		require.NoError(t, err)
		event, err := watch.Next()
		require.NoError(t, err)
		require.Equal(t, "w", event.Object.Name)
		require.NoError(t, watch.Close())

		const path = "/apis/example.com/v1/namespaces/n/widgets/w"
		got, _ := answers.Load(path)
		require.Equal(t, old, got == "application/json", "%v, and in protobuf although it is a custom resource", got)
	}
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}
