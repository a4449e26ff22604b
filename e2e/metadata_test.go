package e2e_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

// The server sends only metadata, in both encodings, for built-in and custom types.
func TestPartialObjectMetadata(t *testing.T) {
	defineWidgets(t)
	maps := rest.Must(rest.For[*corev1.ConfigMap](newClient(t, kube.Config()), rest.ResourceOptions{}))
	_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: inTheNamespace("meta"), Data: map[string]string{"a": "b"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	for path, of := range map[string]schema.GroupVersionResource{configMapsPath: configMaps.resource, cluster.WidgetsPath: widgetsResource} {
		for _, encoding := range encodings {
			t.Run(of.Resource+"/"+encoding.String(), func(t *testing.T) {
				client := newClient(t, kube.Config())
				resource := rest.Must(rest.NewResource[*metav1.PartialObjectMetadata](client, of, inNamespace(encoding)))
				want, err := kube.List(t.Context(), path)
				require.NoError(t, err)
				stream, err := resource.List(t.Context(), listwatch.ListOptions{})
				require.NoError(t, err)
				got := map[types.NamespacedName]string{}
				item, err := stream.Next()
				for ; err == nil; item, err = stream.Next() {
					require.Equal(t, item.Key, keyOf(item.Object))
					got[item.Key] = item.ResourceVersion
				}
				require.True(t, errors.Is(err, io.EOF), "%v", err)
				from := stream.Meta().ResourceVersion
				require.NoError(t, stream.Close())
				require.Empty(t, difference(want, got))

				watch, err := resource.Watch(t.Context(), listwatch.WatchOptions{ResourceVersion: from, Timeout: time.Minute})
				require.NoError(t, err)
				defer watch.Close()
				key := keyOf(anyOf(got))
				patched, err := resource.Patch(t.Context(), key, types.MergePatchType,
					fmt.Appendf(nil, `{"metadata":{"labels":{"patched":"in-%s"}}}`, encoding), metav1.PatchOptions{})
				require.NoError(t, err)
				event, err := watch.Next()
				require.NoError(t, err)
				require.Equal(t, listwatch.Modified, event.Type)
				require.Equal(t, patched.ObjectMeta, event.Item.Object.ObjectMeta)
				one, err := resource.Get(t.Context(), key, metav1.GetOptions{})
				require.NoError(t, err)
				require.Equal(t, patched.ObjectMeta, one.ObjectMeta)
			})
		}
	}
}

// anyOf returns an object that has any one of the keys.
func anyOf(versions map[types.NamespacedName]string) *metav1.ObjectMeta {
	for key := range versions {
		return &metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}
	}
	return &metav1.ObjectMeta{}
}

// Two finalizers make other programs delete or release the owned objects of a deleted object. No
// such program runs here.
func TestPropagationOfDeletion(t *testing.T) {
	ctx := t.Context()
	for i, test := range []struct {
		policy    metav1.DeletionPropagation
		finalizer string
	}{
		{metav1.DeletePropagationForeground, metav1.FinalizerDeleteDependents},
		{metav1.DeletePropagationOrphan, metav1.FinalizerOrphanDependents},
		{metav1.DeletePropagationBackground, ""},
	} {
		t.Run(string(test.policy), func(t *testing.T) {
			maps := rest.Must(rest.For[*corev1.ConfigMap](newClient(t, kube.Config()), rest.ResourceOptions{}))
			m, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: inTheNamespace(fmt.Sprint("propagated-", i))}, metav1.CreateOptions{})
			require.NoError(t, err)
			dry := metav1.DeleteOptions{PropagationPolicy: &test.policy, DryRun: []string{metav1.DryRunAll}}
			require.NoError(t, maps.Delete(ctx, keyOf(m), dry))
			m, err = maps.Get(ctx, keyOf(m), metav1.GetOptions{})
			require.NoError(t, err)
			require.Nil(t, m.DeletionTimestamp)

			stale := "1"
			err = maps.Delete(ctx, keyOf(m), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &stale}})
			require.True(t, apierrors.IsConflict(err), "%v", err)
			require.NoError(t, maps.Delete(ctx, keyOf(m), metav1.DeleteOptions{
				PropagationPolicy: &test.policy, Preconditions: &metav1.Preconditions{UID: &m.UID, ResourceVersion: &m.ResourceVersion},
			}))
			if test.finalizer != "" {
				m, err = maps.Get(ctx, keyOf(m), metav1.GetOptions{})
				require.NoError(t, err)
				require.NotNil(t, m.DeletionTimestamp)
				require.Equal(t, []string{test.finalizer}, m.Finalizers)
				m.Finalizers = nil
				_, err = maps.Update(ctx, m, metav1.UpdateOptions{})
				require.NoError(t, err)
			}
			_, err = maps.Get(ctx, keyOf(m), metav1.GetOptions{})
			require.True(t, apierrors.IsNotFound(err), "%v", err)
		})
	}
}

