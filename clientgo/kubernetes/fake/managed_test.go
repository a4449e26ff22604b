//go:build !kinform_no_openapi

package fake_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// sample-controller's tests have objects with an apiVersion but no kind. Each result is client-go's
// result.
func TestObjectsMayHaveAnAPIVersionWithoutKind(t *testing.T) {
	whole := metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}
	for _, given := range []metav1.TypeMeta{{}, {APIVersion: "v1"}, {Kind: "ConfigMap"}, whole} {
		ctx, object := t.Context(), &corev1.ConfigMap{TypeMeta: given, ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns"}}
		maps := fake.NewClientset(object).CoreV1().ConfigMaps("ns")
		object = object.DeepCopy()
		object.Data = map[string]string{"a": "1"}
		updated, err := maps.Update(ctx, object, metav1.UpdateOptions{})
		require.NoError(t, err)
		require.Equal(t, given, updated.TypeMeta)
		require.Len(t, updated.ManagedFields, 1)
		patched, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"b":"2"}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		require.Equal(t, given, patched.TypeMeta)
		applied, err := maps.Apply(ctx, applycorev1.ConfigMap("a", "ns").WithData(map[string]string{"c": "3"}), metav1.ApplyOptions{FieldManager: "me"})
		require.NoError(t, err)
		require.Equal(t, whole, applied.TypeMeta)
		require.Equal(t, map[string]string{"a": "1", "b": "2", "c": "3"}, applied.Data)
		require.Len(t, applied.ManagedFields, 2)
	}
}
