package contracts

import (
	"context"
	"runtime"
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

// fault makes one function of a program fail once. Each of them calls here.
type fault struct {
	at   string
	fail func()
	met  atomic.Int32
}

func (f *fault) here(at string) {
	if at == f.at && f.met.Add(1) == 1 {
		f.fail()
	}
}

func panics() { panic("on purpose") }

// each runs a test in a bubble for each place, in a program that goes on after panics. No goroutine is left at its end,
// as synctest checks.
func each(t *testing.T, fail func(), places []string, test func(t *testing.T, f *fault)) {
	utilruntime.ReallyCrash = false
	defer func() { utilruntime.ReallyCrash = true }()
	for _, place := range places {
		t.Run(place, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fault{at: place, fail: fail}
				test(t, f)
				require.Positive(t, f.met.Load(), "nothing has failed")
			})
		})
	}
}

// faultySource lists and watches a server whose history is kept.
type faultySource struct {
	*fault
	server *fcache.FakeControllerSource
}

func newFaultySource(f *fault) faultySource {
	s := faultySource{fault: f, server: fcache.NewFakeControllerSource()}
	s.server.Add(pod("a", ""))
	return s
}

func (s faultySource) List(o metav1.ListOptions) (kruntime.Object, error) {
	s.here("list")
	if s.at == "error of a list" {
		if s.met.Add(1) == 1 {
			return nil, faultyError{s.fail}
		}
	}
	return s.server.List(o)
}

func (s faultySource) Watch(o metav1.ListOptions) (watch.Interface, error) {
	s.here("watch")
	w, err := s.server.Watch(o)
	return faultyWatch{s.fault, w}, err
}

func (s faultySource) IsWatchListSemanticsUnSupported() bool { return true }

// faultyError fails when it is asked what it wraps.
type faultyError struct{ fail func() }

func (faultyError) Error() string   { return "faulty" }
func (e faultyError) Unwrap() error { e.fail(); return nil }

type faultyWatch struct {
	*fault
	watch.Interface
}

func (w faultyWatch) ResultChan() <-chan watch.Event {
	w.here("ResultChan")
	return w.Interface.ResultChan()
}

func (w faultyWatch) Stop() {
	w.Interface.Stop()
	w.here("Stop")
}

// faultyStore is a program's own.
type faultyStore struct {
	*fault
	cache.Store
	resyncs atomic.Int32
}

func (s *faultyStore) Add(obj any) error    { s.here("Add"); return s.Store.Add(obj) }
func (s *faultyStore) Update(obj any) error { s.here("Update"); return s.Store.Update(obj) }
func (s *faultyStore) Delete(obj any) error { s.here("Delete"); return s.Store.Delete(obj) }
func (s *faultyStore) Replace(objs []any, version string) error {
	s.here("Replace")
	return s.Store.Replace(objs, version)
}
func (s *faultyStore) Resync() error { s.resyncs.Add(1); s.here("Resync"); return nil }
func (s *faultyStore) UpdateResourceVersion(string) {
	s.here("UpdateResourceVersion")
}

// changes makes one change of each kind, and leaves a and c.
func (s faultySource) changes() {
	sleep(5 * time.Minute)
	s.server.Add(pod("b", ""))
	sleep(5 * time.Minute)
	s.server.Modify(pod("b", ""))
	sleep(5 * time.Minute)
	s.server.Delete(pod("b", ""))
	sleep(5 * time.Minute)
	s.server.Add(pod("c", ""))
	sleep(5 * time.Minute)
}

func reflectorGoesOn(t *testing.T, f *fault) {
	source := newFaultySource(f)
	defer source.server.Shutdown()
	store := &faultyStore{fault: f, Store: cache.NewStore(cache.MetaNamespaceKeyFunc)}
	r := cache.NewReflector(source, &corev1.Pod{}, store, 30*time.Second)
	r.ShouldResync = func() bool { f.here("ShouldResync"); return true }
	run(t, r.RunWithContext, func() {
		source.changes()
		require.ElementsMatch(t, []string{"ns/a", "ns/c"}, store.ListKeys())
		resyncs := store.resyncs.Load()
		sleep(5 * time.Minute)
		require.Greater(t, store.resyncs.Load(), resyncs)
	})
}

// RC-12: a reflector goes on after a panic, and its store has in the end what the server has.
func TestAReflectorGoesOnAfterAPanic(t *testing.T) {
	each(t, panics, []string{"list", "error of a list", "watch", "ResultChan", "Stop", "Add", "Update", "Delete", "Replace", "UpdateResourceVersion"}, reflectorGoesOn)
}

// client-go ends the process.
func TestResyncsGoOnAfterAPanic(t *testing.T) {
	each(t, panics, []string{"Resync", "ShouldResync"}, reflectorGoesOn)
}

// These functions run in goroutines of the reflector. In client-go they are not called again.
func TestAReflectorGoesOnAfterGoexit(t *testing.T) {
	each(t, runtime.Goexit, []string{"list", "Resync", "ShouldResync"}, reflectorGoesOn)
}

// These functions run in the goroutine in which the program has called Run.
func TestGoexitEndsTheGoroutineOfRun(t *testing.T) {
	each(t, runtime.Goexit, []string{"watch", "ResultChan", "Add", "Update", "Delete", "Replace", "UpdateResourceVersion"}, func(t *testing.T, f *fault) {
		source := newFaultySource(f)
		defer source.server.Shutdown()
		store := &faultyStore{fault: f, Store: cache.NewStore(cache.MetaNamespaceKeyFunc)}
		ended := make(chan struct{})
		run(t, func(ctx context.Context) {
			defer close(ended)
			cache.NewReflector(source, &corev1.Pod{}, store, 30*time.Second).RunWithContext(ctx)
			t.Error("Run has returned")
		}, func() {
			source.changes()
			<-ended
		})
	})
}
