package contracts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
)

func expired() error { return apierrors.NewResourceExpired("too old") }

func failure(err error) watch.Event {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		panic(err)
	}
	s := status.Status()
	return watch.Event{Type: watch.Error, Object: &s}
}

// endingWatch returns a watch that ends after these events.
func endingWatch(all ...watch.Event) watch.Interface {
	w := watch.NewFakeWithChanSize(len(all), false)
	for _, e := range all {
		w.Action(e.Type, e.Object)
	}
	w.Stop()
	return w
}

// withReflector runs a reflector in a bubble, on a server that the test has prepared.
func withReflector(t *testing.T, s *server, options cache.ReflectorOptions, test func(r *cache.Reflector, store cache.Store)) {
	synctest.Test(t, func(t *testing.T) {
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		r := cache.NewReflectorWithOptions(s.source(), &corev1.Pod{}, store, options)
		run(t, r.RunWithContext, func() { test(r, store) })
	})
}

// listAndWatchOnce calls ListAndWatch once, in a bubble.
func listAndWatchOnce(t *testing.T, s *server, test func(r *cache.Reflector, err error)) {
	synctest.Test(t, func(t *testing.T) {
		r := cache.NewReflector(s.source(), &corev1.Pod{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
		defer cancel()
		test(r, r.ListAndWatchWithContext(ctx))
	})
}

// RC-1, RC-21, RC-29: ListAndWatch lists and watches, and returns nil when the context ends. If the
// context has ended before the call, it does nothing.
func TestListAndWatchUntilTheContextEnds(t *testing.T) {
	s := &server{}
	listAndWatchOnce(t, s, func(r *cache.Reflector, err error) {
		require.NoError(t, err)
		require.Equal(t, []string{`list "0" limit=500`, `watch "10" bookmarks`}, s.takeRequests())
		require.Equal(t, "10", r.LastSyncResourceVersion())
		require.Equal(t, 1, s.opened[0].stops, "RC-28")
		require.Equal(t, 1, s.opened[0].channels)
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := &server{}
		require.NoError(t, cache.NewReflector(s.source(), &corev1.Pod{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0).ListAndWatchWithContext(ctx))
		for _, request := range s.takeRequests() {
			require.NotContains(t, request, "watch")
		}
	})
}

// RC-2, RC-3: the wait after the first failure is 0.8 s. It doubles with each failure, up to 30 s.
// Jitter adds up to 100 %.
func TestWaitsAfterFailures(t *testing.T) {
	for name, c := range map[string]struct {
		backoff *wait.Backoff
		waits   []time.Duration
		jitter  float64
	}{
		"the default":    {nil, []time.Duration{800 * time.Millisecond, 1600 * time.Millisecond, 3200 * time.Millisecond, 6400 * time.Millisecond}, 1},
		"of the options": {&wait.Backoff{Duration: time.Second, Factor: 3, Steps: 9, Cap: 20 * time.Second}, []time.Duration{time.Second, 3 * time.Second, 9 * time.Second}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var times []time.Time
			s := &server{list: func(int, metav1.ListOptions) (kruntime.Object, error) {
				times = append(times, time.Now())
				return nil, errors.New("refused")
			}}
			withReflector(t, s, cache.ReflectorOptions{Backoff: c.backoff}, func(*cache.Reflector, cache.Store) {
				sleepAndSettle(time.Minute)
				require.Greater(t, len(times), len(c.waits))
				for i, want := range c.waits {
					took := times[i+1].Sub(times[i])
					require.GreaterOrEqual(t, took, want, "wait %d", i)
					require.LessOrEqual(t, took, time.Duration(float64(want)*(1+c.jitter))+time.Millisecond, "wait %d", i)
				}
			})
		})
	}
}

// cancellingPod is a pod that calls a function when its resourceVersion is read.
type cancellingPod struct {
	*corev1.Pod
	cancel func()
}

func (c *cancellingPod) GetResourceVersion() string {
	c.cancel()
	return c.Pod.GetResourceVersion()
}

// RC-29: a reflector applies an event that it has received from the watch, even if the context ends
// at that moment.
func TestAReceivedEventIsAppliedAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &server{}
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		r := cache.NewReflector(s.source(), nil, store, 0)
		run(t, func(context.Context) { require.NoError(t, r.ListAndWatchWithContext(ctx)) }, func() {
			s.last(t).Add(&cancellingPod{pod("a", "11"), cancel})
			synctest.Wait()
			require.Equal(t, []string{"ns/a"}, store.ListKeys())
			require.Equal(t, "11", r.LastSyncResourceVersion())
		})
	})
}

