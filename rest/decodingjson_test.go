package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

// jsonOptions returns options for objects that share parts, and for objects that do not.
func jsonOptions(omit rest.Omit) (shared, plain rest.ResourceOptions) {
	shared = rest.ResourceOptions{Encoding: rest.JSON, Project: omit}
	plain = shared
	plain.Unshared = true
	return shared, plain
}

// watchAll returns the first n events of a watch. shared says whether their objects share parts.
func watchAll[T any](t *testing.T, r *rest.Resource[T], n int, shared bool) (events []listwatch.Event[T]) {
	t.Helper()
	stream, err := r.Watch(t.Context(), listwatch.WatchOptions{ResourceVersion: "0"})
	require.NoError(t, err)
	defer func() { require.NoError(t, stream.Close()) }()
	for len(events) < n {
		event, err := stream.Next()
		require.NoError(t, err)
		if event.Type != listwatch.Bookmark {
			require.Equal(t, shared, event.Shared)
			event.Shared = false
			events = append(events, event)
		}
	}
	return events
}

func TestSharedJSONObjectsEqualUnsharedObjects(t *testing.T) {
	t.Parallel()
	n := testsize.Scale(40, 10)
	client := startWithPods(t, n)
	for _, drop := range []rest.Omit{
		{}, {ManagedFields: true}, {Annotations: []string{"checksum/config"}}, {Status: true}, {AllButMetadata: true},
	} {
		t.Run(fmt.Sprintf("%+v", drop), func(t *testing.T) {
			shared, plain := jsonOptions(drop)
			lean := rest.Must(rest.NewResource[*corev1.Pod](client, podsGVR, shared))
			own := rest.Must(rest.NewResource[*corev1.Pod](client, podsGVR, plain))
			pods := listAll(t, lean)
			require.Equal(t, listAll(t, own), pods)
			require.Equal(t, watchAll(t, own, n, false), watchAll(t, lean, n, true))
			if !drop.AllButMetadata {
				probes := map[*corev1.Probe]bool{}
				for _, pod := range pods {
					probes[pod.Spec.Containers[0].LivenessProbe] = true
				}
				require.Less(t, len(probes), n/2, "objects must share probes, except if they were decoded at the same time")
			}
			got, err := lean.Get(t.Context(), keyOf(pods[0]), metav1.GetOptions{})
			require.NoError(t, err)
			require.NotSame(t, got.OwnerReferences[0].Controller, pods[0].OwnerReferences[0].Controller, "an object of Get must share nothing, because the caller may change it")

			leanMaps := rest.Must(rest.NewJSONResource[*unstructured.Unstructured](client, podsGVR, shared))
			ownMaps := rest.Must(rest.NewJSONResource[*unstructured.Unstructured](client, podsGVR, plain))
			require.Equal(t, listAll(t, ownMaps), listAll(t, leanMaps))
			require.Equal(t, watchAll(t, ownMaps, n, false), watchAll(t, leanMaps, n, true))
			slim := rest.Must(rest.NewJSONResource[partialPod](client, podsGVR, shared))
			require.Equal(t, pods[3].Spec.NodeName, listAll(t, slim)[3].Spec.NodeName)
		})
	}
}

func TestLargeCustomResourcesInJSON(t *testing.T) {
	t.Parallel()
	testsize.SkipIfShort(t, "compares objects of 8,000 parts")
	server, err := rest.NewClient(rest.Config{Host: startWithWidgets(t, 2).URL()}, rest.Options{})
	require.NoError(t, err)
	defer server.Close()
	shared, plain := jsonOptions(rest.Omit{})
	lean := rest.Must(rest.NewJSONResource[*unstructured.Unstructured](server, widgetsGVR, shared))
	own := rest.Must(rest.NewJSONResource[*unstructured.Unstructured](server, widgetsGVR, plain))
	want := listAll(t, own)
	require.Len(t, want, 2)
	require.Equal(t, want, listAll(t, lean))
	require.Equal(t, watchAll(t, own, 2, false), watchAll(t, lean, 2, true))
}

// startWithWidgets starts a server with custom resources of 1 MB each.
func startWithWidgets(t *testing.T, n int) *apitest.Server {
	server := apitest.Start(t, apitest.Options{Resources: []apitest.Resource{{Group: "example.com", Version: "v1", Plural: "widgets", Kind: "Widget"}}})
	var parts []any
	for i := range 8_000 {
		parts = append(parts, map[string]any{"name": fmt.Sprint("part-", i), "weight": int64(i), "note": strings.Repeat("é\n", 20), "ratio": 0.5})
	}
	for i := range n {
		_, err := server.Create(&unstructured.Unstructured{Object: map[string]any{
			"kind": "Widget", "apiVersion": "example.com/v1", "spec": map[string]any{"parts": parts},
			"metadata": map[string]any{"name": fmt.Sprint("w-", i), "namespace": "n"},
		}})
		require.NoError(t, err)
	}
	return server
}
