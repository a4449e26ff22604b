package controller_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

type reconcileFunc = func(context.Context, types.NamespacedName) error

// hookLog records messages in order.
type hookLog struct {
	mu    sync.Mutex // guards following
	lines []string
}

func (s *hookLog) record(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

func (s *hookLog) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.lines
	s.lines = nil
	return lines
}

// recordingQueue is a queue that reports each added key.
type recordingQueue struct {
	enqueue.Queue
	to *hookLog
}

func (q recordingQueue) AddWith(key types.NamespacedName, how workqueue.AddOptions) {
	q.to.record("add %s", key.Name)
	q.Queue.AddWith(key, how)
}

// An observer's functions are called once for each controller, cache and handler, when the manager
// makes these. Reconcile is called when the controller starts.
func TestObserverIsCalledForEachQueueAndCache(t *testing.T) {
	var asked hookLog
	opts := controller.Options{Observer: &controller.Observer{
		Queue: func(name string, next *workqueue.Observer[key]) *workqueue.Observer[key] {
			asked.record("queue %s", name)
			return next
		},
		Cache: func(name string, next controller.CacheObservers) controller.CacheObservers {
			asked.record("cache %s", name)
			return next
		},
		Enqueue: func(name, cache string, queue enqueue.Queue) (enqueue.Queue, func(key, string)) {
			asked.record("enqueue %s of %s", name, cache)
			return nil, nil
		},
		Reconcile: func(name string, next reconcileFunc) reconcileFunc {
			asked.record("reconcile %s", name)
			return next
		},
	}}
	play(t, opts, func(t *testing.T, r *rig) {
		var seen reconcileLog
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		secrets := controller.Select(r.manager, controller.Selection[*corev1.Secret]{Informer: informer.Options[*corev1.Secret]{Name: "theirs"}})
		reconcile := func(_ context.Context, m *configMap) (controller.Result, error) {
			seen.add(m.Name)
			return controller.Done, nil
		}
		a := controller.Manage(r.manager, "a", maps, reconcile, controller.Settings[*configMap]{})
		controller.Owns(a, secrets, nil)
		controller.Manage(r.manager, "b", maps, reconcile, controller.Settings[*configMap]{})
		require.Equal(t, []string{"cache configmaps", "cache theirs", "queue a", "enqueue a of configmaps", "enqueue a of theirs", "queue b", "enqueue b of configmaps"}, asked.take())
		r.create(newMap("one"))
		r.run()
		r.waitIdle()
		lines := asked.take()
		slices.Sort(lines)
		require.Equal(t, []string{"reconcile a", "reconcile b"}, lines)
		require.Equal(t, []string{"one", "one"}, seen.take())
	})
}

// For each event of a handler, the observer is called before the handler fills the queue, in the
// handler's goroutine. It is not called for events that Settings.When rejects. The observer can
// wrap a reconcile: it gets the error, and provides the context.
func TestObserverHooksAreCalledInOrder(t *testing.T) {
	var calls hookLog
	type ctxKey struct{}
	opts := controller.Options{Observer: &controller.Observer{
		Enqueue: func(_, _ string, queue enqueue.Queue) (enqueue.Queue, func(key, string)) {
			return recordingQueue{queue, &calls}, func(k key, version string) { calls.record("event %s, %v", k.Name, version != "") }
		},
		Reconcile: func(_ string, next reconcileFunc) reconcileFunc {
			return func(ctx context.Context, k key) error {
				calls.record("begin %s", k.Name)
				err := next(context.WithValue(ctx, ctxKey{}, "marked"), k)
				calls.record("end %s: %v", k.Name, err)
				return err
			}
		},
	}}
	play(t, opts, func(t *testing.T, r *rig) {
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		failed := false
		controller.Manage(r.manager, "a", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
			calls.record("reconcile %s, %v", m.Name, ctx.Value(ctxKey{}))
			if !failed {
				failed = true
				return controller.Done, errors.New("not yet")
			}
			// The observer's context identifies the reconcile.
			_, err := maps.ModifyStatus(ctx, key{Namespace: "web", Name: m.Name}, func(m *configMap) error { return nil })
			return controller.Done, err
		}, controller.Settings[*configMap]{When: func(e informer.Event[*configMap]) bool { return e.Key.Name != "left-out" }})
		r.run()
		r.waitIdle()
		r.create(newMap("one"))
		r.create(newMap("left-out"))
		r.waitIdle()
		require.Equal(t, []string{
			"event one, true", "add one",
			"begin one", "reconcile one, marked", "end one: not yet",
			"begin one", "reconcile one, marked", "end one: <nil>",
		}, calls.take())
		require.NoError(t, r.maps.Delete(t.Context(), key{Namespace: "web", Name: "one"}, metav1.DeleteOptions{}))
		r.waitIdle()
		require.Equal(t, []string{"event one, true", "add one", "begin one", "end one: <nil>"}, calls.take())
	})
}

