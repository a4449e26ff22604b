package rest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/listwatch"
)

// TestProjectedObjectIsNotSentBack: an update with a projected object would delete the omitted
// parts on the server.
func TestProjectedObjectIsNotSentBack(t *testing.T) {
	t.Parallel()
	server := apitest.Start(t, apitest.Options{})
	client, err := NewClient(Config{Host: server.URL()}, Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	for name, test := range map[string]struct {
		drop    Omit
		refused string
	}{
		"nothing":       {Omit{}, ""},
		"managedFields": {Omit{ManagedFields: true}, ""},
		"annotations":   {Omit{Annotations: []string{"precious"}}, "leave out annotations"},
		"status":        {Omit{Status: true, ManagedFields: true}, "leave out the status"},
		"both":          {Omit{Status: true, Annotations: []string{"precious"}}, "leave out the status and annotations"},
		"metadata":      {Omit{AllButMetadata: true}, "leave out all but metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := types.NamespacedName{Namespace: "default", Name: "p-" + strings.ToLower(name)}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Annotations: map[string]string{"precious": "yes"}}}
			pod.Status.Phase = corev1.PodRunning
			pod.Spec.NodeName = "n"
			_, err := server.Create(pod)
			require.NoError(t, err)
			whole := Must(NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{FieldSelector: "metadata.name=" + key.Name}))
			before, err := whole.Get(t.Context(), key, metav1.GetOptions{})
			require.NoError(t, err)

			resource := Must(NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{FieldSelector: "metadata.name=" + key.Name, Project: test.drop}))
			stream, err := resource.List(t.Context(), listwatch.ListOptions{})
			require.NoError(t, err)
			item, err := stream.Next()
			require.NoError(t, err)
			require.NoError(t, stream.Close())
			listed := item.Object.DeepCopy()
			listed.Labels = map[string]string{"changed": "yes"}

			for _, write := range []func() error{
				func() error { _, err := resource.Update(t.Context(), listed, metav1.UpdateOptions{}); return err },
				func() error {
					listed := listed.DeepCopy()
					listed.ResourceVersion = ""
					_, err := resource.UpdateStatus(t.Context(), listed, metav1.UpdateOptions{})
					return err
				},
				func() error {
					applied := listed.DeepCopy()
					applied.ResourceVersion, applied.ManagedFields = "", nil
					_, err := resource.ServerSideApply(t.Context(), applied, metav1.ApplyOptions{FieldManager: "me", Force: true})
					return err
				},
			} {
				err := write()
				if test.refused == "" {
					require.NotErrorIs(t, err, ErrProjected)
					continue
				}
				require.ErrorIs(t, err, ErrProjected)
				require.ErrorContains(t, err, test.refused)
				require.ErrorContains(t, err, "send a Patch, or use Get and Update of a Resource without Project")
			}
			after, err := whole.Get(t.Context(), key, metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, before.Annotations, after.Annotations)
			require.Equal(t, before.Status.Phase, after.Status.Phase)
			require.Equal(t, before.Spec, after.Spec)

			// An object that does not come from a server is complete.
			own := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name + "-own"}}
			_, err = resource.Create(t.Context(), own, metav1.CreateOptions{})
			require.NoError(t, err)
			own.Labels = map[string]string{"changed": "yes"}
			_, err = resource.Update(t.Context(), own, metav1.UpdateOptions{})
			require.NoError(t, err)
			_, err = resource.Patch(t.Context(), key, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
			require.NoError(t, err)
		})
	}
}

// TestPartialMetadataIsNotSentBack: an update with only metadata would delete the object's spec.
func TestPartialMetadataIsNotSentBack(t *testing.T) {
	t.Parallel()
	client := serve(t, nil, Options{})
	partial := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	metadata := Must(NewResource[*metav1.PartialObjectMetadata](client, podsGVR, ResourceOptions{}))
	_, err := metadata.Update(t.Context(), partial, metav1.UpdateOptions{})
	require.ErrorIs(t, err, ErrProjected)
	_, err = metadata.UpdateStatus(t.Context(), partial, metav1.UpdateOptions{})
	require.ErrorIs(t, err, ErrProjected)

	object := &unstructured.Unstructured{Object: map[string]any{"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{"name": "a", "namespace": "b", "uid": "1"}}}
	untyped := Must(NewJSONResource[*unstructured.Unstructured](client, podsGVR, ResourceOptions{Project: Omit{Status: true}}))
	_, err = untyped.Update(t.Context(), object, metav1.UpdateOptions{})
	require.ErrorIs(t, err, ErrProjected)
	require.Zero(t, client.Stats().Requests)
}
