package cache_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"
	framework "k8s.io/client-go/tools/cache/testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

func pod(name string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name)}}
}

// handlerRecorder records the calls of a handler.
type handlerRecorder struct {
	mu    sync.Mutex
	lines []string
}

func (b *handlerRecorder) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, fmt.Sprintf(format, args...))
}

func (b *handlerRecorder) take() []string {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := b.lines
	b.lines = nil
	return lines
}

func name(obj any) string {
	if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return "tombstone " + d.Key + "@" + d.Obj.(*v1.Pod).ResourceVersion
	}
	p := obj.(*v1.Pod)
	return p.Name + "@" + p.ResourceVersion
}

func (b *handlerRecorder) OnAdd(obj any, initial bool) { b.note("add %s %v", name(obj), initial) }
func (b *handlerRecorder) OnUpdate(old, now any)       { b.note("update %s %s", name(old), name(now)) }
func (b *handlerRecorder) OnDelete(obj any)            { b.note("delete %s", name(obj)) }

// run runs an informer until the test function returns.
func run(t *testing.T, test func(t *testing.T, source *framework.FakeControllerSource, inf cache.SharedIndexInformer, start func())) {
	synctest.Test(t, func(t *testing.T) {
		source := framework.NewFakeControllerSource()
		inf := cache.NewSharedIndexInformer(source, &v1.Pod{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		test(t, source, inf, func() {
			running.Go(func() { inf.RunWithContext(ctx) })
			synctest.Wait()
		})
		cancel()
		running.Wait()
		source.Shutdown()
	})
}

// PD-1, PD-2, SI-8, SI-15
func TestAHandlerIsNotifiedOfEachChangeInOrder(t *testing.T) {
	run(t, func(t *testing.T, source *framework.FakeControllerSource, inf cache.SharedIndexInformer, start func()) {
		b := &handlerRecorder{}
		handle, err := inf.AddEventHandler(b)
		require.NoError(t, err)
		require.False(t, handle.HasSynced())
		source.Add(pod("a"))
		start()
		require.True(t, inf.HasSynced())
		require.True(t, handle.HasSynced())
		require.Equal(t, []string{"add a@1 true"}, b.take())
		source.Add(pod("b"))
		source.Modify(pod("a"))
		source.Modify(pod("a"))
		source.Delete(pod("b"))
		require.Equal(t, []string{"add b@2 false", "update a@1 a@3", "update a@3 a@4", "delete b@5"}, b.take())
		require.Equal(t, []string{"ns/a"}, inf.GetStore().ListKeys())
		require.Equal(t, "5", inf.LastSyncResourceVersion())
	})
}

// PD-5, RC-10: after a relist, the handler first gets a tombstone for each object that the list
// lacks. Then it gets the objects of the list.
func TestARelistNotifiesOfMissedChanges(t *testing.T) {
	run(t, func(t *testing.T, source *framework.FakeControllerSource, inf cache.SharedIndexInformer, start func()) {
		b := &handlerRecorder{}
		_, err := inf.AddEventHandler(b)
		require.NoError(t, err)
		source.Add(pod("a"))
		start()
		b.take()
		source.AddDropWatch(pod("b"))
		source.DeleteDropWatch(pod("a"))
		source.ResetWatch()
		time.Sleep(10 * time.Minute)
		require.Equal(t, []string{"delete tombstone ns/a@1", "add b@2 false"}, b.take())
	})
}

// SI-16, SI-17, SI-18
func TestALateHandlerIsNotifiedOfEverything(t *testing.T) {
	run(t, func(t *testing.T, source *framework.FakeControllerSource, inf cache.SharedIndexInformer, start func()) {
		source.Add(pod("a"))
		start()
		release := make(chan struct{})
		b := &handlerRecorder{}
		handle, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { <-release; b.OnAdd(obj, true) }})
		require.NoError(t, err)
		source.Add(pod("b"))
		synctest.Wait()
		require.False(t, handle.HasSynced())
		close(release)
		require.Equal(t, []string{"add a@1 true", "add b@2 true"}, b.take())
		require.True(t, handle.HasSynced())
		require.True(t, cache.WaitFor(t.Context(), "", handle.HasSyncedChecker(), inf.HasSyncedChecker()))
	})
}