// logReconciles adds a controller that records the ConfigMaps that it has seen.
func logReconciles(r *rig) *reconcileLog {
	seen := &reconcileLog{}
	maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
	controller.Manage(r.manager, "a", maps, func(_ context.Context, m *configMap) (controller.Result, error) {
		seen.add(m.Name)
		return controller.Done, nil
	}, controller.Settings[*configMap]{})
	return seen
}

// An observer may set any of its fields, and return nil from each.
func TestObserverWithoutHooks(t *testing.T) {
	for name, o := range map[string]*controller.Observer{
		"none":  nil,
		"empty": {},
		"nothing": {
			Queue:   func(string, *workqueue.Observer[key]) *workqueue.Observer[key] { return nil },
			Cache:   func(string, controller.CacheObservers) controller.CacheObservers { return controller.CacheObservers{} },
			Enqueue: func(string, string, enqueue.Queue) (enqueue.Queue, func(key, string)) { return nil, nil },
		},
		"event alone": {Enqueue: func(string, string, enqueue.Queue) (enqueue.Queue, func(key, string)) {
			return nil, func(key, string) {}
		}},
		"fill alone": {Enqueue: func(_, _ string, queue enqueue.Queue) (enqueue.Queue, func(key, string)) { return queue, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, controller.Options{Observer: o}, func(t *testing.T, r *rig) {
				seen := logReconciles(r)
				r.run()
				r.create(newMap("one"))
				r.waitIdle()
				require.Equal(t, []string{"one"}, seen.take())
			})
		})
	}
}

// A panic of an observer is logged. No change is lost: the key is reconciled, and a reconcile that
// panicked is retried.
func TestObserverThatPanicsLosesNoChange(t *testing.T) {
	var mu sync.Mutex
	turnsBegun := 0
	opts := controller.Options{Observer: &controller.Observer{
		Enqueue: func(_, _ string, queue enqueue.Queue) (enqueue.Queue, func(key, string)) {
			return nil, func(key, string) { panic("of an event") }
		},
		Reconcile: func(_ string, next reconcileFunc) reconcileFunc {
			return func(ctx context.Context, k key) error {
				mu.Lock()
				turnsBegun++
				first := turnsBegun == 1
				mu.Unlock()
				if first {
					panic("of a turn")
				}
				return next(ctx, k)
			}
		},
	}}
	play(t, opts, func(t *testing.T, r *rig) {
		seen := logReconciles(r)
		r.run()
		r.create(newMap("one"))
		r.waitIdle()
		require.Equal(t, []string{"one"}, seen.take())
		require.Equal(t, 2, turnsBegun)
		for _, line := range []string{"of an event", "of a turn"} {
			require.Contains(t, r.logged(), line)
		}
	})
}

// A slow observer delays only its own handler, and the reconciles of its controller.
func TestSlowObserverDelaysOnlyItsController(t *testing.T) {
	opts := controller.Options{Observer: &controller.Observer{
		Enqueue: func(name, _ string, queue enqueue.Queue) (enqueue.Queue, func(key, string)) {
			if name != "slow" {
				return nil, nil
			}
			return nil, func(key, string) { time.Sleep(time.Hour) }
		},
	}}
	play(t, opts, func(t *testing.T, r *rig) {
		var seen reconcileLog
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		for _, name := range []string{"slow", "quick"} {
			controller.Manage(r.manager, name, maps, func(_ context.Context, m *configMap) (controller.Result, error) {
				seen.add(name + " " + m.Name)
				return controller.Done, nil
			}, controller.Settings[*configMap]{})
		}
		r.run()
		r.waitIdle()
		r.create(newMap("one"))
		r.create(newMap("two"))
		r.waitIdle()
		require.Equal(t, []string{"quick one", "quick two"}, seen.take())
		time.Sleep(2 * time.Hour)
		r.waitIdle()
		require.Equal(t, []string{"slow one", "slow two"}, seen.take())
	})
}

