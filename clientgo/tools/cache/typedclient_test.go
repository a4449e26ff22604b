package cache_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	listercorev1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kinform/kinform/apitest"
)

// A real program: a typed client, a shared informer, an index, a lister and a handler. The server
// drops the watch and compacts old versions.
func TestInformerOfATypedClient(t *testing.T) {
	for _, encoding := range []string{"", "application/json"} { // "" means protobuf
		t.Run("encoding "+encoding, func(t *testing.T) {
			server := apitest.Start(t, apitest.Options{})
			client := typedcorev1.NewForConfigOrDie(&rest.Config{Host: server.URL(), QPS: -1, ContentConfig: rest.ContentConfig{ContentType: encoding}})
			maps := client.ConfigMaps("default")
			ctx, cancel := context.WithCancel(t.Context())
			create := func(name, color string) *corev1.ConfigMap {
				created, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"color": color}}}, metav1.CreateOptions{})
				require.NoError(t, err)
				return created
			}
			create("a", "red")
			informer := cache.NewSharedIndexInformerWithOptions(&cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
					return maps.List(ctx, opts)
				},
				WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
					return maps.Watch(ctx, opts)
				},
			}, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{
				cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
				"color":              func(obj any) ([]string, error) { return []string{obj.(*corev1.ConfigMap).Labels["color"]}, nil },
			}})
			var recorded asyncRecorder
			registration, err := informer.AddEventHandler(&recorded)
			require.NoError(t, err)
			var running sync.WaitGroup
			running.Go(func() { informer.RunWithContext(ctx) })
			defer running.Wait()
			defer cancel()
			require.True(t, cache.WaitForCacheSync(ctx.Done(), informer.HasSynced, registration.HasSynced))
			recorded.expect(t, "initial a")

			b := create("b", "blue")
			recorded.expect(t, "add b")
			b.Labels["color"] = "red"
			_, err = maps.Update(ctx, b, metav1.UpdateOptions{})
			require.NoError(t, err)
			recorded.expect(t, "update b blue red")
			require.NoError(t, maps.Delete(ctx, "a", metav1.DeleteOptions{}))
			recorded.expect(t, "delete a")
			red, err := informer.GetIndexer().ByIndex("color", "red")
			require.NoError(t, err)
			require.Len(t, red, 1)
			got, err := listercorev1.NewConfigMapLister(informer.GetIndexer()).ConfigMaps("default").Get("b")
			require.NoError(t, err)
			require.Equal(t, "red", got.Labels["color"])

			server.Compact()
			require.Equal(t, 1, server.DropWatches("configmaps"))
			require.NoError(t, maps.Delete(ctx, "b", metav1.DeleteOptions{}))
			create("c", "red")
			recorded.expectInAnyOrder(t, "delete b", "add c")
		})
	}
}

// asyncRecorder is a handler that records its calls.
type asyncRecorder struct {
	mu      sync.Mutex // guards following
	entries []string
}

func (j *asyncRecorder) write(entry string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, entry)
}

// OnAdd implements cache.ResourceEventHandler.
func (j *asyncRecorder) OnAdd(obj any, initial bool) {
	word := "add "
	if initial {
		word = "initial "
	}
	j.write(word + obj.(*corev1.ConfigMap).Name)
}

// OnUpdate implements cache.ResourceEventHandler.
func (j *asyncRecorder) OnUpdate(before, after any) {
	j.write("update " + after.(*corev1.ConfigMap).Name + " " + before.(*corev1.ConfigMap).Labels["color"] + " " + after.(*corev1.ConfigMap).Labels["color"])
}

// OnDelete implements cache.ResourceEventHandler.
func (j *asyncRecorder) OnDelete(obj any) {
	name, err := cache.DeletionHandlingObjectToName(obj)
	if err != nil {
		panic(err)
	}
	j.write("delete " + name.Name)
}

// take waits for n entries and removes them.
func (j *asyncRecorder) take(t *testing.T, n int) []string {
	t.Helper()
	var taken []string
	require.Eventually(t, func() bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		if len(j.entries) < n {
			return false
		}
		taken, j.entries = j.entries[:n], j.entries[n:]
		return true
	}, time.Minute, time.Millisecond)
	return taken
}

func (j *asyncRecorder) expect(t *testing.T, entries ...string) {
	t.Helper()
	require.Equal(t, entries, j.take(t, len(entries)))
}

func (j *asyncRecorder) expectInAnyOrder(t *testing.T, entries ...string) {
	t.Helper()
	require.ElementsMatch(t, entries, j.take(t, len(entries)))
}

// Programs written before ListWatch had contexts have watch functions that ignore the context. Only
// Stop ends the watches of these functions.
func TestAnInformerStopsEvenIfItsFunctionsIgnoreTheContext(t *testing.T) {
	server := apitest.Start(t, apitest.Options{})
	maps := typedcorev1.NewForConfigOrDie(&rest.Config{Host: server.URL(), QPS: -1}).ConfigMaps("default")
	ignoring := &cache.ListWatch{
		ListFunc: func(opts metav1.ListOptions) (runtime.Object, error) { return maps.List(context.Background(), opts) },
		WatchFunc: func(opts metav1.ListOptions) (watch.Interface, error) {
			return maps.Watch(context.Background(), opts)
		},
	}
	for name, events := range map[string]int{"before the first event": 0, "after one": 1} {
		t.Run(name, func(t *testing.T) {
			informer := cache.NewSharedIndexInformer(ignoring, &corev1.ConfigMap{}, 0, nil)
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { informer.RunWithContext(ctx) })
			require.True(t, cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))
			for range events {
				_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
				require.NoError(t, err)
				require.Eventually(t, func() bool { return len(informer.GetStore().List()) > 0 }, 10*time.Second, time.Millisecond)
			}
			cancel()
			ended := make(chan struct{})
			go func() { defer close(ended); running.Wait() }()
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				t.Error("the informer must stop")
				server.EndWatches("")
				<-ended
			}
		})
	}
}
