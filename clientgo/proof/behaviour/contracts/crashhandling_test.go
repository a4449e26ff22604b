package contracts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"
)

// fault makes one function of a program fail on its first call. Each function of the program calls
// a method of it.
type fault struct {
	at     string
	fail   func()
	called atomic.Int32
}

func (f *fault) failHere(at string) {
	if at == f.at && f.called.Add(1) == 1 {
		f.fail()
	}
}

func panics() { panic("on purpose") }

// forEachFunction runs the function test in a bubble of synctest, once for each place in places. A
// panic does not end the process. At the end of a test, synctest checks that no goroutine is left.
func forEachFunction(t *testing.T, fail func(), places []string, test func(t *testing.T, f *fault)) {
	utilruntime.ReallyCrash = false
	defer func() { utilruntime.ReallyCrash = true }()
	for _, place := range places {
		t.Run(place, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fault{at: place, fail: fail}
				test(t, f)
				require.Positive(t, f.called.Load(), "the function at this place must have failed")
			})
		})
	}
}

// faultySource lists and watches a server that remembers its changes.
type faultySource struct {
	*fault
	server *fcache.FakeControllerSource
	lists  *atomic.Int32
}

func newFaultySource(f *fault) faultySource {
	s := faultySource{f, fcache.NewFakeControllerSource(), new(atomic.Int32)}
	s.server.Add(pod("a", ""))
	return s
}

func (s faultySource) List(o metav1.ListOptions) (kruntime.Object, error) {
	s.failHere("list")
	if s.lists.Add(1) == 1 {
		switch s.at {
		case "error of a list":
			s.called.Add(1)
			return nil, faultyError{s.fail}
		case "error handler":
			return nil, errors.New("refused")
		}
	}
	return s.server.List(o)
}

func (s faultySource) Watch(o metav1.ListOptions) (watch.Interface, error) {
	s.failHere("watch")
	w, err := s.server.Watch(o)
	return faultyWatch{s.fault, w}, err
}

func (s faultySource) IsWatchListSemanticsUnSupported() bool { return true }

// faultyError is an error whose method Unwrap fails.
type faultyError struct{ fail func() }

func (faultyError) Error() string   { return "faulty" }
func (e faultyError) Unwrap() error { e.fail(); return nil }

type faultyWatch struct {
	*fault
	watch.Interface
}

func (w faultyWatch) ResultChan() <-chan watch.Event {
	w.failHere("ResultChan")
	return w.Interface.ResultChan()
}

func (w faultyWatch) Stop() {
	w.Interface.Stop()
	w.failHere("Stop")
}

// faultyStore is a program's own store.
type faultyStore struct {
	*fault
	cache.Store
	resyncs atomic.Int32
}

func (s *faultyStore) Add(obj any) error    { s.failHere("Add"); return s.Store.Add(obj) }
func (s *faultyStore) Update(obj any) error { s.failHere("Update"); return s.Store.Update(obj) }
func (s *faultyStore) Delete(obj any) error { s.failHere("Delete"); return s.Store.Delete(obj) }
func (s *faultyStore) Replace(objs []any, version string) error {
	s.failHere("Replace")
	return s.Store.Replace(objs, version)
}
func (s *faultyStore) Resync() error { s.resyncs.Add(1); s.failHere("Resync"); return nil }
func (s *faultyStore) UpdateResourceVersion(string) {
	s.failHere("UpdateResourceVersion")
}

// changes makes one change of each kind. After it, the objects a and c exist.
func (s faultySource) changes() {
	sleepAndSettle(5 * time.Minute)
	s.server.Add(pod("b", ""))
	sleepAndSettle(5 * time.Minute)
	s.server.Modify(pod("b", ""))
	sleepAndSettle(5 * time.Minute)
	s.server.Delete(pod("b", ""))
	sleepAndSettle(5 * time.Minute)
	s.server.Add(pod("c", ""))
	sleepAndSettle(5 * time.Minute)
}