// RC-4, RC-5, RC-6: after an expired version, the reflector at once lists the most recent state.
// Later lists start from the last version again.
func TestListsAfterAVersionHasExpired(t *testing.T) {
	for name, err := range map[string]error{
		"expired": expired(),
		//lint:ignore SA1019 servers send it
		"gone":                                  apierrors.NewGone("gone"),
		"too large":                             &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 504, Reason: metav1.StatusReasonTimeout, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}}}},
		"too large, as Kubernetes 1.18 says it": &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 504, Reason: metav1.StatusReasonTimeout, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Message: "Too large resource version"}}}}},
		"too large, as Kubernetes 1.16 says it": apierrors.NewTimeoutError("Too large resource version: 9, current: 8", 1),
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{list: func(n int, _ metav1.ListOptions) (kruntime.Object, error) {
				if n == 0 {
					return nil, err
				}
				return podList(fmt.Sprint(10 * n)), nil
			}}
			withReflector(t, s, cache.ReflectorOptions{}, func(r *cache.Reflector, _ cache.Store) {
				require.Equal(t, []string{`list "0" limit=500`, `list "" limit=500`, `watch "10" bookmarks`}, s.takeRequests())
			})
		})
	}
}

// RC-24: versions from a program's own functions, and from fakes, need not be in any order, because
// tests choose versions freely.
func TestVersionsOfEventsNeedNotIncrease(t *testing.T) {
	s := &server{list: func(n int, _ metav1.ListOptions) (kruntime.Object, error) {
		if n == 0 {
			return podList("10", pod("a", "9"), pod("b", "1")), nil
		}
		return podList("2", pod("d", "1")), nil
	}}
	withReflector(t, s, cache.ReflectorOptions{}, func(r *cache.Reflector, store cache.Store) {
		w := s.last(t)
		w.Add(pod("c", "50"))
		w.Add(pod("d", "40"))
		w.Modify(pod("a", "3"))
		w.Delete(pod("b", "1"))
		synctest.Wait()
		require.ElementsMatch(t, []string{"ns/a", "ns/c", "ns/d"}, store.ListKeys())
		a, _, err := store.GetByKey("ns/a")
		require.NoError(t, err)
		require.Equal(t, "3", a.(*corev1.Pod).ResourceVersion)
		require.Equal(t, "1", r.LastSyncResourceVersion())
		s.takeRequests()

		w.Action(watch.Error, failure(expired()).Object)
		sleepAndSettle(2 * time.Second)
		require.Equal(t, []string{`list "1"`, `watch "2" bookmarks`}, s.takeRequests())
		require.Equal(t, []string{"ns/d"}, store.ListKeys())
	})
	s = &server{list: func(n int, _ metav1.ListOptions) (kruntime.Object, error) {
		return podList(fmt.Sprint(10 - n)), nil
	}}
	withReflector(t, s, cache.ReflectorOptions{}, func(r *cache.Reflector, _ cache.Store) {
		s.last(t).Action(watch.Error, failure(expired()).Object)
		sleepAndSettle(2 * time.Second)
		require.Equal(t, "9", r.LastSyncResourceVersion(), "the version of a list may be lower than the last version")
	})
}