// The reconciles of several workers call the hook concurrently, but never for one key at the same
// time.
func TestReconcileHookRunsConcurrentlyForDifferentKeys(t *testing.T) {
	var mu sync.Mutex
	now, most, twice := map[key]int{}, 0, false
	opts := controller.Options{Observer: &controller.Observer{
		Enqueue: func(_, _ string, queue enqueue.Queue) (enqueue.Queue, func(key, string)) {
			inside := 0 // of one handler; its calls are sequential, which the race detector checks
			return queue, func(key, string) { inside++ }
		},
		Reconcile: func(_ string, next reconcileFunc) reconcileFunc {
			return func(ctx context.Context, k key) error {
				mu.Lock()
				now[k]++
				twice = twice || now[k] > 1
				sum := 0
				for _, n := range now {
					sum += n
				}
				most = max(most, sum)
				mu.Unlock()
				err := next(ctx, k)
				mu.Lock()
				defer mu.Unlock()
				now[k]--
				return err
			}
		},
	}}
	play(t, opts, func(t *testing.T, r *rig) {
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		c := controller.Manage(r.manager, "a", maps, func(context.Context, *configMap) (controller.Result, error) {
			time.Sleep(time.Second)
			return controller.Done, nil
		}, controller.Settings[*configMap]{Workers: 4})
		r.run()
		for n := range 12 {
			r.create(newMap(strings.Repeat("x", n+1)))
		}
		for range 5 {
			time.Sleep(300 * time.Millisecond)
			c.Enqueue(key{Namespace: "web", Name: "x"}, workqueue.AddOptions{})
		}
		r.waitIdle()
		require.Equal(t, 4, most)
		require.False(t, twice)
	})
}

// Each cache has a unique name, which identifies its handlers and, for tracing, its changes. The
// name comes from the first Selection, and gets a number if another cache has the name.
func TestCacheNamesAreUnique(t *testing.T) {
	var caches, fills []string
	opts := controller.Options{Observer: &controller.Observer{
		Cache: func(name string, next controller.CacheObservers) controller.CacheObservers {
			caches = append(caches, name)
			return next
		},
		Enqueue: func(_, cache string, _ enqueue.Queue) (enqueue.Queue, func(key, string)) {
			fills = append(fills, cache)
			return nil, nil
		},
	}}
	play(t, opts, func(t *testing.T, r *rig) {
		other := &rig{t: t, server: newServer(t)}
		defer other.server.Close()
		client := other.connect()
		defer client.Close()
		c := controller.Manage(r.manager, "a", controller.For[*configMap](r.manager, rest.ResourceOptions{}), func(context.Context, *configMap) (controller.Result, error) {
			return controller.Done, nil
		}, controller.Settings[*configMap]{})
		for _, s := range []controller.Selection[*configMap]{
			{ResourceOptions: rest.ResourceOptions{LabelSelector: "mine=yes"}},
			{Client: client},
			// The controller's cache already has the name configmaps.
			{Informer: informer.Options[*configMap]{Name: "too late for a name"}},
			{Namespaces: []string{"b", "a"}, Informer: informer.Options[*configMap]{Name: "named"}},
			{Namespaces: []string{"a", "b"}},
		} {
			controller.Owns(c, controller.Select(r.manager, s), nil)
		}
		require.Equal(t, []string{"configmaps", "configmaps~2", "configmaps~3", "configmaps", "named", "named"}, fills)
		for n, name := range fills {
			require.Equal(t, name, caches[n], n)
		}
		var shown []string
		for _, cluster := range r.manager.Status().Clusters {
			for _, c := range cluster.Caches {
				shown = append(shown, c.Name)
			}
		}
		slices.Sort(shown)
		require.Equal(t, []string{"configmaps", "configmaps~2", "configmaps~3", "named"}, shown, "the status has the same names")
	})
}

// Workers have labels in profiles. The goroutines that they start have the labels too.
func TestWorkersHaveLabels(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		begun, goOn := make(chan struct{}), make(chan struct{})
		controller.Manage(r.manager, "labelled", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
			var started sync.WaitGroup
			started.Go(func() { close(begun); <-goOn })
			started.Wait()
			return controller.Done, nil
		}, controller.Settings[*configMap]{})
		r.create(newMap("one"))
		r.run()
		<-begun
		var goroutines bytes.Buffer
		require.NoError(t, pprof.Lookup("goroutine").WriteTo(&goroutines, 1))
		close(goOn)
		// The goroutine that runs the queue, the worker, and the goroutine that the worker has
		// started.
		require.Equal(t, 3, strings.Count(goroutines.String(), `{"controller":"labelled", "stage":"reconcile"}`))
		require.Contains(t, goroutines.String(), `{"handler":"labelled", "informer":"configmaps", "stage":"handle"}`)
	})
}
