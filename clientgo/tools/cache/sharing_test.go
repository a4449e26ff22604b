package cache_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/internal/guard"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	cachetesting "k8s.io/client-go/tools/cache/testing"

	"github.com/kinform/kinform/apitest"
)

// In an informer, the pods of a workload share their immutable parts, unless a transform changes
// these parts. In a program's own store, and with some values of Sharing in the Config, each pod
// has its own copy of every part.
func TestPodsOfAWorkloadShareImmutableParts(t *testing.T) {
	for _, encoding := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		for name, shared := range map[string]bool{
			"a cache": true, "a transform": false, "a transform of managed fields": true, "a transform that copies": false, "a store": false, "a Config with constants": false, "a Config with nothing": false, "a Config with everything": true,
		} {
			t.Run(encoding+": "+name, func(t *testing.T) {
				server := apitest.Start(t, apitest.Options{})
				require.NoError(t, apitest.Populate(server, apitest.Pods(200, apitest.PodOptions{Namespaces: 1})))
				config := rest.Config{Host: server.URL(), QPS: -1, ContentConfig: rest.ContentConfig{ContentType: encoding}}
				if sharing, ok := strings.CutPrefix(name, "a Config with "); ok {
					config.Sharing = rest.Sharing(sharing)
				}
				client := typedcorev1.NewForConfigOrDie(rest.CopyConfig(&config))
				lw := cache.NewListWatchFromClient(client.RESTClient(), "pods", "", fields.Everything())
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				defer running.Wait()
				defer cancel()
				store := cache.NewStore(cache.MetaNamespaceKeyFunc)
				if name == "a store" {
					reflector := cache.NewReflector(lw, &corev1.Pod{}, store, 0)
					running.Go(func() { reflector.RunWithContext(ctx) })
					require.Eventually(t, func() bool { return reflector.LastSyncResourceVersion() != "" }, time.Minute, 10*time.Millisecond)
				} else {
					informer := cache.NewSharedInformer(lw, &corev1.Pod{}, 0)
					switch name {
					case "a transform":
						require.NoError(t, informer.SetTransform(func(obj any) (any, error) {
							for i := range obj.(*corev1.Pod).Spec.Containers {
								obj.(*corev1.Pod).Spec.Containers[i].LivenessProbe.InitialDelaySeconds++
							}
							return obj, nil
						}))
					case "a transform of managed fields":
						require.NoError(t, informer.SetTransform(func(obj any) (any, error) {
							obj.(*corev1.Pod).ManagedFields = nil
							return obj, nil
						}))
					case "a transform that copies":
						require.NoError(t, informer.SetTransform(func(obj any) (any, error) { return obj.(*corev1.Pod).DeepCopy(), nil }))
					}
					running.Go(func() { informer.RunWithContext(ctx) })
					require.True(t, cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))
					store = informer.GetStore()
				}
				probes, containers := map[*corev1.Probe]int{}, 0
				delays, images := map[int32]bool{}, map[*byte]int{}
				for _, obj := range store.List() {
					for _, c := range obj.(*corev1.Pod).Spec.Containers {
						probes[c.LivenessProbe]++
						images[unsafe.StringData(c.Image)]++
						delays[c.LivenessProbe.InitialDelaySeconds] = true
						containers++
					}
				}
				require.GreaterOrEqual(t, containers, 200)
				if shared {
					require.Less(t, len(probes), containers/4)
				} else {
					require.Len(t, probes, containers)
				}
				if name == "a Config with nothing" {
					require.Len(t, images, containers, "objects do not even share strings")
				} else {
					require.Less(t, len(images), containers/4)
				}
				if name == "a transform" {
					require.Equal(t, map[int32]bool{1: true}, delays, "the transform changed each probe once")
				}
			})
		}
	}
}

// While an informer runs, and only then, the guard checks the shared parts of cached objects.
func TestSharedPartsAreCheckedWhileAnInformerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int32
		guard.Add(func(int) { looks.Add(1) })
		source := cachetesting.NewFakeControllerSource()
		defer source.Shutdown()
		informer := cache.NewSharedInformer(source, &corev1.Pod{}, 0)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); informer.RunWithContext(ctx) }()
		time.Sleep(3*guard.Period + time.Second)
		require.EqualValues(t, 3, looks.Load())
		cancel()
		<-ended
		time.Sleep(3 * guard.Period)
		require.EqualValues(t, 3, looks.Load())
	})
}