// RC-31: a whole period lies between two resyncs, even if the first resync was late.
func TestAResyncPeriodBeginsAfterTheLastResync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		r := cache.NewReflector(s.source(), &corev1.Pod{}, cache.NewStore(cache.MetaNamespaceKeyFunc), time.Second)
		begun := time.Now()
		var asked []time.Duration
		r.ShouldResync = func() bool {
			asked = append(asked, time.Since(begun))
			time.Sleep(time.Duration(len(asked)) * 100 * time.Millisecond)
			return false
		}
		run(t, r.RunWithContext, func() {
			sleepAndSettle(4 * time.Second)
			require.Equal(t, []time.Duration{time.Second, 2100 * time.Millisecond, 3300 * time.Millisecond}, asked)
		})
	})
}

// RC-5: if the second list fails too, the caller gets the error of the second list.
func TestTheErrorOfASecondListUnwraps(t *testing.T) {
	refused := errors.New("refused")
	listAndWatchOnce(t, &server{list: func(n int, _ metav1.ListOptions) (kruntime.Object, error) {
		return nil, []error{expired(), refused}[n]
	}}, func(_ *cache.Reflector, err error) {
		require.ErrorIs(t, err, refused)
		require.ErrorContains(t, err, "*v1.Pod")
	})
	forbidden := apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no"))
	listAndWatchOnce(t, &server{list: func(int, metav1.ListOptions) (kruntime.Object, error) { return nil, forbidden }}, func(_ *cache.Reflector, err error) {
		require.True(t, apierrors.IsForbidden(err))
	})
}

// RC-7, RC-8: lists in pages, and the requests after a page has expired.
func TestAListIsReadInPages(t *testing.T) {
	s := &server{list: func(n int, o metav1.ListOptions) (kruntime.Object, error) {
		switch {
		case o.Continue == "" && o.Limit > 0:
			list := podList("10", pod("a", "1"))
			list.Continue = "next"
			return list, nil
		case o.Continue == "next" && n == 1:
			return podList("10", pod("b", "2")), nil
		}
		return nil, expired()
	}}
	withReflector(t, s, cache.ReflectorOptions{}, func(_ *cache.Reflector, store cache.Store) {
		require.Equal(t, []string{`list "0" limit=500`, `list "" limit=500 continue=next`, `watch "10" bookmarks`}, s.takeRequests())
		require.Len(t, store.List(), 2)
	})
	s = &server{list: func(n int, o metav1.ListOptions) (kruntime.Object, error) {
		switch {
		case o.Limit == 0:
			return podList("12", pod("a", "1"), pod("c", "11")), nil
		case o.Continue == "":
			list := podList("10", pod("a", "1"))
			list.Continue = "next"
			return list, nil
		}
		return nil, expired()
	}}
	withReflector(t, s, cache.ReflectorOptions{}, func(_ *cache.Reflector, store cache.Store) {
		require.Equal(t, []string{`list "0" limit=500`, `list "" limit=500 continue=next`, `list "0"`, `watch "12" bookmarks`}, s.takeRequests())
		require.Len(t, store.List(), 2)
	})
}

// RC-7: a program can set the page size.
func TestAProgramMaySetThePageSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		r := cache.NewReflector(s.source(), &corev1.Pod{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
		r.WatchListPageSize = 7
		run(t, r.RunWithContext, func() {
			require.Equal(t, []string{`list "0" limit=7`, `watch "10" bookmarks`}, s.takeRequests())
		})
	})
}

// RC-11: an object does not keep its list in memory.
func TestAnObjectDoesNotRetainItsList(t *testing.T) {
	var list weak.Pointer[corev1.Pod]
	s := &server{list: func(int, metav1.ListOptions) (kruntime.Object, error) {
		l := podList("10", pod("a", "1"), pod("b", "1"))
		list = weak.Make(&l.Items[0]) // one allocation holds all items
		return l, nil
	}}
	withReflector(t, s, cache.ReflectorOptions{}, func(_ *cache.Reflector, store cache.Store) {
		runtime.GC()
		runtime.GC()
		require.Nil(t, list.Value())
		require.Len(t, store.List(), 2)
	})
}

