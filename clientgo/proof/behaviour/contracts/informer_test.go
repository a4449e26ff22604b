package contracts

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// handlerRecorder is a handler that calls onEvent for each event, and then records the event.
type handlerRecorder struct {
	onEvent func(line string)

	mu    sync.Mutex // guards following
	lines []string
}

func (d *handlerRecorder) note(line string) {
	if d.onEvent != nil {
		d.onEvent(line)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func name(obj any) string {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return "gone:" + name(tombstone.Obj)
	}
	p := obj.(*corev1.Pod)
	return p.Name + p.ResourceVersion
}

func (d *handlerRecorder) OnAdd(obj any, initial bool) {
	d.note("add " + name(obj) + map[bool]string{true: " initially"}[initial])
}
func (d *handlerRecorder) OnUpdate(old, obj any) { d.note("update " + name(old) + " " + name(obj)) }
func (d *handlerRecorder) OnDelete(obj any)      { d.note("delete " + name(obj)) }

func (d *handlerRecorder) takeLines() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := d.lines
	d.lines = nil
	return lines
}

// runningInformer holds an informer, its server and a handler.
type runningInformer struct {
	cache.SharedIndexInformer
	*server
	handlerRecorder
	handle cache.ResourceEventHandlerRegistration
}

// withInformer runs an informer in a bubble. Its server lists pods at version 10.
func withInformer(t *testing.T, pods []*corev1.Pod, before, test func(i *runningInformer)) {
	synctest.Test(t, func(t *testing.T) {
		i := &runningInformer{server: &server{}}
		i.list = func(int, metav1.ListOptions) (runtime.Object, error) { return podList("10", pods...), nil }
		i.SharedIndexInformer = cache.NewSharedIndexInformer(i.source(), &corev1.Pod{}, 0, cache.Indexers{"node": func(obj any) ([]string, error) {
			return []string{obj.(*corev1.Pod).Spec.NodeName}, nil
		}})
		var err error
		i.handle, err = i.AddEventHandler(&i.handlerRecorder)
		require.NoError(t, err)
		if before != nil {
			before(i)
		}
		run(t, i.RunWithContext, func() { test(i) })
	})
}

// Each notification follows from the store's content before the event. An Added for a known key is
// an update, and a Modified for an unknown key is an add. A deleted object that the store did not
// have is notified too. (PD-1, PD-2, PD-3, PD-11, SI-8, SI-11, SI-15)
func TestNotificationsDependOnTheStoresContent(t *testing.T) {
	withInformer(t, []*corev1.Pod{pod("a", "1")}, nil, func(i *runningInformer) {
		require.Equal(t, []string{"add a1 initially"}, i.takeLines())
		w := i.last(t)
		w.Add(pod("a", "11"))
		w.Modify(pod("b", "12"))
		w.Delete(pod("b", "13"))
		w.Delete(pod("unknown", "14"))
		w.Add(pod("b", "15"))
		require.Equal(t, []string{"update a1 a11", "add b12", "delete b13", "delete unknown14", "add b15"}, i.takeLines())
	})
}

// PD-5, PD-6, PD-11: after a list, handlers are first notified of deletions, and then of the
// objects in the order of the list. By then the store has the whole list.
func TestAListNotifiesDeletionsFirst(t *testing.T) {
	withInformer(t, []*corev1.Pod{pod("a", "1"), pod("b", "1"), pod("c", "1")}, nil, func(i *runningInformer) {
		i.takeLines()
		i.list = func(int, metav1.ListOptions) (runtime.Object, error) {
			return podList("20", pod("z", "19"), pod("c", "18"), pod("a", "17")), nil
		}
		i.onEvent = func(string) {
			require.ElementsMatch(t, []string{"ns/z", "ns/c", "ns/a"}, i.GetStore().ListKeys())
		}
		i.last(t).Action(watch.Error, &metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired})
		sleepAndSettle(time.Minute)
		require.Equal(t, []string{"delete gone:b1", "add z19", "update c1 c18", "update a1 a17"}, i.takeLines())
		require.Equal(t, "20", i.LastSyncResourceVersion())
	})
}

