package dynamicinformer_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/tools/cache"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var widgets = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"}

func widget(namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"namespace": namespace, "name": name},
	}}
}

func newClient(objects ...runtime.Object) *fake.FakeDynamicClient {
	return fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{widgets: "WidgetList"}, objects...)
}

func TestAFactoryRunsItsInformers(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := newClient(widget("a", "x"), widget("b", "y"))
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	informer := factory.ForResource(widgets)
	require.Same(t, informer.Informer(), factory.ForResource(widgets).Informer())
	added := make(chan string, 10)
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { added <- obj.(*unstructured.Unstructured).GetName() }})
	require.NoError(t, err)
	factory.Start(ctx.Done())
	factory.Start(ctx.Done()) // a second Start does not start an informer again
	require.Equal(t, map[schema.GroupVersionResource]bool{widgets: true}, factory.WaitForCacheSync(ctx.Done()))
	_, err = client.Resource(widgets).Namespace("a").Create(ctx, widget("a", "z"), metav1.CreateOptions{})
	require.NoError(t, err)
	got := map[string]bool{}
	for range 3 {
		select {
		case name := <-added:
			got[name] = true
		case <-time.After(time.Minute):
			t.Fatal("the handler must get three events")
		}
	}
	require.Equal(t, map[string]bool{"x": true, "y": true, "z": true}, got)

	all, err := informer.Lister().List(labels.Everything())
	require.NoError(t, err)
	require.Len(t, all, 3)
	some, err := informer.Lister().ByNamespace("a").List(labels.Everything())
	require.NoError(t, err)
	require.Len(t, some, 2)
	object, err := informer.Lister().ByNamespace("b").Get("y")
	require.NoError(t, err)
	require.Equal(t, "y", object.(*unstructured.Unstructured).GetName())
	_, err = informer.Lister().ByNamespace("a").Get("y")
	require.True(t, apierrors.IsNotFound(err), "%v", err)

	cancel()
	factory.Shutdown()
	require.True(t, informer.Informer().IsStopped())
	factory.ForResource(widgets.GroupVersion().WithResource("others"))
	// after Shutdown, Start does nothing; goleak would find a running informer
	factory.Start(t.Context().Done())
}

func TestAFactoryOfANamespace(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := newClient(widget("a", "x"), widget("b", "y"))
	var tweaked atomic.Bool
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, "b", func(*metav1.ListOptions) { tweaked.Store(true) })
	defer factory.Shutdown()
	defer cancel()
	informer := factory.ForResource(widgets)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	require.Equal(t, []string{"b/y"}, informer.Informer().GetStore().ListKeys())
	require.True(t, tweaked.Load())
	require.Equal(t, "b", client.Actions()[0].GetNamespace())
}