// RC-12
func TestAListThatHangsOrPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := &server{list: func(int, metav1.ListOptions) (kruntime.Object, error) { <-release; return podList("10"), nil }}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r := cache.NewReflector(s.source(), &corev1.Pod{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
		require.NoError(t, r.ListAndWatchWithContext(ctx), "ListAndWatch does not wait for a list that hangs")
		close(release)
	})
	s := &server{list: func(int, metav1.ListOptions) (kruntime.Object, error) { panic("in a list") }}
	require.Panics(t, func() {
		_ = cache.NewReflector(s.source(), &corev1.Pod{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0).ListAndWatch(make(chan struct{}))
	})
}

// RC-13, RC-23: a Table is an error. Events with objects of another type are skipped.
func TestEventsWithOtherObjectsAreSkipped(t *testing.T) {
	listAndWatchOnce(t, &server{list: func(int, metav1.ListOptions) (kruntime.Object, error) {
		return &metav1.Table{ListMeta: metav1.ListMeta{ResourceVersion: "10"}}, nil
	}}, func(_ *cache.Reflector, err error) { require.Error(t, err) })
	s := &server{}
	withReflector(t, s, cache.ReflectorOptions{}, func(r *cache.Reflector, store cache.Store) {
		w := s.last(t)
		w.Action(watch.Added, &metav1.Table{ListMeta: metav1.ListMeta{ResourceVersion: "11"}})
		w.Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "12"}})
		synctest.Wait()
		require.Equal(t, "10", r.LastSyncResourceVersion())
		w.Add(pod("a", "13"))
		synctest.Wait()
		require.Equal(t, []string{"ns/a"}, store.ListKeys())
		require.Equal(t, "13", r.LastSyncResourceVersion())
	})
}

// RC-20, RC-9: the timeout of a watch is between the minimum and twice the minimum. The options of
// a list are as in the first test.
func TestTimeoutsOfWatches(t *testing.T) {
	for least, want := range map[time.Duration][2]int64{0: {300, 600}, time.Minute: {300, 600}, time.Hour: {3600, 7200}} {
		s := &server{}
		var seconds []int64
		s.watch = func(n int, o metav1.ListOptions) (watch.Interface, error) {
			seconds = append(seconds, *o.TimeoutSeconds)
			return nil, nil
		}
		for range 10 {
			withReflector(t, s, cache.ReflectorOptions{MinWatchTimeout: least}, func(*cache.Reflector, cache.Store) {})
		}
		for _, s := range seconds {
			require.GreaterOrEqual(t, s, want[0])
			require.LessOrEqual(t, s, want[1])
		}
	}
}

// RC-22: if the server refuses the connection or is busy, the reflector retries the watch. Any
// other error ends ListAndWatch.
func TestAWatchThatCannotBeOpenedIsRetried(t *testing.T) {
	for _, err := range []error{syscall.ECONNREFUSED, apierrors.NewTooManyRequests("busy", 1)} {
		s := &server{watch: func(n int, _ metav1.ListOptions) (watch.Interface, error) {
			if n < 2 {
				return nil, err
			}
			return nil, nil
		}}
		withReflector(t, s, cache.ReflectorOptions{}, func(*cache.Reflector, cache.Store) {
			sleepAndSettle(time.Minute)
			require.Equal(t, []string{`list "0" limit=500`, `watch "10" bookmarks`, `watch "10" bookmarks`, `watch "10" bookmarks`}, s.takeRequests())
		})
	}
	for _, refused := range []error{errors.New("refused"), apierrors.NewInternalError(errors.New("broken")), apierrors.NewForbidden(corev1.Resource("pods"), "", nil)} {
		listAndWatchOnce(t, &server{watch: func(int, metav1.ListOptions) (watch.Interface, error) { return nil, refused }}, func(_ *cache.Reflector, err error) {
			require.ErrorIs(t, err, refused)
		})
	}
}