// PD-7, RC-23: a bookmark sets the versions of store and reflector. Handlers are not notified.
func TestABookmarkNotifiesNoHandler(t *testing.T) {
	withInformer(t, []*corev1.Pod{pod("a", "1")}, nil, func(i *runningInformer) {
		i.takeLines()
		i.last(t).Action(watch.Bookmark, pod("", "30"))
		require.Empty(t, i.takeLines())
		require.Equal(t, "30", i.LastSyncResourceVersion())
		require.Equal(t, "30", i.GetStore().LastStoreSyncResourceVersion())
	})
}

// SI-2, SI-3
func TestRunWaitsForHandlersAndDropsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &runningInformer{server: &server{}}
		i.SharedIndexInformer = cache.NewSharedIndexInformer(i.source(), &corev1.Pod{}, 0, nil)
		release := make(chan struct{})
		i.onEvent = func(string) { <-release }
		_, err := i.AddEventHandler(&i.handlerRecorder)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { i.RunWithContext(ctx); close(ended) }()
		for n := range 5 {
			i.last(t).Add(pod(fmt.Sprint("p", n), "11"))
		}
		synctest.Wait()
		cancel()
		sleepAndSettle(time.Hour)
		select {
		case <-ended:
			require.Fail(t, "Run must wait for the handler's call in progress")
		default:
		}
		require.Equal(t, 1, i.last(t).stops, "the watch ends before Run returns")
		close(release)
		<-ended
		require.Less(t, len(i.takeLines()), 5)
		require.True(t, i.IsStopped())
	})
}

// SI-6, SI-7, SI-17
func TestTheStoreHasSyncedBeforeTheHandlers(t *testing.T) {
	release := make(chan struct{})
	withInformer(t, []*corev1.Pod{pod("a", "1")}, func(i *runningInformer) {
		release = make(chan struct{})
		i.onEvent = func(string) { <-release }
		require.Empty(t, i.LastSyncResourceVersion())
		require.False(t, i.HasSynced())
		require.False(t, i.GetController().HasSynced())
	}, func(i *runningInformer) {
		require.True(t, i.HasSynced())
		require.True(t, cache.IsDone(i.HasSyncedChecker()))
		require.True(t, i.GetController().HasSynced())
		require.Equal(t, "10", i.GetController().LastSyncResourceVersion())
		require.False(t, i.handle.HasSynced())
		close(release)
		synctest.Wait()
		require.True(t, i.handle.HasSynced())
		require.True(t, cache.IsDone(i.handle.HasSyncedChecker()))
	})
}

// SI-9, SI-10
func TestTheStoreIsNeverOlderThanANotification(t *testing.T) {
	withInformer(t, nil, nil, func(i *runningInformer) {
		slow := &handlerRecorder{onEvent: func(line string) { time.Sleep(time.Second) }}
		_, err := i.AddEventHandler(slow)
		require.NoError(t, err)
		i.onEvent = func(line string) {
			obj, exists, err := i.GetStore().GetByKey("ns/a")
			require.NoError(t, err)
			require.True(t, exists)
			var version, at int
			_, _ = fmt.Sscanf(line[len("add a"):], "%d", &version)
			_, _ = fmt.Sscanf(obj.(*corev1.Pod).ResourceVersion, "%d", &at)
			require.GreaterOrEqual(t, at, version)
		}
		w := i.last(t)
		for n := range 20 {
			w.Modify(pod("a", fmt.Sprint(11+n)))
		}
		require.Len(t, i.takeLines(), 20)
		sleepAndSettle(time.Minute)
		require.Len(t, slow.takeLines(), 20, "the slow handler gets every change")
	})
}

// SI-12, SI-13: if there never was a resync, handlers without a resync period are notified of
// unchanged objects in a list.
func TestAListNotifiesOfUnchangedObjects(t *testing.T) {
	withInformer(t, []*corev1.Pod{pod("a", "1")}, nil, func(i *runningInformer) {
		i.takeLines()
		i.last(t).Action(watch.Error, &metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired})
		sleepAndSettle(time.Minute)
		require.Equal(t, []string{"update a1 a1"}, i.takeLines())
	})
}

