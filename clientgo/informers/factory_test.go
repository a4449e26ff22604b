package informers_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kinform/kinform/apitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start returns a client of a server that has a config map a in namespace default, and b in
// namespace other.
func start(t *testing.T) (kubernetes.Interface, context.Context) {
	server := apitest.Start(t, apitest.Options{})
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: server.URL(), QPS: -1})
	_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	for namespace, name := range map[string]string{"default": "a", "other": "b"} {
		_, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}, Data: map[string]string{"k": "v"}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	return client, t.Context()
}

// run starts a factory and waits for its informers to sync. They stop when the test ends, before
// the server does.
func run(t *testing.T, ctx context.Context, factory informers.SharedInformerFactory) map[reflect.Type]bool {
	ctx, cancel := context.WithCancel(ctx)
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
	})
	factory.StartWithContext(ctx)
	waiting, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	result := factory.WaitForCacheSyncWithContext(waiting)
	require.NoError(t, result.Err)
	return result.Synced
}

func TestAFactoryHasOneInformerPerType(t *testing.T) {
	client, ctx := start(t)
	factory := informers.NewSharedInformerFactory(client, 0)
	maps := factory.Core().V1().ConfigMaps()
	require.True(t, maps.Informer() == factory.Core().V1().ConfigMaps().Informer())
	generic, err := factory.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
	require.NoError(t, err)
	require.True(t, maps.Informer() == generic.Informer())

	synced := run(t, ctx, factory)
	require.Equal(t, map[reflect.Type]bool{reflect.TypeFor[*corev1.ConfigMap](): true}, synced)
	all, err := maps.Lister().List(labels.Everything())
	require.NoError(t, err)
	require.Len(t, all, 2)
	got, err := generic.Lister().ByNamespace("other").Get("b")
	require.NoError(t, err)
	require.Equal(t, "v", got.(*corev1.ConfigMap).Data["k"])
	byNamespace, err := maps.Informer().GetIndexer().ByIndex(cache.NamespaceIndex, "default")
	require.NoError(t, err)
	require.Len(t, byNamespace, 1)
}

// An informer requested after Start runs after the next Start.
func TestAnInformerRequestedAfterStartRunsAfterTheNextStart(t *testing.T) {
	client, ctx := start(t)
	factory := informers.NewSharedInformerFactory(client, 0)
	factory.Core().V1().ConfigMaps().Informer()
	run(t, ctx, factory)
	namespaces := factory.Core().V1().Namespaces()
	namespaces.Informer()
	require.Len(t, factory.WaitForCacheSync(t.Context().Done()), 1, "the informer of namespaces does not run yet")
	require.Len(t, run(t, ctx, factory), 2)
	_, err := namespaces.Lister().Get("other")
	require.NoError(t, err)
}

func TestOptionsOfAFactory(t *testing.T) {
	client, ctx := start(t)
	keys := func(options ...informers.SharedInformerOption) []string {
		factory := informers.NewSharedInformerFactoryWithOptions(client, time.Hour, options...)
		maps := factory.Core().V1().ConfigMaps().Informer()
		run(t, ctx, factory)
		return maps.GetStore().ListKeys()
	}
	require.ElementsMatch(t, []string{"default/a", "other/b"}, keys())
	require.Equal(t, []string{"other/b"}, keys(informers.WithNamespace("other")))
	require.Equal(t, []string{"default/a"}, keys(informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "name=a" })))
	require.ElementsMatch(t, []string{"default/a", "other/b"}, keys(informers.WithCustomResyncConfig(map[metav1.Object]time.Duration{&corev1.ConfigMap{}: time.Minute})))
}

func TestTransformOfAFactory(t *testing.T) {
	client, ctx := start(t)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(func(o any) (any, error) {
		o.(*corev1.ConfigMap).Data = nil
		return o, nil
	}))
	maps := factory.Core().V1().ConfigMaps()
	maps.Informer()
	run(t, ctx, factory)
	got, err := maps.Lister().ConfigMaps("default").Get("a")
	require.NoError(t, err)
	require.Nil(t, got.Data)
}

// A resync calls handlers again with the objects in the store.
func TestResyncOfAFactory(t *testing.T) {
	client, ctx := start(t)
	factory := informers.NewSharedInformerFactoryWithOptions(client, time.Hour,
		informers.WithCustomResyncConfig(map[metav1.Object]time.Duration{&corev1.ConfigMap{}: time.Second}), informers.WithNamespace("other"))
	again := make(chan string, 100)
	_, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
		if before == after {
			again <- after.(*corev1.ConfigMap).Name
		}
	}})
	require.NoError(t, err)
	run(t, ctx, factory)
	select {
	case name := <-again:
		require.Equal(t, "b", name)
	case <-time.After(time.Minute):
		require.Fail(t, "the handler must be called by the resync")
	}
}

func TestAFactoryStartsNothingAfterShutdown(t *testing.T) {
	client, ctx := start(t)
	factory := informers.NewSharedInformerFactory(client, 0)
	maps := factory.Core().V1().ConfigMaps().Informer()
	factory.Shutdown()
	factory.StartWithContext(ctx)
	require.Empty(t, factory.WaitForCacheSync(ctx.Done()))
	require.False(t, maps.HasSynced())
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	client, ctx := start(t)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "no selector=" }))
	factory.Core().V1().ConfigMaps().Informer()
	ctx, cancel := context.WithCancel(ctx)
	factory.StartWithContext(ctx)
	cancel()
	result := factory.WaitForCacheSyncWithContext(ctx)
	require.ErrorIs(t, result.Err, context.Canceled)
	require.Equal(t, map[reflect.Type]bool{reflect.TypeFor[*corev1.ConfigMap](): false}, result.Synced)
	factory.Shutdown()
}

// A program's own function makes the informer of a type, and is called once.
func TestInformerForCallsTheProgramsConstructor(t *testing.T) {
	client, ctx := start(t)
	factory := informers.NewSharedInformerFactory(client, 0)
	made := 0
	newInformer := func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		made++
		return cache.NewSharedIndexInformer(cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", "other", fields.Everything()), &corev1.ConfigMap{}, resync, nil)
	}
	own := factory.InformerFor(&corev1.ConfigMap{}, newInformer)
	require.True(t, own == factory.InformerFor(&corev1.ConfigMap{}, newInformer))
	factory.Core().V1().ConfigMaps().Informer()
	require.Equal(t, 1, made)
	run(t, ctx, factory)
	require.Equal(t, []string{"other/b"}, own.GetStore().ListKeys())
}

func TestForResource(t *testing.T) {
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://127.0.0.1:1"}), 0)
	for _, resource := range []schema.GroupVersionResource{corev1.SchemeGroupVersion.WithResource("pods"), appsv1.SchemeGroupVersion.WithResource("deployments")} {
		_, err := factory.ForResource(resource)
		require.NoError(t, err, resource)
	}
	_, err := factory.ForResource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "none"})
	require.ErrorContains(t, err, "none")
}
