package contracts

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	core "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

var podGVK = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

// trackedPods is a tracker with the pods a and b, alone or below a fake clientset. The field open
// is a function that may replace the watches of the tracker.
type trackedPods struct {
	core.ObjectTracker
	clientset *fake.Clientset // or nil
	open      func(attempt int, next func() (watch.Interface, error)) (watch.Interface, error)
}

// withTrackedPods runs f with a tracker alone, and with the tracker of a fake clientset.
func withTrackedPods(t *testing.T, f func(t *testing.T, p *trackedPods)) {
	t.Run("tracker", func(t *testing.T) { f(t, newTrackedPods(t)) })
	t.Run("clientset", func(t *testing.T) {
		clientset := fake.NewClientset(pod("a", ""), pod("b", ""))
		f(t, &trackedPods{ObjectTracker: clientset.Tracker(), clientset: clientset})
	})
}

func newTrackedPods(t *testing.T) *trackedPods {
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	tracker := core.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())
	for _, name := range []string{"a", "b"} {
		require.NoError(t, tracker.Add(pod(name, "")))
	}
	return &trackedPods{ObjectTracker: tracker}
}

func (p *trackedPods) IsWatchListSemanticsUnSupported() bool { return true }

func (p *trackedPods) source() cache.ListerWatcher {
	attempt := 0
	if p.clientset != nil {
		p.clientset.PrependWatchReactor("pods", func(action core.Action) (bool, watch.Interface, error) {
			attempt++
			w, err := p.open(attempt, func() (watch.Interface, error) {
				return p.Watch(podsGVR, "", action.(core.WatchActionImpl).ListOptions)
			})
			return true, w, err
		})
		pods := p.clientset.CoreV1().Pods("")
		return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return pods.List(ctx, options)
			},
			WatchFuncWithContext: pods.Watch,
		}, p.clientset)
	}
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return p.List(podsGVR, podGVK, "", options)
		},
		WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			attempt++
			return p.open(attempt, func() (watch.Interface, error) { return p.Watch(podsGVR, "", options) })
		},
	}, p)
}

// requireConverges runs an informer on the source. It requires that the store has exactly these
// pods at the end, and that the handler is notified of each deletion once.
func (p *trackedPods) requireConverges(t *testing.T, deletions int, keys ...string) {
	synctest.Test(t, func(t *testing.T) {
		informer := cache.NewSharedIndexInformer(p.source(), &corev1.Pod{}, 0, nil)
		deleted := 0
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) { deleted++ }})
		require.NoError(t, err)
		run(t, informer.RunWithContext, func() {
			sleepAndSettle(5 * time.Minute)
			require.ElementsMatch(t, keys, informer.GetStore().ListKeys())
			require.Equal(t, deletions, deleted)
		})
	})
}

// Pod b is deleted while no watch is open. The test covers every way in which the previous watch
// can end.
func TestATrackerLosesNoDeletionAfterAWatch(t *testing.T) {
	failed := func() (watch.Interface, error) {
		w := watch.NewFakeWithChanSize(1, false)
		w.Error(&apierrors.NewInternalError(context.DeadlineExceeded).ErrStatus)
		return w, nil
	}
	ended := func() (watch.Interface, error) {
		w := watch.NewFake()
		w.Stop()
		return w, nil
	}
	for name, broken := range map[string]func() (watch.Interface, error){
		"an ERROR event": failed,
		"an early end":   ended,
		"a refusal":      func() (watch.Interface, error) { return nil, apierrors.NewServiceUnavailable("busy") },
		"an error":       func() (watch.Interface, error) { return nil, context.DeadlineExceeded },
	} {
		t.Run(name, func(t *testing.T) {
			withTrackedPods(t, func(t *testing.T, p *trackedPods) {
				p.open = func(attempt int, next func() (watch.Interface, error)) (watch.Interface, error) {
					if attempt == 2 {
						require.NoError(t, p.Delete(podsGVR, "ns", "b"))
					}
					if attempt <= 2 {
						return broken()
					}
					return next()
				}
				p.requireConverges(t, 1, "ns/a")
			})
		})
	}
}

// Pod b is deleted after the first list and before the first watch (kubernetes/kubernetes#141528).
func TestATrackerLosesNoDeletionBeforeAWatch(t *testing.T) {
	withTrackedPods(t, func(t *testing.T, p *trackedPods) {
		p.open = func(attempt int, next func() (watch.Interface, error)) (watch.Interface, error) {
			if attempt == 1 {
				require.NoError(t, p.Delete(podsGVR, "ns", "b"))
			}
			return next()
		}
		p.requireConverges(t, 1, "ns/a")
	})
}

// Pod c is created while a watch is open, and deleted after the watch has ended. The objects of a
// tracker have no versions, so a watch cannot continue from the version of an event.
func TestADeletionOfAnObjectFromAWatchIsNotMissed(t *testing.T) {
	p := newTrackedPods(t)
	p.open = func(attempt int, next func() (watch.Interface, error)) (watch.Interface, error) {
		switch attempt {
		case 1:
			w := watch.NewFakeWithChanSize(1, false)
			require.NoError(t, p.Add(pod("c", "")))
			w.Add(pod("c", ""))
			time.AfterFunc(time.Minute, w.Stop)
			return w, nil
		case 2:
			require.NoError(t, p.Delete(podsGVR, "ns", "c"))
		}
		return next()
	}
	p.requireConverges(t, 1, "ns/a", "ns/b")
}

// A watch can begin with as many deletions as the tracker keeps.
func TestATrackerExpiresVersionsBeforeManyDeletions(t *testing.T) {
	p := newTrackedPods(t)
	list, err := p.List(podsGVR, podGVK, "")
	require.NoError(t, err)
	opens := func(version string) error {
		w, err := p.Watch(podsGVR, "", metav1.ListOptions{ResourceVersion: version})
		if err == nil {
			w.Stop()
		}
		return err
	}
	version := list.(*corev1.PodList).ResourceVersion
	require.NoError(t, p.Delete(podsGVR, "ns", "a"))
	for range 999 {
		require.NoError(t, p.Add(pod("c", "")))
		require.NoError(t, p.Delete(podsGVR, "ns", "c"))
	}
	require.NoError(t, opens(version))
	require.NoError(t, p.Delete(podsGVR, "ns", "b"))
	require.True(t, apierrors.IsResourceExpired(opens(version)))
	require.NoError(t, opens(""))
	require.NoError(t, opens("0"))
	list, err = p.List(podsGVR, podGVK, "")
	require.NoError(t, err)
	require.NoError(t, opens(list.(*corev1.PodList).ResourceVersion))
}