// SI-14: a handler whose panics do not end the process gets the next notifications.
func TestAPanickingHandlerGetsTheNextNotification(t *testing.T) {
	utilruntime.ReallyCrash = false
	defer func() { utilruntime.ReallyCrash = true }()
	withInformer(t, []*corev1.Pod{pod("a", "1")}, func(i *runningInformer) {
		i.onEvent = func(line string) {
			if line == "add b11" {
				panic(line)
			}
		}
	}, func(i *runningInformer) {
		require.Equal(t, []string{"add a1 initially"}, i.takeLines())
		other := &handlerRecorder{}
		_, err := i.AddEventHandler(other)
		require.NoError(t, err)
		i.last(t).Add(pod("b", "11"))
		i.last(t).Add(pod("c", "12"))
		require.Equal(t, []string{"add a1 initially", "add b11", "add c12"}, other.takeLines(), "other handlers are notified at once")
		require.Empty(t, i.takeLines())
		sleepAndSettle(999 * time.Millisecond)
		require.Empty(t, i.takeLines())
		sleepAndSettle(2 * time.Millisecond)
		require.Equal(t, []string{"add c12"}, i.takeLines(), "the handler's next call comes a second after the panic")
	})
}

// SI-14, D10: in client-go, HasSynced of a handler that has panicked stays false.
func TestAPanickingHandlerSyncs(t *testing.T) {
	utilruntime.ReallyCrash = false
	defer func() { utilruntime.ReallyCrash = true }()
	withInformer(t, []*corev1.Pod{pod("a", "1")}, func(i *runningInformer) { i.onEvent = func(line string) { panic(line) } }, func(i *runningInformer) {
		sleepAndSettle(time.Minute)
		require.True(t, i.handle.HasSynced())
	})
}

// SI-16, SI-18, SI-21: handlers are added and removed while events arrive. Each handler gets
// exactly one add for each object.
func TestHandlersMayBeAddedAndRemovedDuringEvents(t *testing.T) {
	withInformer(t, nil, nil, func(i *runningInformer) {
		w := i.last(t)
		var running sync.WaitGroup
		running.Go(func() {
			for n := range 90 {
				w.Add(pod(fmt.Sprint("p", n), "11"))
			}
		})
		for range 40 {
			running.Go(func() {
				h := &handlerRecorder{}
				handle, err := i.AddEventHandler(h)
				require.NoError(t, err)
				if _, err := i.AddEventHandler(h); err != nil { // the same handler again
					panic(err)
				}
				require.NoError(t, i.RemoveEventHandler(handle))
			})
		}
		late := &handlerRecorder{}
		running.Go(func() {
			_, err := i.AddEventHandler(late)
			require.NoError(t, err)
		})
		running.Wait()
		lines := late.takeLines()
		require.Len(t, lines, 90)
		seen := map[string]int{}
		for _, line := range lines {
			var name string
			_, err := fmt.Sscanf(line, "add %s", &name)
			require.NoError(t, err)
			seen[name]++
		}
		require.Len(t, seen, 90)
	})
}

// SI-19, SI-20
func TestARemovedHandlerIsNotNotified(t *testing.T) {
	withInformer(t, nil, nil, func(i *runningInformer) {
		release := make(chan struct{})
		h := &handlerRecorder{onEvent: func(string) { <-release }}
		handle, err := i.AddEventHandler(h)
		require.NoError(t, err)
		for n := range 5 {
			i.last(t).Add(pod(fmt.Sprint("p", n), "11"))
		}
		synctest.Wait()
		require.NoError(t, i.RemoveEventHandler(handle), "RemoveEventHandler does not wait for the call in progress")
		shut := make(chan struct{})
		go func() {
			require.NoError(t, cache.ShutDownEventHandler(i, handle))
			close(shut)
		}()
		synctest.Wait()
		select {
		case <-shut:
			require.Fail(t, "ShutDownEventHandler must wait for the call in progress")
		default:
		}
		close(release)
		<-shut
		require.Len(t, h.takeLines(), 1)
		require.NoError(t, i.RemoveEventHandler(handle))
		require.Error(t, i.RemoveEventHandler(wrappedRegistration{}))
	})
}

