package rest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestApplySendsOnlyOwnedFields(t *testing.T) {
	t.Parallel()
	stored := plainPod(1)
	handler := &recorder{t: t, response: encode(t, Protobuf, "Pod", &stored), encoding: Protobuf, status: http.StatusCreated}
	r := pods(serve(t, handler, Options{}))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "n", Name: "a", Labels: map[string]string{"x": "y"}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "other"}},
	}}
	got, err := r.ServerSideApply(t.Context(), pod, metav1.ApplyOptions{FieldManager: "me", Force: true, DryRun: []string{"All"}})
	require.NoError(t, err)
	require.Equal(t, stored.Spec, got.Spec)
	require.Equal(t, "PATCH /api/v1/namespaces/n/pods/a?dryRun=All&fieldManager=me&force=true", handler.method+" "+handler.uri)
	require.Equal(t, "application/apply-patch+yaml", handler.contentType)
	require.JSONEq(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"n","name":"a","labels":{"x":"y"}},"spec":{}}`, handler.body, "fields that are null in the JSON of a Go type must not be sent")
	require.Len(t, pod.ManagedFields, 1, "the argument must not be changed")
	require.Zero(t, pod.TypeMeta)

	_, err = r.ServerSideApply(t.Context(), pod, metav1.ApplyOptions{FieldManager: "me"}, "status")
	require.NoError(t, err)
	require.Equal(t, "/api/v1/namespaces/n/pods/a/status?fieldManager=me", handler.uri)
	require.Contains(t, handler.body, `"status":{}`)
}

func TestApplyOfACustomResourceNeedsItsKind(t *testing.T) {
	t.Parallel()
	const foo = `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a","namespace":"n"},"spec":{"n":9007199254740993}}`
	handler := &recorder{t: t, response: []byte(foo)}
	r := Must(NewJSONResource[*unstructured.Unstructured](serve(t, handler, Options{}), schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "foos"}, ResourceOptions{}))
	obj := &unstructured.Unstructured{}
	require.NoError(t, obj.UnmarshalJSON([]byte(foo)))
	got, err := r.ServerSideApply(t.Context(), obj, metav1.ApplyOptions{FieldManager: "me"})
	require.NoError(t, err)
	require.Equal(t, obj, got)
	require.JSONEq(t, foo, handler.body)
	require.Contains(t, handler.body, "9007199254740993")

	type slim struct {
		metav1.ObjectMeta `json:"metadata"`
	}
	s := Must(NewJSONResource[*slim](r.client, r.gvr, ResourceOptions{}))
	_, err = s.ServerSideApply(t.Context(), &slim{metav1.ObjectMeta{Name: "a"}}, metav1.ApplyOptions{FieldManager: "me"})
	require.ErrorContains(t, err, "kind and apiVersion are required")
}

// TestApplyOmitsNullsOfGoTypes: a null would remove values that others have set. In an
// unstructured object, a null is intended.
func TestApplyOmitsNullsOfGoTypes(t *testing.T) {
	t.Parallel()
	handler := &recorder{t: t, response: []byte(`{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a","namespace":"n"}}`)}
	client := serve(t, handler, Options{})
	foos := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "foos"}
	type part struct {
		N    *int64   `json:"n"`
		List []string `json:"list"`
	}
	type foo struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Parts []part           `json:"parts"`
			ByKey map[string]*part `json:"byKey"`
			Big   int64            `json:"big"`
			Text  string           `json:"text"`
		} `json:"spec"`
		Status struct {
			Conditions []string `json:"conditions"`
		} `json:"status"`
	}
	typed := Must(NewJSONResource[*foo](client, foos, ResourceOptions{Kind: "Foo"}))
	obj := &foo{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a"}}
	obj.Spec.Parts = []part{{N: new(int64(1))}, {List: []string{"null"}}}
	obj.Spec.ByKey = map[string]*part{"x": nil, "y": {}}
	obj.Spec.Big, obj.Spec.Text = 9007199254740993, "<null>"
	_, err := typed.ServerSideApply(t.Context(), obj, metav1.ApplyOptions{FieldManager: "me"})
	require.NoError(t, err)
	require.JSONEq(t, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a","namespace":"n"},
		"spec":{"parts":[{"n":1},{"list":["null"]}],"byKey":{"y":{}},"big":9007199254740993,"text":"<null>"}}`, handler.body)
	require.Contains(t, handler.body, "9007199254740993")

	free := Must(NewJSONResource[*unstructured.Unstructured](client, foos, ResourceOptions{}))
	meant := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": map[string]any{"name": "a", "namespace": "n"}, "spec": nil}}
	_, err = free.ServerSideApply(t.Context(), meant, metav1.ApplyOptions{FieldManager: "me"})
	require.NoError(t, err)
	require.Contains(t, handler.body, `"spec":null`)
}

func TestInvalidApplySendsNoRequest(t *testing.T) {
	t.Parallel()
	client := serve(t, http.NotFoundHandler(), Options{})
	me := metav1.ApplyOptions{FieldManager: "me"}
	_, err := pods(client).ServerSideApply(t.Context(), &corev1.Pod{}, metav1.ApplyOptions{})
	require.ErrorContains(t, err, "a FieldManager is required")
	_, err = pods(client).ServerSideApply(t.Context(), &corev1.Pod{}, me)
	require.ErrorContains(t, err, "a name is required")
	_, err = pods(client).ServerSideApply(t.Context(), nil, me)
	require.ErrorContains(t, err, "is nil")
	_, err = Must(NewJSONResource[map[string]any](client, podsGVR, ResourceOptions{})).ServerSideApply(t.Context(), map[string]any{}, me)
	require.ErrorContains(t, err, "metav1.Object")
	require.Zero(t, client.Stats().Requests)
}
