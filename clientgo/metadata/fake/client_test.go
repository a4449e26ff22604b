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
	clienttesting "k8s.io/client-go/testing"
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

// Tests compare recorded actions with actions from the constructors.
func TestRecordedActions(t *testing.T) {
	ctx := t.Context()
	foos := schema.GroupVersionResource{Group: "g", Version: "v1", Resource: "foos"}
	client := fake.NewSimpleMetadataClient(fake.NewTestScheme())
	client.ReactionChain = nil
	in := client.Resource(foos).Namespace("a").(fake.MetadataClient)
	created, err := in.CreateFake(foo("x"), metav1.CreateOptions{FieldManager: "m"})
	require.NoError(t, err)
	require.Equal(t, foo("x"), created) // no reactor handled the action
	_, err = in.UpdateFake(foo("x"), metav1.UpdateOptions{FieldManager: "m"})
	require.NoError(t, err)
	_, err = in.(interface {
		UpdateStatus(*metav1.PartialObjectMetadata, metav1.UpdateOptions) (*metav1.PartialObjectMetadata, error)
	}).UpdateStatus(foo("x"), metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = in.Get(ctx, "x", metav1.GetOptions{ResourceVersion: "1"})
	require.EqualError(t, err, "unexpected return value type *v1.Status")
	_, err = in.List(ctx, metav1.ListOptions{LabelSelector: "l=x", Limit: 3})
	require.Error(t, err)
	_, err = in.Patch(ctx, "x", types.MergePatchType, []byte("{}"), metav1.PatchOptions{FieldManager: "m"})
	require.Error(t, err)
	require.NoError(t, in.Delete(ctx, "x", metav1.DeleteOptions{DryRun: []string{"All"}}))
	require.NoError(t, in.DeleteCollection(ctx, metav1.DeleteOptions{DryRun: []string{"All"}}, metav1.ListOptions{Limit: 3}))
	require.Equal(t, []clienttesting.Action{
		clienttesting.NewCreateAction(foos, "a", foo("x")),
		clienttesting.NewUpdateAction(foos, "a", foo("x")),
		clienttesting.NewUpdateSubresourceAction(foos, "status", "a", foo("x")),
		clienttesting.NewGetAction(foos, "a", "x"),
		clienttesting.NewListAction(foos, schema.GroupVersionKind{Group: "fake-metadata-client-group", Version: "v1"}, "a", metav1.ListOptions{LabelSelector: "l=x"}),
		clienttesting.NewPatchAction(foos, "a", "x", types.MergePatchType, []byte("{}")),
		clienttesting.NewDeleteActionWithOptions(foos, "a", "x", metav1.DeleteOptions{DryRun: []string{"All"}}),
		clienttesting.NewDeleteCollectionAction(foos, "a", metav1.ListOptions{Limit: 3}),
	}, client.Actions())
}