type wrappedRegistration struct {
	cache.ResourceEventHandlerRegistration
}

// SI-22 to SI-27: the resync periods of handlers that are added before and after the start.
func TestResyncsOfEachHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{list: func(int, metav1.ListOptions) (runtime.Object, error) { return podList("10", pod("a", "1")), nil }}
		inf := cache.NewSharedIndexInformer(s.source(), &corev1.Pod{}, time.Minute, nil)
		var handlers []*handlerRecorder
		add := func(period time.Duration) {
			h := &handlerRecorder{}
			handlers = append(handlers, h)
			_, err := inf.AddEventHandlerWithResyncPeriod(h, period)
			require.NoError(t, err)
		}
		for _, period := range []time.Duration{0, 2 * time.Second, 3 * time.Second, time.Millisecond} {
			add(period)
		}
		run(t, inf.RunWithContext, func() {
			add(time.Millisecond) // raised to the period of the informer's resync checks
			synctest.Wait()
			for _, h := range handlers {
				require.Equal(t, []string{"add a1 initially"}, h.takeLines())
			}
			sleepAndSettle(6*time.Second + time.Millisecond)
			var resyncs []int
			for _, h := range handlers {
				lines := h.takeLines()
				for _, line := range lines {
					require.Equal(t, "update a1 a1", line)
				}
				resyncs = append(resyncs, len(lines))
			}
			require.Equal(t, []int{0, 3, 2, 6, 6}, resyncs)
		})
	})
}

// SI-28, SI-29
func TestNilFunctionsAndFilters(t *testing.T) {
	require.NotPanics(t, func() {
		var f cache.ResourceEventHandlerFuncs
		f.OnAdd(nil, true)
		f.OnUpdate(nil, nil)
		f.OnDelete(nil)
		var g cache.ResourceEventHandlerDetailedFuncs
		g.OnAdd(nil, true)
		g.OnUpdate(nil, nil)
		g.OnDelete(nil)
	})
	h := &handlerRecorder{}
	var asked []any
	f := cache.FilteringResourceEventHandler{Handler: h, FilterFunc: func(obj any) bool {
		asked = append(asked, obj)
		p, ok := obj.(*corev1.Pod)
		return ok && p.Name == "in"
	}}
	in, out := pod("in", "1"), pod("out", "1")
	f.OnAdd(in, true)
	f.OnAdd(out, true)
	f.OnUpdate(in, in)
	f.OnUpdate(out, in)
	f.OnUpdate(in, out)
	f.OnUpdate(out, out)
	f.OnDelete(in)
	f.OnDelete(gone(in))
	require.Equal(t, []string{"add in1 initially", "update in1 in1", "add in1", "delete in1", "delete in1"}, h.lines)
	require.Equal(t, gone(in), asked[len(asked)-1])
}

// SI-30: the store and the handlers get the results of the transform, also in tombstones. If the
// transform fails, the event is dropped.
func TestATransform(t *testing.T) {
	withInformer(t, []*corev1.Pod{pod("a", "1")}, func(i *runningInformer) {
		require.NoError(t, i.SetTransform(func(obj any) (any, error) {
			p := obj.(*corev1.Pod).DeepCopy()
			if p.Name == "bad" {
				return nil, fmt.Errorf("refused")
			}
			p.Spec.NodeName = "transformed"
			return p, nil
		}))
	}, func(i *runningInformer) {
		i.last(t).Add(pod("bad", "11"))
		i.last(t).Add(pod("b", "12"))
		require.Equal(t, []string{"add a1 initially", "add b12"}, i.takeLines())
		indexed, err := i.GetIndexer().ByIndex("node", "transformed")
		require.NoError(t, err)
		require.Len(t, indexed, 2)
		require.Equal(t, "12", i.LastSyncResourceVersion())
	})
}