// RC-22: if watches are forbidden but lists are not, the store follows the lists.
func TestTheStoreFollowsByListsIfWatchesAreForbidden(t *testing.T) {
	for _, refused := range []error{apierrors.NewForbidden(corev1.Resource("pods"), "", nil), apierrors.NewMethodNotSupported(corev1.Resource("pods"), "watch"), errors.New("refused")} {
		s := &server{watch: func(int, metav1.ListOptions) (watch.Interface, error) { return nil, refused }}
		begun := time.Time{}
		s.list = func(n int, _ metav1.ListOptions) (kruntime.Object, error) {
			if n == 0 {
				begun = time.Now()
			}
			if time.Since(begun) < time.Minute {
				return podList("10", pod("a", "1")), nil
			}
			return podList("20", pod("b", "15")), nil
		}
		withReflector(t, s, cache.ReflectorOptions{}, func(_ *cache.Reflector, store cache.Store) {
			require.Equal(t, []string{"ns/a"}, store.ListKeys())
			s.takeRequests()
			sleepAndSettle(10 * time.Minute)
			require.Equal(t, []string{"ns/b"}, store.ListKeys())
			require.Less(t, len(s.takeRequests()), 100, "the reflector must wait between its requests")
		})
	}
}

// RC-23: errors of the store are logged, and the next event is processed.
func TestErrorsOfTheStoreAreLogged(t *testing.T) {
	var calls []string
	store := &cache.FakeCustomStore{AddFunc: func(obj any) error {
		calls = append(calls, obj.(*corev1.Pod).Name)
		return errors.New("refused")
	}}
	s := &server{}
	synctest.Test(t, func(t *testing.T) {
		r := cache.NewReflector(s.source(), &corev1.Pod{}, store, 0)
		run(t, r.RunWithContext, func() {
			s.last(t).Add(pod("a", "11"))
			s.last(t).Add(pod("b", "12"))
			synctest.Wait()
			require.Equal(t, []string{"a", "b"}, calls)
			require.Equal(t, "12", r.LastSyncResourceVersion())
		})
	})
}

// RC-24: initial events of a watch from "0" do not set the last version.
func TestVersionOfSyntheticEvents(t *testing.T) {
	s := &server{list: func(int, metav1.ListOptions) (kruntime.Object, error) { return podList("0"), nil }}
	withReflector(t, s, cache.ReflectorOptions{}, func(r *cache.Reflector, _ cache.Store) {
		s.last(t).Add(pod("a", "20"))
		s.last(t).Add(pod("b", "15"))
		synctest.Wait()
		require.Equal(t, "0", r.LastSyncResourceVersion())
		s.last(t).Modify(pod("b", "21"))
		s.last(t).Add(pod("c", "22"))
		synctest.Wait()
		require.Equal(t, "22", r.LastSyncResourceVersion())
	})
}

// RC-25: if a watch ends without an error, the next watch starts at once. If it ends within a
// second without events, a list follows.
func TestAWatchThatEndsIsReopenedAtOnce(t *testing.T) {
	s := &server{watch: func(n int, _ metav1.ListOptions) (watch.Interface, error) {
		if n == 0 {
			return endingWatch(watch.Event{Type: watch.Added, Object: pod("a", "11")}), nil
		}
		return nil, nil
	}}
	withReflector(t, s, cache.ReflectorOptions{}, func(*cache.Reflector, cache.Store) {
		require.Equal(t, []string{`list "0" limit=500`, `watch "10" bookmarks`, `watch "11" bookmarks`}, s.takeRequests())
		sleepAndSettle(2 * time.Second)
		s.last(t).Stop()
		require.Equal(t, []string{`watch "11" bookmarks`}, s.takeRequests())
	})
	listAndWatchOnce(t, &server{watch: func(int, metav1.ListOptions) (watch.Interface, error) { return endingWatch(), nil }}, func(_ *cache.Reflector, err error) {
		require.NoError(t, err, "a very short watch is not an error of ListAndWatch")
	})
}