// Every write verb has a dry run, for typed and unstructured objects. The status of a custom
// resource is separate from its other fields.
func TestDryRunsAndStatusOfACustomResource(t *testing.T) {
	defineWidgets(t)
	ctx := t.Context()
	all := []string{metav1.DryRunAll}
	widgets := rest.Must(rest.NewJSONResource[*unstructured.Unstructured](newClient(t, kube.Config()), widgetsResource, rest.ResourceOptions{}))
	made := func(name string) *unstructured.Unstructured {
		w := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": cluster.CRDGroup + "/" + cluster.CRDVersion, "kind": cluster.CRDKind,
			"spec": map[string]any{"size": int64(1)}, "status": map[string]any{"phase": "Ignored"},
		}}
		w.SetNamespace(cluster.Namespace)
		w.SetName(name)
		return w
	}
	rehearsed, err := widgets.Create(ctx, made("rehearsed"), metav1.CreateOptions{DryRun: all})
	require.NoError(t, err)
	require.NotEmpty(t, rehearsed.GetUID())
	_, err = widgets.Get(ctx, keyOf(rehearsed), metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)

	w, err := widgets.Create(ctx, made("real"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NotContains(t, w.Object, "status", "a create must not write the status")
	version := w.GetResourceVersion()
	larger := w.DeepCopy()
	require.NoError(t, unstructured.SetNestedField(larger.Object, int64(2), "spec", "size"))
	_, err = widgets.Update(ctx, larger, metav1.UpdateOptions{DryRun: all})
	require.NoError(t, err)
	require.NoError(t, unstructured.SetNestedField(larger.Object, "Ready", "status", "phase"))
	_, err = widgets.UpdateStatus(ctx, larger, metav1.UpdateOptions{DryRun: all})
	require.NoError(t, err)
	w, err = widgets.Get(ctx, keyOf(w), metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, version, w.GetResourceVersion(), "a dry run must not change the object")

	w, err = widgets.UpdateStatus(ctx, larger, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"size": int64(1)}, w.Object["spec"])
	require.Equal(t, map[string]any{"phase": "Ready"}, w.Object["status"])
	w, err = widgets.Patch(ctx, keyOf(w), types.MergePatchType, []byte(`{"status":{"phase":"Done"},"spec":{"size":3}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"size": int64(1)}, w.Object["spec"])
	require.Equal(t, map[string]any{"phase": "Done"}, w.Object["status"])
	require.NoError(t, unstructured.SetNestedField(w.Object, int64(4), "spec", "size"))
	w, err = widgets.Update(ctx, w, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"size": int64(4)}, w.Object["spec"])
	require.NoError(t, widgets.DeleteCollection(ctx, cluster.Namespace, metav1.DeleteOptions{}, metav1.ListOptions{}))
	_, err = widgets.Get(ctx, keyOf(w), metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}