func reflectorSurvives(t *testing.T, f *fault) {
	source := newFaultySource(f)
	defer source.server.Shutdown()
	store := &faultyStore{fault: f, Store: cache.NewStore(cache.MetaNamespaceKeyFunc)}
	r := cache.NewReflector(source, &corev1.Pod{}, store, 30*time.Second)
	r.ShouldResync = func() bool { f.failHere("ShouldResync"); return true }
	run(t, r.RunWithContext, func() {
		source.changes()
		require.ElementsMatch(t, []string{"ns/a", "ns/c"}, store.ListKeys())
		resyncs := store.resyncs.Load()
		sleepAndSettle(5 * time.Minute)
		require.Greater(t, store.resyncs.Load(), resyncs)
	})
}

// RC-12: a reflector continues after a panic, and its store converges to the server's state.
func TestAReflectorContinuesAfterAPanic(t *testing.T) {
	forEachFunction(t, panics, []string{"list", "error of a list", "watch", "ResultChan", "Stop", "Add", "Update", "Delete", "Replace", "UpdateResourceVersion"}, reflectorSurvives)
}

// In client-go a panic of these functions ends the process.
func TestResyncsContinueAfterAPanic(t *testing.T) {
	forEachFunction(t, panics, []string{"Resync", "ShouldResync"}, reflectorSurvives)
}

// These functions run in goroutines of the reflector. In client-go they are not called again.
func TestAReflectorContinuesAfterGoexit(t *testing.T) {
	forEachFunction(t, runtime.Goexit, []string{"list", "Resync", "ShouldResync"}, reflectorSurvives)
}

// These functions run in the goroutine that called Run.
func TestGoexitEndsTheGoroutineOfRun(t *testing.T) {
	forEachFunction(t, runtime.Goexit, []string{"watch", "ResultChan", "Add", "Update", "Delete", "Replace", "UpdateResourceVersion"}, func(t *testing.T, f *fault) {
		source := newFaultySource(f)
		defer source.server.Shutdown()
		store := &faultyStore{fault: f, Store: cache.NewStore(cache.MetaNamespaceKeyFunc)}
		ended := make(chan struct{})
		run(t, func(ctx context.Context) {
			defer close(ended)
			cache.NewReflector(source, &corev1.Pod{}, store, 30*time.Second).RunWithContext(ctx)
			t.Error("Run must not return after a runtime.Goexit")
		}, func() {
			source.changes()
			<-ended
		})
	})
}

// failingHandler is a handler that fails, and records the versions of the objects in its events.
type failingHandler struct {
	*fault
	mu    sync.Mutex // guards following
	calls []string
}

func (h *failingHandler) note(call string) {
	h.mu.Lock()
	h.calls = append(h.calls, call)
	h.mu.Unlock()
	h.failHere(strings.Fields(call)[0])
}

func (h *failingHandler) OnAdd(obj any, _ bool) { h.note("OnAdd " + obj.(*corev1.Pod).Name) }
func (h *failingHandler) OnUpdate(_, obj any)   { h.note("OnUpdate " + obj.(*corev1.Pod).Name) }
func (h *failingHandler) OnDelete(any)          { h.note("OnDelete") }

func (h *failingHandler) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.calls)
}

// indexers returns two index functions. The first fails on the first object, and the second fails
// on object b.
func (f *fault) indexers() cache.Indexers {
	return cache.Indexers{"x": func(obj any) ([]string, error) {
		f.failHere("index of a list")
		o := obj.(*corev1.Pod)
		if o.Name == "b" {
			f.failHere("index of an event")
			if f.at == "error of an index function" && f.called.Add(1) == 1 {
				return nil, errors.New("on purpose")
			}
		}
		return []string{o.Name}, nil
	}}
}

func (f *fault) transform(obj any) (any, error) {
	f.failHere("transform of a list")
	if obj.(*corev1.Pod).Name == "b" {
		f.failHere("transform of an event")
	}
	return obj, nil
}

