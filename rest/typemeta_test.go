package rest

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
)

type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Size int `json:"size"`
	} `json:"spec"`
	Status struct {
		Seen int `json:"seen"`
	} `json:"status"`
}

func TestWritesAddKindFromOptions(t *testing.T) {
	t.Parallel()
	gvr := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	server := apitest.Start(t, apitest.Options{Resources: []apitest.Resource{{Group: gvr.Group, Version: gvr.Version, Plural: gvr.Resource, Kind: "Widget", Status: true}}})
	client, err := NewClient(Config{Host: server.URL()}, Options{})
	require.NoError(t, err)
	defer client.Close()
	widgets := Must(For[*widget](client, ResourceOptions{Resource: gvr, Kind: "Widget"}))
	key := types.NamespacedName{Namespace: "home", Name: "a"}
	made := &widget{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}

	stored, err := widgets.Create(t.Context(), made, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Empty(t, made.Kind, "Create must not change its argument")
	require.Equal(t, metav1.TypeMeta{Kind: "Widget", APIVersion: "example.com/v1"}, stored.TypeMeta)

	stored.TypeMeta = metav1.TypeMeta{}
	stored.Spec.Size = 2
	stored, err = widgets.Update(t.Context(), stored, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, 2, stored.Spec.Size)

	stored.TypeMeta = metav1.TypeMeta{Kind: "Widget"}
	stored.Status.Seen = 3
	stored, err = widgets.UpdateStatus(t.Context(), stored, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, 3, stored.Status.Seen)

	applied := &widget{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "b"}}
	stored, err = widgets.ServerSideApply(t.Context(), applied, metav1.ApplyOptions{FieldManager: "me"})
	require.NoError(t, err)
	require.Equal(t, "Widget", stored.Kind)

	_, err = widgets.Create(t.Context(), &widget{TypeMeta: metav1.TypeMeta{Kind: "Gadget", APIVersion: "example.com/v1"}, ObjectMeta: metav1.ObjectMeta{Namespace: "home", Name: "c"}}, metav1.CreateOptions{})
	require.ErrorContains(t, err, "Gadget", "the client must not overwrite an object's own kind")

	unknown := Must(For[*widget](client, ResourceOptions{Resource: gvr}))
	_, err = unknown.Create(t.Context(), made, metav1.CreateOptions{})
	require.ErrorContains(t, err, "set ResourceOptions.Kind")
	_, err = unknown.ServerSideApply(t.Context(), made, metav1.ApplyOptions{FieldManager: "me"})
	require.ErrorContains(t, err, "set ResourceOptions.Kind")
}
