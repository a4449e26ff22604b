//go:build !kinform_no_openapi

package applyconfigurations_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/applyconfigurations"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
)

func TestKindsHaveTheirConfigurations(t *testing.T) {
	require.Equal(t, &applyappsv1.DeploymentApplyConfiguration{}, applyconfigurations.ForKind(appsv1.SchemeGroupVersion.WithKind("Deployment")))
	require.Equal(t, &applyappsv1.DeploymentSpecApplyConfiguration{}, applyconfigurations.ForKind(appsv1.SchemeGroupVersion.WithKind("DeploymentSpec")))
	require.Nil(t, applyconfigurations.ForKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Website"}))
}

func TestListsMergeByTheirKeys(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	converter := applyconfigurations.NewTypeConverter(scheme)
	pod := func(containers ...corev1.Container) *corev1.Pod {
		return &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.PodSpec{Containers: containers}}
	}
	live, err := converter.ObjectToTyped(pod(corev1.Container{Name: "x", Image: "old"}, corev1.Container{Name: "y"}))
	require.NoError(t, err)
	applied, err := converter.ObjectToTyped(pod(corev1.Container{Name: "x", Image: "new"}))
	require.NoError(t, err)
	merged, err := live.Merge(applied)
	require.NoError(t, err)
	object, err := converter.TypedToObject(merged)
	require.NoError(t, err)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	require.NoError(t, err)
	containers := content["spec"].(map[string]any)["containers"].([]any)
	require.Len(t, containers, 2)
	require.Equal(t, "new", containers[0].(map[string]any)["image"])
}

func TestEveryTypeOfASchemeIsKnown(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	require.NoError(t, appsv1.AddToScheme(scheme))
	converter := applyconfigurations.NewTypeConverter(scheme)
	for kind, typ := range scheme.AllKnownTypes() {
		if applyconfigurations.ForKind(kind) == nil {
			continue
		}
		object, ok := reflect.New(typ).Interface().(runtime.Object)
		require.True(t, ok)
		object.GetObjectKind().SetGroupVersionKind(kind)
		_, err := converter.ObjectToTyped(object)
		require.NoError(t, err, kind)
	}
}