// sharedInformerSurvives makes changes that reach a shared informer with two handlers, one of which
// fails.
func sharedInformerSurvives(t *testing.T, f *fault) {
	source := newFaultySource(f)
	defer source.server.Shutdown()
	informer := cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, f.indexers())
	require.NoError(t, informer.SetTransform(f.transform))
	require.NoError(t, informer.SetWatchErrorHandler(func(*cache.Reflector, error) { f.failHere("error handler") }))
	failing, other := &failingHandler{fault: f}, &failingHandler{fault: &fault{}}
	_, err := informer.AddEventHandler(failing)
	require.NoError(t, err)
	registration, err := informer.AddEventHandler(other)
	require.NoError(t, err)
	run(t, informer.RunWithContext, func() {
		source.changes()
		require.ElementsMatch(t, []string{"ns/a", "ns/c"}, informer.GetStore().ListKeys())
		require.True(t, informer.HasSynced())
		require.True(t, registration.HasSynced())
		require.Contains(t, failing.all(), "OnAdd c")
		require.Contains(t, other.all(), "OnAdd c")
	})
	require.True(t, informer.IsStopped())
}

// These functions run in goroutines of the informer.
var sharedInformerFuncs = []string{"list", "watch", "ResultChan", "transform of a list", "transform of an event", "error handler",
	"index of a list", "index of an event", "OnAdd", "OnUpdate", "OnDelete"}

// SI-14
func TestASharedInformerContinuesAfterAPanic(t *testing.T) {
	forEachFunction(t, panics, append(sharedInformerFuncs, "error of a list", "error of an index function", "Stop"), sharedInformerSurvives)
}

// In client-go the informer's loop ends together with its goroutine.
func TestASharedInformerContinuesAfterGoexit(t *testing.T) {
	forEachFunction(t, runtime.Goexit, sharedInformerFuncs, sharedInformerSurvives)
}

// If an index function fails on an object, the store still has the object, and handlers are
// notified of it.
func TestHandlersAreNotifiedOfAnObjectThatCannotBeIndexed(t *testing.T) {
	forEachFunction(t, panics, []string{"index of a list", "index of an event", "error of an index function"}, func(t *testing.T, f *fault) {
		source := newFaultySource(f)
		defer source.server.Shutdown()
		informer := cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, f.indexers())
		h := &failingHandler{fault: &fault{}}
		_, err := informer.AddEventHandler(h)
		require.NoError(t, err)
		run(t, informer.RunWithContext, func() {
			source.changes()
			require.Equal(t, []string{"OnAdd a", "OnAdd b", "OnUpdate b", "OnDelete", "OnAdd c"}, h.all())
		})
	})
}

// singleHandlerInformerSurvives makes changes that reach an informer with one handler.
func singleHandlerInformerSurvives(t *testing.T, f *fault) {
	source := newFaultySource(f)
	defer source.server.Shutdown()
	h := &failingHandler{fault: f}
	store, informer := cache.NewTransformingIndexerInformer(source, &corev1.Pod{}, 0, h, f.indexers(), f.transform)
	run(t, informer.RunWithContext, func() {
		source.changes()
		require.ElementsMatch(t, []string{"ns/a", "ns/c"}, store.ListKeys())
		require.True(t, informer.HasSynced())
		require.Contains(t, h.all(), "OnAdd c")
	})
}

// A panic handler may add and remove handlers of the informer whose index function has panicked.
func TestAPanicHandlerMayUseTheInformer(t *testing.T) {
	defer func() { utilruntime.PanicHandlers = nil }()
	forEachFunction(t, panics, []string{"index of a list", "index of an event"}, func(t *testing.T, f *fault) {
		source := newFaultySource(f)
		defer source.server.Shutdown()
		informer := cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, f.indexers())
		late := &failingHandler{fault: &fault{}}
		var calls atomic.Int32
		utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, value any) {
			if value == "on purpose" {
				_, err := informer.AddEventHandler(late)
				require.NoError(t, err)
				calls.Add(1)
			}
		}}
		run(t, informer.RunWithContext, func() {
			source.changes()
			require.EqualValues(t, 1, calls.Load())
			require.Contains(t, late.all(), "OnAdd c")
		})
	})
}

func TestASingleHandlerInformerContinuesAfterAPanic(t *testing.T) {
	forEachFunction(t, panics, append(sharedInformerFuncs[:5:5], "index of a list", "index of an event", "error of an index function", "OnAdd", "OnUpdate", "OnDelete"), singleHandlerInformerSurvives)
}

func TestASingleHandlerInformerContinuesAfterGoexit(t *testing.T) {
	forEachFunction(t, runtime.Goexit, sharedInformerFuncs[:5], singleHandlerInformerSurvives)
}

