package fake_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func foo(name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "g/v1", Kind: "Foo"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "a", Labels: map[string]string{"l": name}},
	}
}

func TestVerbs(t *testing.T) {
	ctx := t.Context()
	scheme := fake.NewTestScheme()
	require.NoError(t, metav1.AddMetaToScheme(scheme))
	client := fake.NewSimpleMetadataClient(scheme, foo("x"))
	all := client.Resource(schema.GroupVersionResource{Group: "g", Version: "v1", Resource: "foos"})
	in := all.Namespace("a").(fake.MetadataClient)
	_, err := in.CreateFake(foo("y"), metav1.CreateOptions{})
	require.NoError(t, err)
	patched, err := in.Patch(ctx, "y", types.MergePatchType, []byte(`{"metadata":{"labels":{"m":"1"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"l": "y", "m": "1"}, patched.Labels)
	list, err := all.List(ctx, metav1.ListOptions{LabelSelector: "l=x"})
	require.NoError(t, err)
	require.Equal(t, []metav1.PartialObjectMetadata{*foo("x")}, list.Items)
	watches, err := in.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	require.NoError(t, err)
	defer watches.Stop()
	require.NoError(t, in.Delete(ctx, "x", metav1.DeleteOptions{}))
	require.Equal(t, foo("x"), (<-watches.ResultChan()).Object)
	_, err = in.Get(ctx, "x", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
	require.Len(t, client.Actions(), 6)
}