// SI-31, SI-4
func TestIndexersCoverObjectsFromTheFirstOn(t *testing.T) {
	withInformer(t, []*corev1.Pod{pod("a", "1")}, func(i *runningInformer) {
		i.onEvent = func(string) {
			indexed, err := i.GetIndexer().ByIndex("node", "")
			require.NoError(t, err)
			require.Len(t, indexed, 1)
		}
	}, func(i *runningInformer) {
		i.takeLines()
		require.NoError(t, i.AddIndexers(cache.Indexers{"late": func(any) ([]string, error) { return []string{"x"}, nil }}))
		indexed, err := i.GetIndexer().ByIndex("late", "x")
		require.NoError(t, err)
		require.Len(t, indexed, 1)
		require.Error(t, i.SetTransform(nil))
		require.Error(t, i.SetWatchErrorHandlerWithContext(nil))
	})
}

// SI-32: objects are shared, not copied.
func TestObjectsAreShared(t *testing.T) {
	withInformer(t, []*corev1.Pod{pod("a", "1")}, nil, func(i *runningInformer) {
		var notified any
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { notified = obj }})
		require.NoError(t, err)
		synctest.Wait()
		stored, _, err := i.GetStore().GetByKey("ns/a")
		require.NoError(t, err)
		require.Same(t, stored, notified)
	})
}

// SI-1, SI-5
func TestAnInformerRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		inf := cache.NewSharedIndexInformer(s.source(), &corev1.Pod{}, 0, nil)
		handle, err := inf.AddEventHandler(&handlerRecorder{})
		require.NoError(t, err)
		run(t, inf.RunWithContext, func() {
			inf.RunWithContext(t.Context()) // returns at once
		})
		requests := len(s.takeRequests())
		inf.RunWithContext(t.Context())
		require.Empty(t, s.takeRequests()[:0])
		require.Equal(t, 2, requests)
		require.True(t, inf.IsStopped())
		_, err = inf.AddEventHandler(&handlerRecorder{})
		require.ErrorContains(t, err, "was not added to shared informer because it has stopped already")
		require.NoError(t, inf.RemoveEventHandler(handle))
	})
}

// SI-8, SI-16, SI-19: a handler may add and remove handlers, including itself, and read the store
// and its indexes.
func TestAHandlerMayUseItsInformer(t *testing.T) {
	withInformer(t, []*corev1.Pod{pod("a", "1")}, nil, func(i *runningInformer) {
		i.takeLines()
		late := &handlerRecorder{}
		var own cache.ResourceEventHandlerRegistration
		calls := 0
		h := &handlerRecorder{onEvent: func(string) {
			calls++
			_, err := i.AddEventHandler(late)
			require.NoError(t, err)
			require.NoError(t, i.AddIndexers(cache.Indexers{fmt.Sprint("index", calls): func(any) ([]string, error) { return nil, nil }}))
			require.NotEmpty(t, i.GetIndexer().List())
			require.NoError(t, i.RemoveEventHandler(own))
		}}
		release := make(chan struct{})
		first := h.onEvent
		h.onEvent = func(line string) { <-release; first(line) }
		var err error
		own, err = i.AddEventHandler(h)
		require.NoError(t, err)
		close(release)
		i.last(t).Add(pod("b", "11"))
		synctest.Wait()
		require.Equal(t, 1, calls, "a handler that has removed itself is not called again")
		require.Len(t, late.takeLines(), 2)
	})
}

// SI-3: a handler may stop its informer.
func TestAHandlerMayEndTheInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{list: func(int, metav1.ListOptions) (runtime.Object, error) {
			return podList("10", pod("a", "1"), pod("b", "1")), nil
		}}
		inf := cache.NewSharedIndexInformer(s.source(), &corev1.Pod{}, 0, nil)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { cancel() }})
		require.NoError(t, err)
		inf.RunWithContext(ctx)
		require.True(t, inf.IsStopped())
	})
}