// faultyQueue is a program's own queue.
type faultyQueue struct {
	*fault
	cache.Queue
}

func (q faultyQueue) Add(obj any) error { q.failHere("Queue.Add"); return q.Queue.Add(obj) }
func (q faultyQueue) Replace(objs []any, version string) error {
	q.failHere("Queue.Replace")
	return q.Queue.Replace(objs, version)
}
func (q faultyQueue) Resync() error { q.failHere("Queue.Resync"); return q.Queue.Resync() }
func (q faultyQueue) Pop(process cache.PopProcessFunc) (any, error) {
	q.failHere("Queue.Pop")
	return q.Queue.Pop(process)
}

// controllerSurvives makes changes that reach a controller. The functions of the program in its
// Config maintain a store.
func controllerSurvives(t *testing.T, f *fault) {
	source := newFaultySource(f)
	defer source.server.Shutdown()
	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
	key := func(obj any) (string, error) {
		f.failHere("key function")
		return cache.MetaNamespaceKeyFunc(obj)
	}
	c := cache.New(&cache.Config{
		Queue:         faultyQueue{f, cache.NewRealFIFO(key, store, f.transform)},
		ListerWatcher: source, ObjectType: &corev1.Pod{}, FullResyncPeriod: 30 * time.Second,
		ShouldResync:      func() bool { f.failHere("ShouldResync"); return true },
		WatchErrorHandler: func(*cache.Reflector, error) { f.failHere("error handler") },
		Process: func(obj any, initial bool) error {
			for _, d := range obj.(cache.Deltas) {
				if strings.HasPrefix(name(d.Object), "b") {
					f.failHere("Process")
				}
				if d.Type == cache.Deleted {
					return store.Delete(d.Object)
				}
				if err := store.Update(d.Object); err != nil {
					return err
				}
			}
			return nil
		},
	})
	run(t, c.RunWithContext, func() {
		source.changes()
		require.ElementsMatch(t, []string{"ns/a", "ns/c"}, store.ListKeys())
		require.True(t, c.HasSynced())
	})
}

var reflectorFuncs = []string{"list", "watch", "ResultChan", "transform of a list", "transform of an event", "key function", "error handler", "Queue.Add", "Queue.Replace"}

func TestAControllerContinuesAfterAPanic(t *testing.T) {
	forEachFunction(t, panics, append(reflectorFuncs[:len(reflectorFuncs):len(reflectorFuncs)], "Stop", "Process", "Queue.Pop"), controllerSurvives)
}

// In client-go a panic of these functions ends the process.
func TestResyncsOfAControllerContinueAfterAPanic(t *testing.T) {
	forEachFunction(t, panics, []string{"ShouldResync", "Queue.Resync"}, controllerSurvives)
}

// In client-go the reflector ends together with its goroutine.
func TestAControllerContinuesAfterGoexit(t *testing.T) {
	forEachFunction(t, runtime.Goexit, reflectorFuncs, controllerSurvives)
}

// Process and the handler of NewInformer run in the goroutine that called Run. When that goroutine
// has ended, no goroutine of the controller is left.
func TestGoexitEndsTheGoroutineOfAController(t *testing.T) {
	for _, at := range []string{"Process", "OnAdd"} {
		forEachFunction(t, runtime.Goexit, []string{at}, func(t *testing.T, f *fault) {
			source := newFaultySource(f)
			defer source.server.Shutdown()
			_, c := cache.NewInformer(source, &corev1.Pod{}, 0, &failingHandler{fault: f})
			if at == "Process" {
				queue := cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, cache.NewStore(cache.MetaNamespaceKeyFunc), nil)
				c = cache.New(&cache.Config{Queue: queue, ListerWatcher: source, ObjectType: &corev1.Pod{}, Process: func(any, bool) error { f.failHere(at); return nil }})
			}
			ended := make(chan struct{})
			run(t, func(ctx context.Context) { defer close(ended); c.RunWithContext(ctx); t.Error("Run must not return") }, func() { <-ended })
		})
	}
}

