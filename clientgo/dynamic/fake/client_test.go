package fake_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var foos = schema.GroupVersionResource{Group: "g", Version: "v1", Resource: "foos"}

func foo(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "g/v1", "kind": "Foo", "metadata": map[string]any{"name": name, "namespace": "a", "labels": map[string]any{"l": name}},
	}}
}

func TestVerbs(t *testing.T) {
	ctx := t.Context()
	client := fake.NewSimpleDynamicClient(runtime.NewScheme(), foo("x"))
	in := client.Resource(foos).Namespace("a")
	_, err := in.Create(ctx, foo("y"), metav1.CreateOptions{})
	require.NoError(t, err)
	patched, err := in.Patch(ctx, "y", types.MergePatchType, []byte(`{"spec":1}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	require.EqualValues(t, 1, patched.Object["spec"])
	_, err = in.Update(ctx, foo("none"), metav1.UpdateOptions{})
	require.True(t, apierrors.IsNotFound(err))

	list, err := client.Resource(foos).List(ctx, metav1.ListOptions{LabelSelector: "l=x"})
	require.NoError(t, err)
	require.Equal(t, []unstructured.Unstructured{*foo("x")}, list.Items)
	require.Equal(t, "FooList", list.GetKind())
	watches, err := in.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	require.NoError(t, err)
	defer watches.Stop()
	require.NoError(t, in.Delete(ctx, "x", metav1.DeleteOptions{}))
	require.Equal(t, foo("x"), (<-watches.ResultChan()).Object)
	got, err := in.Get(ctx, "x", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
	require.Nil(t, got)
	require.Equal(t, "patch", client.Actions()[1].GetVerb())
	require.Equal(t, "status", client.Actions()[1].GetSubresource())
}

func TestTypedObjectsAreConvertedToUnstructured(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	client := fake.NewSimpleDynamicClient(scheme, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "a"}})
	got, err := client.Resource(pods).Namespace("a").Get(t.Context(), "x", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "Pod", got.GetKind())
	list, err := client.Resource(pods).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, "PodList", list.GetKind())
	require.Len(t, list.Items, 1)
}

func TestAListOfAnUnknownKindPanics(t *testing.T) {
	require.Panics(t, func() {
		_, _ = fake.NewSimpleDynamicClient(runtime.NewScheme()).Resource(foos).List(t.Context(), metav1.ListOptions{})
	})
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{foos: "FooList"})
	list, err := client.Resource(foos).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, list.Items)
}

// Tests compare recorded actions with actions from the constructors.
func TestRecordedListsOfAllNamespacesHaveOnlySelectors(t *testing.T) {
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{foos: "FooList"})
	opts := metav1.ListOptions{LabelSelector: "l=x", ResourceVersion: "0", Limit: 3}
	_, err := client.Resource(foos).List(t.Context(), opts)
	require.NoError(t, err)
	_, err = client.Resource(foos).Namespace("a").List(t.Context(), opts)
	require.NoError(t, err)
	kind := foos.GroupVersion().WithKind("Foo")
	require.Equal(t, []clienttesting.Action{
		clienttesting.NewRootListAction(foos, kind, metav1.ListOptions{LabelSelector: "l=x"}),
		clienttesting.NewListActionWithOptions(foos, kind, "a", opts),
	}, client.Actions())
}

func TestWithoutReactorsAWriteReturnsItsObject(t *testing.T) {
	client := fake.NewSimpleDynamicClient(scheme.Scheme)
	client.ReactionChain = nil
	got, err := client.Resource(foos).Namespace("a").Create(t.Context(), foo("x"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, foo("x"), got)
	got, err = client.Resource(foos).Namespace("a").Update(t.Context(), foo("x"), metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, foo("x"), got)
	_, err = client.Resource(foos).Namespace("a").Get(t.Context(), "x", metav1.GetOptions{})
	require.Error(t, err)
}

// Typed fakes also drop an error that comes with an object.
func TestAListWithAnErrorIsReturned(t *testing.T) {
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{foos: "FooList"})
	client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &unstructured.UnstructuredList{Items: []unstructured.Unstructured{*foo("x")}}, errors.New("E")
	})
	list, err := client.Resource(foos).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
}

func TestTheKindOfAnObjectTakesPrecedenceOverTheScheme(t *testing.T) {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "g/v1", Kind: "Foo"}, ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "a"}}
	client := fake.NewSimpleDynamicClient(scheme.Scheme, pod)
	got, err := client.Resource(foos).Namespace("a").Get(t.Context(), "x", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "Foo", got.GetKind())
}
