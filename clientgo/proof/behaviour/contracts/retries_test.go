package contracts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

var errInternal = apierrors.NewInternalError(errors.New("broken"))

// newShortBackoffReflector returns a reflector whose waits are 1 s, 3 s and 9 s.
func newShortBackoffReflector(s *server) *cache.Reflector {
	return cache.NewReflectorWithOptions(s.source(), &corev1.Pod{}, cache.NewStore(cache.MetaNamespaceKeyFunc), cache.ReflectorOptions{
		Backoff: &wait.Backoff{Duration: time.Second, Factor: 3, Steps: 9, Cap: time.Minute},
	})
}

// call calls ListAndWatch once, and returns its error.
func call(t *testing.T, r *cache.Reflector) error {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	return r.ListAndWatchWithContext(ctx)
}

// RC-22, RC-26: within one call, a busy or unreachable server gets another watch request from the
// last version. The reflector's Backoff determines the waits.
func TestOneCallRetriesAfterWaits(t *testing.T) {
	busy := apierrors.NewTooManyRequests("busy", 0)
	for name, result := range map[string]func() (watch.Interface, error){
		"429":                           func() (watch.Interface, error) { return nil, busy },
		"connection refused":            func() (watch.Interface, error) { return nil, syscall.ECONNREFUSED },
		"wrapped refusal":               func() (watch.Interface, error) { return nil, fmt.Errorf("dial: %w", syscall.ECONNREFUSED) },
		"429 in a watch that had begun": func() (watch.Interface, error) { return endingWatch(failure(busy)), nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var times []time.Time
				s := &server{watch: func(n int, _ metav1.ListOptions) (watch.Interface, error) {
					times = append(times, time.Now())
					if n < 3 {
						return result()
					}
					return nil, nil
				}}
				require.NoError(t, call(t, newShortBackoffReflector(s)))
				require.Equal(t, []string{`list "0" limit=500`, `watch "10" bookmarks`, `watch "10" bookmarks`, `watch "10" bookmarks`, `watch "10" bookmarks`}, s.takeRequests())
				for i, want := range []time.Duration{time.Second, 3 * time.Second, 9 * time.Second} {
					require.Equal(t, want, times[i+1].Sub(times[i]))
				}
			})
		})
	}
}

// RC-36: within one call, an internal error of an open watch leads to another watch without a wait.
// The reflector does so for as long as the program has configured.
func TestOneCallRetriesAfterInternalErrors(t *testing.T) {
	for longest, want := range map[time.Duration]int{0: 1, 10 * time.Second: 7} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{watch: func(n int, _ metav1.ListOptions) (watch.Interface, error) {
				w := newFakeWatch()
				time.AfterFunc(2*time.Second, func() { w.Action(watch.Error, failure(errInternal).Object) })
				return w, nil
			}}
			r := newShortBackoffReflector(s)
			r.MaxInternalErrorRetryDuration = longest
			require.NoError(t, call(t, r), "the error of an open watch is not returned")
			requests := s.takeRequests()
			require.Equal(t, `list "0" limit=500`, requests[0])
			require.Len(t, requests[1:], want)
			for _, request := range requests[1:] {
				require.Equal(t, `watch "10" bookmarks`, request)
			}
		})
	}
}

// RC-22, RC-26: any other failure ends the call. If the request failed, the call returns its error
// unchanged. If an open watch failed, the call returns nil.
func TestAnotherFailureEndsTheCall(t *testing.T) {
	for _, refused := range []error{io.EOF, io.ErrUnexpectedEOF, errInternal, expired(), errors.New("refused"), apierrors.NewForbidden(corev1.Resource("pods"), "", nil)} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{watch: func(int, metav1.ListOptions) (watch.Interface, error) { return nil, refused }}
			require.True(t, call(t, newShortBackoffReflector(s)) == refused, "%v", refused)
			require.Len(t, s.takeRequests(), 2)
		})
	}
	for _, failed := range []error{errInternal, expired(), apierrors.NewServiceUnavailable("")} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{watch: func(int, metav1.ListOptions) (watch.Interface, error) {
				return endingWatch(watch.Event{Type: watch.Added, Object: pod("a", "11")}, failure(failed)), nil
			}}
			require.NoError(t, call(t, newShortBackoffReflector(s)))
			require.Len(t, s.takeRequests(), 2)
		})
	}
}

// RC-18: within one call, a list replaces a streaming list that fails.
func TestOneCallFallsBackFromAStreamingListToAList(t *testing.T) {
	for name, first := range map[string]func() (watch.Interface, error){
		"refused":        func() (watch.Interface, error) { return nil, errors.New("refused") },
		"500":            func() (watch.Interface, error) { return nil, errInternal },
		"500, once open": func() (watch.Interface, error) { return endingWatch(failure(errInternal)), nil },
		"an end at once": func() (watch.Interface, error) { return endingWatch(), nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{streams: true, watch: func(n int, _ metav1.ListOptions) (watch.Interface, error) {
					if n == 0 {
						return first()
					}
					return nil, nil
				}}
				require.NoError(t, call(t, newShortBackoffReflector(s)))
				require.Equal(t, []string{streamingList, `list "0" limit=500`, `watch "10" bookmarks`}, s.takeRequests())
			})
		})
	}
}