// The handler of NewInformer is called in the goroutine of Run. So a program can recover the
// handler's panic around Run, and the store never has a change of which the handler was not
// notified.
func TestASingleHandlerInformerCallsItsHandlerInRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := newFaultySource(&fault{})
		defer source.server.Shutdown()
		source.server.Add(pod("b", ""))
		var store cache.Store
		var seen []string
		store, c := cache.NewInformer(source, &corev1.Pod{}, 0, cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { time.Sleep(time.Minute) },
			UpdateFunc: func(_, obj any) {
				stored, _, _ := store.Get(obj)
				seen = append(seen, name(obj)+" "+name(stored))
				time.Sleep(time.Minute)
			},
			DeleteFunc: func(any) { panic("on purpose") },
		})
		run(t, func(ctx context.Context) {
			require.PanicsWithValue(t, "on purpose", func() { c.RunWithContext(ctx) })
		}, func() {
			require.False(t, c.HasSynced(), "the handler has panicked instead of returning")
			for range 3 { // look at the store while the handler runs
				source.server.Modify(pod("b", ""))
			}
			sleepAndSettle(90 * time.Second)
			require.False(t, c.HasSynced())
			sleepAndSettle(time.Minute)
			require.True(t, c.HasSynced())
			sleepAndSettle(10 * time.Minute)
			require.Equal(t, []string{"b3 b3", "b4 b4", "b5 b5"}, seen)
			source.server.Delete(pod("b", ""))
			synctest.Wait()
		})
	})
}

// crash runs an informer and a controller until the function at this place panics. It is called in
// a separate process.
func crash(place string) {
	utilruntime.PanicHandlers = append(utilruntime.PanicHandlers, func(context.Context, any) { fmt.Fprintln(os.Stderr, handled) })
	f := &fault{at: place, fail: panics}
	source := newFaultySource(f)
	source.server.Add(pod("b", ""))
	shared := cache.NewSharedIndexInformer(source, &corev1.Pod{}, time.Second, f.indexers())
	_ = shared.SetTransform(f.transform)
	_ = shared.SetWatchErrorHandler(func(*cache.Reflector, error) { f.failHere("error handler") })
	_, _ = shared.AddEventHandler(&failingHandler{fault: f})
	queue := cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, cache.NewStore(cache.MetaNamespaceKeyFunc), nil)
	c := cache.New(&cache.Config{
		Queue: queue, ListerWatcher: newFaultySource(&fault{}), ObjectType: &corev1.Pod{}, FullResyncPeriod: time.Second,
		Process:      func(any, bool) error { f.failHere("Process"); return nil },
		ShouldResync: func() bool { f.failHere("ShouldResync"); return false },
	})
	go c.Run(nil)
	shared.Run(nil)
}

// output returns the output of a process in which the function at this place has panicked.
func output(t *testing.T, place string) string {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), crashEnv+"="+place)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 2, exit.ExitCode(), "%s", out)
	return string(out)
}

// By default a panic ends the process, and the output has the panic's value and stack.
func TestAPanicEndsTheProcess(t *testing.T) {
	for _, place := range []string{"watch", "ResultChan", "transform of a list", "error handler", "OnAdd", "Process", "ShouldResync"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			out := output(t, place)
			require.Contains(t, out, "panic: on purpose")
			require.Contains(t, out, "contracts.panics")
		})
	}
}

const handled = "a panic handler was called"

// A panic in a function that a reflector's Run calls reaches each panic handler once.
func TestAPanicReachesItsHandlersOnce(t *testing.T) {
	for _, place := range []string{"list", "watch", "ResultChan", "error handler"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, 1, strings.Count(output(t, place), handled))
		})
	}
}

// A list function runs in its own goroutine, and another goroutine panics again with the value. In
// client-go the stack of the list function is lost.
func TestAPanicOfAListShowsItsStack(t *testing.T) {
	out := output(t, "list")
	require.Contains(t, out, "panic: on purpose")
	require.Contains(t, out, "contracts.panics")
}

// A panic of an index function is also raised again later, after the store is complete.
func TestAPanicOfAnIndexFunctionShowsItsStack(t *testing.T) {
	out := output(t, "index of a list")
	require.Contains(t, out, "panic: on purpose")
	require.Contains(t, out, "contracts.panics")
}