// RC-26: after a failure of a watch, the store converges to the server's state.
func TestTheStoreConvergesAfterAFailedWatch(t *testing.T) {
	for name, err := range map[string]error{"expired": expired(), "broken": apierrors.NewInternalError(errors.New("broken")), "busy": apierrors.NewTooManyRequests("busy", 1)} {
		t.Run(name, func(t *testing.T) {
			s := &server{list: func(n int, _ metav1.ListOptions) (kruntime.Object, error) {
				if n == 0 {
					return podList("10", pod("gone", "1")), nil
				}
				return podList("20", pod("new", "15")), nil
			}}
			s.watch = func(n int, _ metav1.ListOptions) (watch.Interface, error) {
				switch n {
				case 0:
					return endingWatch(watch.Event{Type: watch.Added, Object: pod("a", "11")}, failure(err)), nil
				case 1:
					return endingWatch(failure(expired())), nil
				}
				return nil, nil
			}
			withReflector(t, s, cache.ReflectorOptions{}, func(r *cache.Reflector, store cache.Store) {
				sleepAndSettle(5 * time.Minute)
				require.Equal(t, []string{"ns/new"}, store.ListKeys())
				require.Equal(t, "20", r.LastSyncResourceVersion())
			})
		})
	}
}

// RC-26: after an expired watch, the list requests the last version and not the most recent
// version.
func TestTheListAfterAnExpiredStream(t *testing.T) {
	s := &server{watch: func(n int, _ metav1.ListOptions) (watch.Interface, error) {
		if n == 0 {
			return endingWatch(watch.Event{Type: watch.Added, Object: pod("a", "11")}, failure(expired())), nil
		}
		return nil, nil
	}}
	s.list = func(n int, _ metav1.ListOptions) (kruntime.Object, error) { return podList(fmt.Sprint(10 + 10*n)), nil }
	withReflector(t, s, cache.ReflectorOptions{}, func(*cache.Reflector, cache.Store) {
		sleepAndSettle(time.Minute)
		require.Equal(t, []string{`list "0" limit=500`, `watch "10" bookmarks`, `list "11"`, `watch "20" bookmarks`}, s.takeRequests())
	})
}

