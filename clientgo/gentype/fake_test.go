//go:build !kinform_no_openapi

package gentype_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/applyconfigurations"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/kubernetes/scheme"
	fakes "k8s.io/client-go/testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newFake returns a client of config maps, backed by a tracker.
func newFake(t *testing.T, objects ...runtime.Object) (*fakes.Fake, *gentype.FakeClientWithListAndApply[*corev1.ConfigMap, *corev1.ConfigMapList, *applycorev1.ConfigMapApplyConfiguration]) {
	tracker := fakes.NewFieldManagedObjectTracker(scheme.Scheme, scheme.Codecs.UniversalDecoder(), applyconfigurations.NewTypeConverter(scheme.Scheme))
	for _, object := range objects {
		require.NoError(t, tracker.Add(object))
	}
	fake := &fakes.Fake{}
	fake.AddReactor("*", "*", fakes.ObjectReaction(tracker))
	fake.AddWatchReactor("*", func(action fakes.Action) (bool, watch.Interface, error) {
		watching, err := tracker.Watch(action.GetResource(), action.GetNamespace())
		return true, watching, err
	})
	return fake, gentype.NewFakeClientWithListAndApply[*corev1.ConfigMap, *corev1.ConfigMapList, *applycorev1.ConfigMapApplyConfiguration](
		fake, "default", corev1.SchemeGroupVersion.WithResource("configmaps"), corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		func() *corev1.ConfigMap { return &corev1.ConfigMap{} },
		func() *corev1.ConfigMapList { return &corev1.ConfigMapList{} },
		func(dst, src *corev1.ConfigMapList) { dst.ListMeta = src.ListMeta },
		func(list *corev1.ConfigMapList) []*corev1.ConfigMap { return gentype.ToPointerSlice(list.Items) },
		func(list *corev1.ConfigMapList, items []*corev1.ConfigMap) {
			list.Items = gentype.FromPointerSlice(items)
		},
	)
}

func configMap(name, color string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"color": color}}}
}

func TestFakeKeepsObjects(t *testing.T) {
	ctx := t.Context()
	fake, client := newFake(t, configMap("a", "red"))
	changes, err := client.Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	defer changes.Stop()

	_, err = client.Create(ctx, configMap("b", "blue"), metav1.CreateOptions{})
	require.NoError(t, err)
	event := <-changes.ResultChan()
	require.Equal(t, watch.Added, event.Type)
	require.Equal(t, "b", event.Object.(*corev1.ConfigMap).Name)
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: "color=blue"})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	require.Equal(t, "b", list.Items[0].Name)

	patched, err := client.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Equal(t, "v", patched.Data["k"])
	patched.Data["k"] = "w"
	_, err = client.Update(ctx, patched, metav1.UpdateOptions{})
	require.NoError(t, err)
	applied, err := client.Apply(ctx, applycorev1.ConfigMap("a", "default").WithData(map[string]string{"mine": "1"}), metav1.ApplyOptions{FieldManager: "me"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"k": "w", "mine": "1"}, applied.Data)
	require.NoError(t, client.Delete(ctx, "a", metav1.DeleteOptions{}))
	_, err = client.Get(ctx, "a", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)

	var verbs []string
	for _, action := range fake.Actions() {
		require.Equal(t, client.Resource(), action.GetResource())
		verbs = append(verbs, action.GetVerb())
	}
	require.Equal(t, []string{"watch", "create", "list", "patch", "update", "patch", "delete", "get"}, verbs)
	require.Equal(t, "ConfigMap", client.Kind().Kind)
	require.Equal(t, "default", client.Namespace())
}

func TestSlicesOfPointers(t *testing.T) {
	require.Nil(t, gentype.ToPointerSlice[int](nil))
	require.Nil(t, gentype.FromPointerSlice[int](nil))
	values := []int{1, 2}
	pointers := gentype.ToPointerSlice(values)
	*pointers[0] = 3
	require.Equal(t, []int{3, 2}, values, "the pointers point to the elements of the slice")
	copied := gentype.FromPointerSlice(pointers)
	*pointers[1] = 4
	require.Equal(t, []int{3, 2}, copied, "the copies do not change")
}