// RC-4, RC-6: the next call lists from the last version. If the server did not have this version,
// it lists from the most recent version.
func TestTheNextCallListsFromTheLastVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{watch: func(n int, _ metav1.ListOptions) (watch.Interface, error) {
			return endingWatch(watch.Event{Type: watch.Added, Object: pod("a", fmt.Sprint(11+n))}, failure(expired())), nil
		}}
		fails := false
		s.list = func(n int, _ metav1.ListOptions) (kruntime.Object, error) {
			if fails {
				return nil, expired()
			}
			return podList(fmt.Sprint(10 + 10*n)), nil
		}
		r := newShortBackoffReflector(s)
		require.NoError(t, call(t, r))
		require.NoError(t, call(t, r))
		require.Equal(t, []string{`list "0" limit=500`, `watch "10" bookmarks`, `list "11"`, `watch "20" bookmarks`}, s.takeRequests())
		fails = true
		require.Error(t, call(t, r))
		fails = false
		require.NoError(t, call(t, r))
		require.Equal(t, []string{`list "12"`, `list ""`, `list "" limit=500`, `watch "50" bookmarks`}, s.takeRequests())
	})
}

// RC-27, RC-30: an error handler gets exactly the errors that a call would return.
func TestWhichErrorsAnErrorHandlerGets(t *testing.T) {
	forbidden := apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no"))
	for name, c := range map[string]struct {
		list  error
		watch func(n int) (watch.Interface, error)
		check func(t *testing.T, err error) // nil if the handler is not called
	}{
		"a list that fails": {list: forbidden, check: func(t *testing.T, err error) {
			require.True(t, apierrors.IsForbidden(err))
			require.EqualError(t, err, "failed to list *v1.Pod: "+forbidden.Error())
		}},
		"EOF": {watch: func(int) (watch.Interface, error) { return nil, io.EOF }, check: func(t *testing.T, err error) {
			require.True(t, err == io.EOF)
		}},
		"a Status": {watch: func(int) (watch.Interface, error) { return nil, forbidden }, check: func(t *testing.T, err error) {
			_, isStatus := err.(*apierrors.StatusError)
			require.True(t, isStatus)
			_, isAPIStatus := err.(apierrors.APIStatus)
			require.True(t, isAPIStatus)
		}},
		"an expired version": {watch: func(int) (watch.Interface, error) { return nil, expired() }, check: func(t *testing.T, err error) { require.Equal(t, expired(), err) }},
		"429":                {watch: func(int) (watch.Interface, error) { return nil, apierrors.NewTooManyRequests("busy", 0) }},
		"connection refused": {watch: func(int) (watch.Interface, error) { return nil, syscall.ECONNREFUSED }},
		"an orderly end": {watch: func(int) (watch.Interface, error) {
			return endingWatch(watch.Event{Type: watch.Added, Object: pod("a", "11")}), nil
		}},
		"an end at once":                {watch: func(int) (watch.Interface, error) { return endingWatch(), nil }},
		"500 in a watch that had begun": {watch: func(int) (watch.Interface, error) { return endingWatch(failure(errInternal)), nil }},
		"429 in a watch that had begun": {watch: func(int) (watch.Interface, error) {
			return endingWatch(failure(apierrors.NewTooManyRequests("busy", 0))), nil
		}},
		"410 in a watch that had begun": {watch: func(int) (watch.Interface, error) { return endingWatch(failure(expired())), nil }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{
					list: func(n int, _ metav1.ListOptions) (kruntime.Object, error) {
						if n == 0 && c.list != nil {
							return nil, c.list
						}
						return podList("10"), nil
					},
					watch: func(n int, _ metav1.ListOptions) (watch.Interface, error) {
						if n == 0 && c.watch != nil {
							return c.watch(n)
						}
						return nil, nil
					},
				}
				inf := cache.NewSharedIndexInformer(s.source(), &corev1.Pod{}, 0, nil)
				var got []error
				require.NoError(t, inf.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { got = append(got, err) }))
				run(t, inf.RunWithContext, func() {
					sleepAndSettle(time.Minute)
					if c.check == nil {
						require.Empty(t, got)
						return
					}
					require.Len(t, got, 1)
					c.check(t, got[0])
				})
			})
		})
	}
}

// RC-22: a server without watches gets as many list requests as client-go sends.
func TestAServerWithoutWatchesIsListedLikeByClientGo(t *testing.T) {
	s := &server{watch: func(int, metav1.ListOptions) (watch.Interface, error) {
		return nil, apierrors.NewMethodNotSupported(corev1.Resource("pods"), "watch")
	}}
	withReflector(t, s, cache.ReflectorOptions{}, func(*cache.Reflector, cache.Store) {
		sleepAndSettle(3 * time.Minute)
		lists := len(s.takeRequests()) / 2
		require.GreaterOrEqual(t, lists, 8)
		require.LessOrEqual(t, lists, 17)
	})
}