// RC-30
func TestTheDefaultErrorHandlerLogs(t *testing.T) {
	before := utilruntime.ErrorHandlers
	defer func() { utilruntime.ErrorHandlers = before }()
	logged := 0
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(context.Context, error, string, ...any) { logged++ }}
	r := cache.NewReflector((&server{}).source(), &corev1.Pod{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
	for _, err := range []error{expired(), io.EOF, io.ErrUnexpectedEOF} {
		cache.DefaultWatchErrorHandler(t.Context(), r, err)
	}
	require.Zero(t, logged)
	cache.DefaultWatchErrorHandler(t.Context(), r, errors.New("refused"))
	require.Equal(t, 1, logged)
}

// RC-2: errors of ListAndWatch reach the error handler, together with the reflector.
func TestErrorsReachTheErrorHandler(t *testing.T) {
	refused := errors.New("refused")
	s := &server{list: func(int, metav1.ListOptions) (kruntime.Object, error) { return nil, refused }}
	synctest.Test(t, func(t *testing.T) {
		var got []error
		c := cache.New(&cache.Config{Queue: cache.NewDeltaFIFO(cache.MetaNamespaceKeyFunc, nil), ListerWatcher: s.source(), ObjectType: &corev1.Pod{},
			Process: func(any, bool) error { return nil },
			WatchErrorHandlerWithContext: func(_ context.Context, r *cache.Reflector, err error) {
				require.Equal(t, "*v1.Pod", r.TypeDescription())
				got = append(got, err)
			}})
		run(t, c.RunWithContext, func() {
			require.Len(t, got, 1)
			require.ErrorIs(t, got[0], refused)
			sleepAndSettle(2 * time.Second)
			require.Greater(t, len(got), 1)
		})
	})
}

// RC-31, RC-33
func TestResyncsWhileAWatchIsOpen(t *testing.T) {
	var resyncs atomic.Int32
	var notDue atomic.Bool
	store := &cache.FakeCustomStore{ResyncFunc: func() error { resyncs.Add(1); return nil }}
	release := make(chan struct{})
	s := &server{}
	synctest.Test(t, func(t *testing.T) {
		release = make(chan struct{})
		s.list = func(int, metav1.ListOptions) (kruntime.Object, error) { <-release; return podList("10"), nil }
		r := cache.NewReflector(s.source(), &corev1.Pod{}, store, 10*time.Second)
		r.ShouldResync = func() bool { return !notDue.Load() }
		run(t, r.RunWithContext, func() {
			sleepAndSettle(25 * time.Second)
			synctest.Wait()
			require.Zero(t, resyncs.Load(), "no resync comes before the first watch")
			close(release)
			sleepAndSettle(31 * time.Second)
			require.EqualValues(t, 3, resyncs.Load())
			notDue.Store(true)
			sleepAndSettle(time.Minute)
			require.EqualValues(t, 3, resyncs.Load())
		})
		require.EqualValues(t, 3, resyncs.Load())
	})
}

// RC-35
func TestDescriptionsOfTypes(t *testing.T) {
	for want, expected := range map[string]any{
		"<unspecified>":              nil,
		"*v1.Pod":                    &corev1.Pod{},
		"*unstructured.Unstructured": &unstructured.Unstructured{},
		"example.com/v1, Kind=Thing": &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Thing"}},
	} {
		r := cache.NewReflector((&server{}).source(), expected, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
		require.Equal(t, want, r.TypeDescription())
	}
	r := cache.NewNamedReflector("name", (&server{}).source(), nil, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
	require.Equal(t, "name", r.Name())
}

// RC-36
func TestRetryWithADeadline(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	retry := cache.NewRetryWithDeadline(30*time.Second, time.Minute, apierrors.IsInternalError, clock)
	broken := apierrors.NewInternalError(errors.New("broken"))
	attempts := func() (n int) {
		for {
			retry.After(broken)
			if !retry.ShouldRetry() {
				return n
			}
			n++
			clock.Step(time.Second)
		}
	}
	require.Equal(t, 31, attempts())
	require.Equal(t, 31, attempts(), "after ShouldRetry returned false, a new series starts")
	retry.After(errors.New("another"))
	require.False(t, retry.ShouldRetry())
	never := cache.NewRetryWithDeadline(0, time.Minute, apierrors.IsInternalError, clock)
	never.After(broken)
	require.False(t, never.ShouldRetry())
}

// A bookmark without a version does not advance the store's version. The next watch begins at the
// same version as before.
func TestABookmarkWithoutAVersionMovesNothing(t *testing.T) {
	for _, version := range []string{"", "0"} {
		s := &server{}
		withReflector(t, s, cache.ReflectorOptions{}, func(r *cache.Reflector, _ cache.Store) {
			s.last(t).Action(watch.Bookmark, pod("", version))
			sleepAndSettle(2 * time.Second)
			require.Equal(t, "10", r.LastSyncResourceVersion())
			s.takeRequests()
			s.last(t).Stop()
			sleepAndSettle(time.Second)
			require.Equal(t, []string{`watch "10" bookmarks`}, s.takeRequests())
		})
	}
}
