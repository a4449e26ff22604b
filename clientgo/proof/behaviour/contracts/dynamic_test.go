package contracts

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	core "k8s.io/client-go/testing"
)

// For each verb, a reactor of a dynamic fake may return an unstructured object or list without a
// kind.
func TestADynamicFakeAcceptsUnstructuredResultsWithoutAKind(t *testing.T) {
	item := unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "x"}}}
	for name, result := range map[string]runtime.Unstructured{
		"object": &item,
		"list":   &unstructured.UnstructuredList{Items: []unstructured.Unstructured{item}},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{podsGVR: "PodList"})
			client.PrependReactor("*", "*", func(core.Action) (bool, runtime.Object, error) { return true, result.DeepCopyObject(), nil })
			pods := client.Resource(podsGVR).Namespace("ns")
			sent := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "x"}}}
			for verb, call := range map[string]func() (*unstructured.Unstructured, error){
				"get": func() (*unstructured.Unstructured, error) { return pods.Get(t.Context(), "x", metav1.GetOptions{}) },
				"create": func() (*unstructured.Unstructured, error) {
					return pods.Create(t.Context(), sent, metav1.CreateOptions{})
				},
				"update": func() (*unstructured.Unstructured, error) {
					return pods.Update(t.Context(), sent, metav1.UpdateOptions{})
				},
				"updateStatus": func() (*unstructured.Unstructured, error) {
					return pods.UpdateStatus(t.Context(), sent, metav1.UpdateOptions{})
				},
				"patch": func() (*unstructured.Unstructured, error) {
					return pods.Patch(t.Context(), "x", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
				},
				"apply": func() (*unstructured.Unstructured, error) {
					return pods.Apply(t.Context(), "x", sent, metav1.ApplyOptions{FieldManager: "m"})
				},
			} {
				got, err := call()
				require.NoError(t, err, verb)
				require.Equal(t, result.UnstructuredContent(), got.Object, verb)
			}
			list, err := pods.List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			require.Equal(t, map[string]int{"object": 0, "list": 1}[name], len(list.Items))
		})
	}
}
