package metadata_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

func clientOf(t *testing.T, url string) metadata.Getter {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	client, err := metadata.NewForConfig(&rest.Config{Host: url, Transport: transport, QPS: -1})
	require.NoError(t, err)
	return client.Resource(pods)
}

func TestVerbsOverAServer(t *testing.T) {
	ctx := t.Context()
	server := apitest.Start(t, apitest.Options{})
	server.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "a", Labels: map[string]string{"l": "1"}}})
	all := clientOf(t, server.URL())
	got, err := all.Namespace("a").Get(ctx, "x", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "1", got.Labels["l"])
	require.Empty(t, got.TypeMeta)

	list, err := all.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	require.Equal(t, got.ObjectMeta, list.Items[0].ObjectMeta)

	watches, err := all.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	require.NoError(t, err)
	defer watches.Stop()
	patched, err := all.Namespace("a").Patch(ctx, "x", types.MergePatchType, []byte(`{"metadata":{"labels":{"l":"2"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Equal(t, "2", patched.Labels["l"])
	event := <-watches.ResultChan()
	require.Equal(t, watch.Modified, event.Type)
	require.Equal(t, patched.ObjectMeta, event.Object.(*metav1.PartialObjectMetadata).ObjectMeta)

	require.NoError(t, all.Namespace("a").Delete(ctx, "x", metav1.DeleteOptions{}))
	_, err = all.Namespace("a").Get(ctx, "x", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	require.NoError(t, all.Namespace("a").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
}

// A server that does not support responses with only the metadata sends whole objects.
func TestMetadataOfWholeObjects(t *testing.T) {
	response := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		_, _ = w.Write([]byte(response))
	}))
	defer server.Close()
	all := clientOf(t, server.URL)
	for _, c := range []struct {
		answer  string
		refused func(error) bool
	}{
		{`{"kind":"Foo","apiVersion":"g/v1","metadata":{"name":"x"},"spec":{"containers":1}}`, nil},
		{`{"apiVersion":"g/v1","metadata":{"name":"x"}}`, runtime.IsMissingKind},
		{`{"kind":"Foo","metadata":{"name":"x"}}`, runtime.IsMissingVersion},
		{`{"kind":"Foo","apiVersion":"g/v1","metadata":{}}`, func(err error) bool { return err != nil }},
	} {
		response = c.answer
		got, err := all.Get(t.Context(), "x", metav1.GetOptions{})
		if c.refused != nil {
			require.True(t, c.refused(err), "%s: %v", c.answer, err)
			require.Nil(t, got)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "x", got.Name)
	}
	response = `{"kind":"FooList","apiVersion":"g/v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"x"}},{"metadata":{"name":"y"}}]}`
	list, err := all.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, "7", list.ResourceVersion)
	require.Len(t, list.Items, 2)
}

// An invalid response must not count as an empty list, because that would empty a cache.
func TestAResponseThatIsNotMetadataIsAnError(t *testing.T) {
	for name, body := range map[string]string{
		"a table":   `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"columnDefinitions":[],"rows":[]}`,
		"a success": `{"kind":"Status","apiVersion":"v1","status":"Success"}`,
		"a failure": `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`,
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", runtime.ContentTypeJSON)
				_, _ = w.Write([]byte(body))
			}))
			defer server.Close()
			client := clientOf(t, server.URL)
			_, err := client.List(t.Context(), metav1.ListOptions{})
			require.Error(t, err)
			require.Equal(t, name == "a failure", apierrors.IsResourceExpired(err))
			_, err = client.Namespace("a").Get(t.Context(), "x", metav1.GetOptions{})
			require.Error(t, err)
			_, err = client.Namespace("a").Patch(t.Context(), "x", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
			require.Error(t, err)
		})
	}
}
