//go:build !kinform_no_openapi

package testing_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/applyconfigurations"
	clienttesting "k8s.io/client-go/testing"
)

func TestAnObjectWithoutKindIsUpdated(t *testing.T) {
	// The tests of k8s.io/sample-controller make objects with an apiVersion but no kind.
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	tracker := clienttesting.NewFieldManagedObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder(), applyconfigurations.NewTypeConverter(scheme))
	config := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
	require.NoError(t, tracker.Add(config))
	changed := config.DeepCopy()
	changed.Data = map[string]string{"key": "value"}
	gvr := corev1.SchemeGroupVersion.WithResource("configmaps")
	require.NoError(t, tracker.Update(gvr, changed, "ns", metav1.UpdateOptions{FieldManager: "me"}))
	after, err := tracker.Get(gvr, "ns", "a")
	require.NoError(t, err)
	require.Equal(t, changed.Data, after.(*corev1.ConfigMap).Data)
	require.Equal(t, "me", after.(*corev1.ConfigMap).ManagedFields[0].Manager)
}
