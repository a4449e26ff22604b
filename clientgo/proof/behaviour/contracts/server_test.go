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
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// server serves lists and watches as a test defines.
type server struct {
	// list and watch are functions that return the result of the n-th request, counted from 0. By
	// default the results are an empty list at version 10, and a watch without events.
	list    func(n int, o metav1.ListOptions) (runtime.Object, error)
	watch   func(n int, o metav1.ListOptions) (watch.Interface, error)
	streams bool // supports streaming lists

	mu       sync.Mutex // guards following
	requests []string
	lists    int
	opened   []*fakeWatch
}

// fakeWatch is a watch that counts the calls of Stop and ResultChan.
type fakeWatch struct {
	*watch.FakeWatcher
	mu              sync.Mutex // guards following
	stops, channels int
}

func newFakeWatch() *fakeWatch { return &fakeWatch{FakeWatcher: watch.NewFakeWithChanSize(100, false)} }

func (e *fakeWatch) Stop() {
	e.mu.Lock()
	e.stops++
	e.mu.Unlock()
	e.FakeWatcher.Stop()
}

func (e *fakeWatch) ResultChan() <-chan watch.Event {
	e.mu.Lock()
	e.channels++
	e.mu.Unlock()
	return e.FakeWatcher.ResultChan()
}

func (s *server) IsWatchListSemanticsUnSupported() bool { return !s.streams }

func (s *server) recordRequest(verb string, o metav1.ListOptions) {
	line := fmt.Sprintf("%s %q", verb, o.ResourceVersion)
	if o.ResourceVersionMatch != "" {
		line += " " + string(o.ResourceVersionMatch)
	}
	if o.Limit > 0 {
		line += fmt.Sprintf(" limit=%d", o.Limit)
	}
	if o.Continue != "" {
		line += " continue=" + o.Continue
	}
	if o.AllowWatchBookmarks {
		line += " bookmarks"
	}
	if o.SendInitialEvents != nil && *o.SendInitialEvents {
		line += " initial"
	}
	s.requests = append(s.requests, line)
}

// takeRequests returns the requests since the last call.
func (s *server) takeRequests() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// last returns the most recently opened watch.
func (s *server) last(t *testing.T) *fakeWatch {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.NotEmpty(t, s.opened, "a watch must be open")
	return s.opened[len(s.opened)-1]
}

// source returns the ListerWatcher of a reflector or an informer.
func (s *server) source() cache.ListerWatcher {
	lw := &cache.ListWatch{
		ListWithContextFunc: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
			s.mu.Lock()
			n := s.lists
			s.lists++
			s.recordRequest("list", o)
			s.mu.Unlock()
			if s.list != nil {
				return s.list(n, o)
			}
			return podList("10"), nil
		},
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			s.mu.Lock()
			n := len(s.opened)
			s.recordRequest("watch", o)
			e := newFakeWatch()
			s.opened = append(s.opened, e)
			s.mu.Unlock()
			if s.watch != nil {
				w, err := s.watch(n, o)
				if w != nil || err != nil {
					return w, err
				}
			}
			return e, nil
		},
	}
	return cache.ToListWatcherWithWatchListSemantics(lw, s)
}

func podList(version string, pods ...*corev1.Pod) *corev1.PodList {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
	for _, p := range pods {
		list.Items = append(list.Items, *p)
	}
	return list
}

// run runs a function in a bubble until the test function returns.
func run(t *testing.T, runs func(ctx context.Context), test func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { runs(ctx) })
	defer running.Wait()
	defer cancel()
	synctest.Wait()
	test()
}

// sleepAndSettle waits for d, and then until all goroutines are idle.
func sleepAndSettle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