// SI-19, SI-20
func TestARemovedHandlerIsNotNotified(t *testing.T) {
	run(t, func(t *testing.T, source *framework.FakeControllerSource, inf cache.SharedIndexInformer, start func()) {
		b := &handlerRecorder{}
		handle, err := inf.AddEventHandler(b)
		require.NoError(t, err)
		start()
		require.NoError(t, cache.ShutDownEventHandler(inf, handle))
		require.NoError(t, inf.RemoveEventHandler(handle))
		source.Add(pod("a"))
		require.Empty(t, b.take())
		other := cache.NewSharedInformer(source, &v1.Pod{}, 0)
		require.NoError(t, other.RemoveEventHandler(handle))
	})
}

// SI-9: a slow handler gets every change and does not delay other handlers.
func TestASlowHandlerGetsEveryChange(t *testing.T) {
	run(t, func(t *testing.T, source *framework.FakeControllerSource, inf cache.SharedIndexInformer, start func()) {
		release := make(chan struct{})
		slow, quick := 0, &handlerRecorder{}
		_, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { <-release; slow++ }})
		require.NoError(t, err)
		_, err = inf.AddEventHandler(quick)
		require.NoError(t, err)
		source.Add(pod("a"))
		start()
		for range 5000 {
			source.Modify(pod("a"))
		}
		require.Len(t, quick.take(), 5001)
		close(release)
		synctest.Wait()
		require.Equal(t, 5000, slow)
	})
}

// SI-22 to SI-27: periods 0, 2 and 3 s, checked each second.
func TestResyncsFollowThePeriodOfTheHandler(t *testing.T) {
	run(t, func(t *testing.T, source *framework.FakeControllerSource, inf cache.SharedIndexInformer, start func()) {
		periods := []time.Duration{0, 2 * time.Second, 3 * time.Second, time.Millisecond}
		var books []*handlerRecorder
		for _, p := range periods {
			b := &handlerRecorder{}
			books = append(books, b)
			_, err := inf.AddEventHandlerWithResyncPeriod(b, p)
			require.NoError(t, err)
		}
		source.Add(pod("a"))
		start()
		for _, b := range books {
			require.Len(t, b.take(), 1)
		}
		time.Sleep(6*time.Second + time.Millisecond)
		var resyncs []int
		for _, b := range books {
			resyncs = append(resyncs, len(b.take()))
		}
		require.Equal(t, []int{0, 0, 0, 0}, resyncs, "the informer's period is 0, so no handler is resynced")
	})
}

// SI-1, SI-4, SI-5
func TestAnInformerRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := framework.NewFakeControllerSource()
		defer source.Shutdown()
		inf := cache.NewSharedIndexInformer(source, &v1.Pod{}, 0, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { inf.Run(ctx.Done()) })
		synctest.Wait()
		require.False(t, inf.IsStopped())
		require.Error(t, inf.SetTransform(func(o any) (any, error) { return o, nil }))
		require.Error(t, inf.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
		require.NoError(t, inf.AddIndexers(cache.Indexers{"x": cache.MetaNamespaceIndexFunc}))
		inf.Run(ctx.Done()) // returns at once
		cancel()
		running.Wait()
		require.True(t, inf.IsStopped())
		_, err := inf.AddEventHandler(&handlerRecorder{})
		require.ErrorContains(t, err, "was not added to shared informer because it has stopped already")
		require.Error(t, inf.AddIndexers(cache.Indexers{"y": cache.MetaNamespaceIndexFunc}))
	})
}

