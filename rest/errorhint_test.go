package rest

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/listwatch"
)

func TestErrorSaysWhatACustomResourceLacks(t *testing.T) {
	t.Parallel()
	gvr := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	server := apitest.Start(t, apitest.Options{Resources: []apitest.Resource{{Group: gvr.Group, Version: gvr.Version, Plural: gvr.Resource, Kind: "Widget"}}})
	client, err := NewClient(Config{Host: server.URL()}, Options{})
	require.NoError(t, err)
	defer client.Close()
	widgets := Must(NewJSONResource[*unstructured.Unstructured](client, gvr, ResourceOptions{}))
	widget := func(kind, namespace, name string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": namespace, "name": name}}}
		if kind != "" {
			u.SetAPIVersion("example.com/v1")
			u.SetKind(kind)
		}
		return u
	}

	_, err = widgets.Create(t.Context(), widget("Widget", "", "a"), metav1.CreateOptions{})
	require.ErrorContains(t, err, "no namespace was given")
	require.True(t, apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err), "%v", err)
	_, err = widgets.Get(t.Context(), types.NamespacedName{Name: "a"}, metav1.GetOptions{})
	require.ErrorContains(t, err, "no namespace was given")
	_, err = widgets.Create(t.Context(), widget("", "home", "a"), metav1.CreateOptions{})
	require.ErrorContains(t, err, "no kind or no apiVersion")
	require.True(t, apierrors.IsBadRequest(err), "%v", err)

	_, err = widgets.Get(t.Context(), types.NamespacedName{Namespace: "home", Name: "a"}, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
	require.NotContains(t, err.Error(), "namespace was given", "the error about a missing object must have no hint about the namespace")
	_, err = widgets.Create(t.Context(), widget("Widget", "home", "a"), metav1.CreateOptions{})
	require.NoError(t, err)
	gadgets := Must(For[*unstructured.Unstructured](client, ResourceOptions{Resource: gvr.GroupVersion().WithResource("gadgets")}))
	_, err = gadgets.List(t.Context(), listwatch.ListOptions{})
	require.ErrorContains(t, err, "no gadgets.example.com in version v1: is the CustomResourceDefinition installed?")
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

func TestNilClientIsAnError(t *testing.T) {
	t.Parallel()
	_, err := For[*corev1.Pod](nil, ResourceOptions{})
	require.ErrorContains(t, err, "needs a Client")
	_, err = NewResource[*corev1.Pod](nil, podsGVR, ResourceOptions{})
	require.ErrorContains(t, err, "needs a Client")
	_, err = NewJSONResource[*corev1.Pod](nil, podsGVR, ResourceOptions{})
	require.ErrorContains(t, err, "needs a Client")
}
