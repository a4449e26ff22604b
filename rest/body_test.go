package rest_test

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

func TestBodyReaderReadsAList(t *testing.T) {
	t.Parallel()
	server := apitest.Start(t, apitest.Options{})
	for _, name := range []string{"a", "b", "c"} {
		_, err := server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{"k": name}})
		require.NoError(t, err)
	}
	readers, err := rest.NewBodyReaders(rest.Options{})
	require.NoError(t, err)
	reader, err := readers.For(reflect.TypeFor[*corev1.ConfigMap](), rest.ResourceOptions{})
	require.NoError(t, err)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for _, accept := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"/api/v1/namespaces/default/configmaps", nil)
		require.NoError(t, err)
		req.Header.Set("Accept", accept)
		response, err := transport.RoundTrip(req)
		require.NoError(t, err)
		stream, err := reader.List(t.Context(), response, listwatch.ListOptions{})
		require.NoError(t, err)
		var names []string
		for {
			item, err := stream.Next()
			if err != nil {
				require.ErrorContains(t, err, "EOF")
				break
			}
			names = append(names, item.Object.(*corev1.ConfigMap).Data["k"])
		}
		require.NotEmpty(t, stream.Meta().ResourceVersion)
		if accept == "application/json" {
			require.JSONEq(t, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"`+stream.Meta().ResourceVersion+`"},"items":[]}`, string(stream.Empty()))
		} else {
			require.Nil(t, stream.Empty())
		}
		require.NoError(t, stream.Close())
		require.Equal(t, []string{"a", "b", "c"}, names)
	}
	_, err = readers.For(reflect.TypeFor[corev1.ConfigMap](), rest.ResourceOptions{})
	require.Error(t, err)
	_, err = rest.NewBodyReaders(rest.Options{MaxDepth: -1})
	require.ErrorContains(t, err, "MaxDepth")
}

func TestBodyReaderReadsAWatch(t *testing.T) {
	t.Parallel()
	server := apitest.Start(t, apitest.Options{})
	for _, name := range []string{"a", "b"} {
		_, err := server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
		require.NoError(t, err)
	}
	readers, err := rest.NewBodyReaders(rest.Options{})
	require.NoError(t, err)
	reader, err := readers.For(reflect.TypeFor[*corev1.ConfigMap](), rest.ResourceOptions{})
	require.NoError(t, err)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for _, accept := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"/api/v1/configmaps?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", nil)
		require.NoError(t, err)
		req.Header.Set("Accept", accept)
		response, err := transport.RoundTrip(req)
		require.NoError(t, err)
		stream, err := reader.Watch(t.Context(), response, listwatch.WatchOptions{
			SendInitialEvents: true, Known: func(key types.NamespacedName, _ string, _ uint64) bool { return key.Name == "a" },
		})
		require.NoError(t, err)
		for _, name := range []string{"a", "b"} {
			event, err := stream.Next()
			require.NoError(t, err)
			require.Equal(t, name, event.Key.Name)
			require.Equal(t, name == "a", event.State == listwatch.Unchanged)
		}
		event, err := stream.Next()
		require.NoError(t, err)
		require.True(t, event.InitialEventsEnd)
		require.NoError(t, stream.Close())
	}
}