// SI-30
func TestTheStoreHasTransformedObjects(t *testing.T) {
	run(t, func(t *testing.T, source *framework.FakeControllerSource, inf cache.SharedIndexInformer, start func()) {
		require.NoError(t, inf.SetTransform(func(o any) (any, error) {
			p := o.(*v1.Pod).DeepCopy()
			p.Labels = map[string]string{"seen": "yes"}
			return p, nil
		}))
		source.Add(pod("a"))
		start()
		source.Add(pod("b"))
		synctest.Wait()
		for _, obj := range inf.GetStore().List() {
			require.Equal(t, "yes", obj.(*v1.Pod).Labels["seen"])
		}
		require.Len(t, inf.GetStore().List(), 2)
	})
}

// RC-2: errors of lists reach the error handler. Functions of package apierrors recognize them.
func TestErrorsOfListsReachTheHandler(t *testing.T) {
	run(t, func(t *testing.T, source *framework.FakeControllerSource, inf cache.SharedIndexInformer, start func()) {
		refused := errors.New("refused")
		source.ListError = refused
		var got []error
		require.NoError(t, inf.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) {
			require.Equal(t, "*v1.Pod", r.TypeDescription())
			got = append(got, err)
		}))
		start()
		require.Len(t, got, 1)
		require.ErrorIs(t, got[0], refused)
		require.False(t, inf.HasSynced())
	})
}

// The store of a reflector may be the program's own.
func TestAReflectorFillsAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := framework.NewFakeControllerSource()
		defer source.Shutdown()
		source.Add(pod("a"))
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		r := cache.NewReflector(source, &v1.Pod{}, store, 0)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx.Done()) })
		synctest.Wait()
		source.Delete(pod("a"))
		source.Add(pod("b"))
		synctest.Wait()
		require.Equal(t, []string{"ns/b"}, store.ListKeys())
		require.Equal(t, "3", r.LastSyncResourceVersion())
		cancel()
		running.Wait()
	})
}

func TestNewInformerWithOneHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := framework.NewFakeControllerSource()
		defer source.Shutdown()
		source.Add(pod("a"))
		b := &handlerRecorder{}
		store, c := cache.NewInformerWithOptions(cache.InformerOptions{ListerWatcher: source, ObjectType: &v1.Pod{}, Handler: b})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { c.RunWithContext(ctx) })
		require.Equal(t, []string{"add a@1 true"}, b.take())
		require.True(t, c.HasSynced())
		require.Len(t, store.List(), 1)
		cancel()
		running.Wait()
	})
}

// SI-28, typed handlers
func TestTypedHandlersAndFilters(t *testing.T) {
	run(t, func(t *testing.T, source *framework.FakeControllerSource, inf cache.SharedIndexInformer, start func()) {
		b := &handlerRecorder{}
		_, err := cache.NewTypedSharedIndexInformer[*v1.Pod](inf).AddTypedEventHandler(cache.TypedFilteringResourceEventHandler[*v1.Pod]{
			FilterFunc: func(p *v1.Pod) bool { return p.Labels["in"] == "yes" },
			Handler: cache.TypedResourceEventHandlerFuncs[*v1.Pod]{
				AddFunc:    func(p *v1.Pod) { b.note("add %s", p.Name) },
				UpdateFunc: func(_, p *v1.Pod) { b.note("update %s", p.Name) },
				DeleteFunc: func(d cache.DeletedObject[*v1.Pod]) { b.note("delete %s", d.GetKey()) },
			},
		})
		require.NoError(t, err)
		start()
		in := func() *v1.Pod { p := pod("a"); p.Labels = map[string]string{"in": "yes"}; return p }
		source.Add(pod("a"))
		source.Modify(in())
		source.Modify(in())
		source.Modify(pod("a"))
		source.Delete(pod("a"))
		require.Equal(t, []string{"add a", "update a", "delete ns/a"}, b.take())
	})
}

var _ runtime.Object = &v1.Pod{}
