package metadatainformer_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/metadata/metadatainformer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

func newClient() *fake.FakeMetadataClient {
	pod := func(namespace, name string) runtime.Object {
		return &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"big": "label"}},
		}
	}
	scheme := fake.NewTestScheme()
	_ = metav1.AddMetaToScheme(scheme)
	return fake.NewSimpleMetadataClient(scheme, pod("a", "x"), pod("b", "y"))
}

func TestAFactoryTransformsAndLists(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	factory := metadatainformer.NewSharedInformerFactoryWithOptions(newClient(), 0, metadatainformer.WithTransform(func(obj any) (any, error) {
		obj.(*metav1.PartialObjectMetadata).Labels = nil
		return obj, nil
	}))
	informer := factory.ForResource(pods)
	factory.Start(ctx.Done())
	require.Equal(t, map[schema.GroupVersionResource]bool{pods: true}, factory.WaitForCacheSync(ctx.Done()))
	all, err := informer.Lister().List(labels.Everything())
	require.NoError(t, err)
	require.Len(t, all, 2)
	object, err := informer.Lister().ByNamespace("a").Get("x")
	require.NoError(t, err)
	require.Empty(t, object.(*metav1.PartialObjectMetadata).Labels)
	_, err = informer.Lister().ByNamespace("a").Get("y")
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	cancel()
	factory.Shutdown()
	require.True(t, informer.Informer().IsStopped())
}

func TestAFactoryOfANamespace(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	factory := metadatainformer.NewFilteredSharedInformerFactory(newClient(), 0, "b", nil)
	defer factory.Shutdown()
	defer cancel()
	informer := factory.ForResource(pods)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	require.Equal(t, []string{"b/y"}, informer.Informer().GetStore().ListKeys())
}
