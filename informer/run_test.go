package informer_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// recordingCache is a cache that records its own steps and the steps of the function work.
type recordingCache struct {
	informer.Cache

	mu    sync.Mutex // guards following
	steps []string
}

func (h *recordingCache) step(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steps = append(h.steps, s)
}

func (h *recordingCache) taken() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.steps...)
}

func (h *recordingCache) Run(ctx context.Context) error {
	err := h.Cache.Run(ctx)
	time.Sleep(time.Second) // The cache needs some time to end.
	h.step("cache ended")
	return err
}

func (h *recordingCache) WaitForSync(ctx context.Context) error {
	err := h.Cache.WaitForSync(ctx)
	if err == nil {
		h.step("synced")
	}
	return err
}

// settled waits until every goroutine is idle, and returns the error that was sent.
func settled(t *testing.T, c <-chan error) error {
	t.Helper()
	time.Sleep(time.Hour)
	select {
	case err := <-c:
		return err
	default:
		require.Fail(t, "Run has not returned")
		return nil
	}
}

func TestRunStartsAndStopsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, informer.Options[*corev1.Pod]{})
		for n := range 50 {
			_, err := r.server.Create(newPod(key(n)))
			require.NoError(t, err)
		}
		h := &recordingCache{Cache: r.informer}
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() {
			err := informer.Run(ctx, func(ctx context.Context) error {
				h.step("work begins")
				require.Equal(t, 50, r.informer.Store().Len())
				<-ctx.Done()
				require.EqualError(t, context.Cause(ctx), "enough")
				// The cache runs as long as the work.
				_, err := r.server.Create(newPod(key(50)))
				require.NoError(t, err)
				time.Sleep(time.Second)
				require.Equal(t, 51, r.informer.Store().Len())
				h.step("work ends")
				return nil
			}, h)
			h.step("Run returned")
			ended <- err
		}()
		time.Sleep(time.Minute)
		require.Equal(t, []string{"synced", "work begins"}, h.taken())
		cancel(errors.New("enough"))
		require.NoError(t, settled(t, ended))
		require.Equal(t, []string{"synced", "work begins", "work ends", "cache ended", "Run returned"}, h.taken())
		require.ErrorIs(t, r.informer.Healthy(time.Minute), informer.ErrStopped)
	})
}

// A reconcile in progress at the stop still sees later changes.
func TestRunUntilDrainsWhileTheCachesGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, informer.Options[*corev1.Pod]{})
		queue := workqueue.New(workqueue.Options[types.NamespacedName]{})
		r.add(func(e informer.Event[*corev1.Pod]) { queue.Add(e.Key) }, informer.HandlerOptions{})
		for n := range 6 {
			_, err := r.server.Create(newPod(key(n)))
			require.NoError(t, err)
		}
		stop, cancel := context.WithCancel(t.Context())
		done := map[types.NamespacedName]bool{}
		ended := make(chan error, 1)
		go func() {
			ended <- informer.RunUntil(context.WithoutCancel(stop), stop, func(working context.Context) error {
				return queue.RunUntil(working, stop, 1, func(ctx context.Context, key types.NamespacedName) error {
					pod := newPod(types.NamespacedName{Namespace: key.Namespace, Name: key.Name + "-done"})
					created, err := r.server.Create(pod)
					require.NoError(t, err)
					require.NoError(t, r.informer.Store().WaitRV(ctx, created.GetResourceVersion()))
					time.Sleep(2 * time.Second)
					done[key] = true
					return ctx.Err()
				})
			}, r.informer)
		}()
		time.Sleep(time.Second)
		cancel()
		require.NoError(t, settled(t, ended))
		for n := range 6 {
			require.True(t, done[key(n)], n)
		}
	})
}

func TestRunThatEndsBeforeTheSync(t *testing.T) {
	never := func(context.Context) error { panic("work must not begin") }
	for name, end := range map[string]func(t *testing.T, ctx, stop context.CancelFunc){
		"ctx":  func(_ *testing.T, ctx, _ context.CancelFunc) { ctx() },
		"stop": func(_ *testing.T, _, stop context.CancelFunc) { stop() },
		"ctx, when stop has ended": func(_ *testing.T, ctx, stop context.CancelFunc) {
			stop()
			ctx()
		},
	} {
		for _, when := range []time.Duration{0, time.Minute} {
			t.Run(name+" after "+when.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, informer.Options[*corev1.Pod]{})
					r.server.Inject(apitest.Fault{Verb: "list", Action: apitest.Code(500, 0)})
					r.server.Inject(apitest.Fault{Verb: "watch", Action: apitest.Code(500, 0)})
					h := &recordingCache{Cache: r.informer}
					ctx, endCtx := context.WithCancel(t.Context())
					defer endCtx()
					stop, endStop := context.WithCancel(t.Context())
					defer endStop()
					if when == 0 {
						end(t, endCtx, endStop)
					} else {
						time.AfterFunc(when, func() { end(t, endCtx, endStop) })
					}
					ended := make(chan error, 1)
					go func() { ended <- informer.RunUntil(ctx, stop, never, h) }()
					require.NoError(t, settled(t, ended))
					require.Equal(t, []string{"cache ended"}, h.taken())
				})
			})
		}
	}
}

// If the work never began and no context was cancelled, the error says why.
func TestRunWhoseDeadlinePassesBeforeTheSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, informer.Options[*corev1.Pod]{Name: "pods"})
		r.server.Inject(apitest.Fault{Verb: "list", Action: apitest.Code(500, 0)})
		r.server.Inject(apitest.Fault{Verb: "watch", Action: apitest.Code(500, 0)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			ended <- informer.Run(ctx, func(context.Context) error { panic("work must not begin") }, r.informer)
		}()
		err := settled(t, ended)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "informer pods is not synced")
		require.True(t, apierrors.IsInternalError(err), err)
	})
}

func TestRunWhenACacheGivesUp(t *testing.T) {
	impatient := informer.Options[*corev1.Pod]{Name: "gone"}
	impatient.Reflector.GiveUpAfter = 2
	missing := apitest.Fault{Resource: "pods", Action: apitest.Code(404, 0)}

	t.Run("before the sync", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, impatient)
			other := newRig(t, informer.Options[*corev1.Pod]{})
			r.server.Inject(missing)
			h := &recordingCache{Cache: other.informer}
			ended := make(chan error, 1)
			go func() {
				ended <- informer.Run(t.Context(), func(context.Context) error { panic("work must not begin") }, h, r.informer)
			}()
			err := settled(t, ended)
			require.True(t, apierrors.IsNotFound(err), err)
			require.Equal(t, []string{"synced", "cache ended"}, h.taken())
		})
	})
	for name, test := range map[string]struct {
		returned func(context.Context) error
		wants    string // besides the cache's error
	}{
		"while the work goes on":               {func(context.Context) error { return nil }, ""},
		"and work says that its context ended": {func(ctx context.Context) error { return ctx.Err() }, ""},
		"and work says why its context ended":  {context.Cause, ""},
		"and work fails for another reason":    {func(context.Context) error { return errors.New("disk full") }, "disk full"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, impatient)
				ended := make(chan error, 1)
				go func() {
					ended <- informer.Run(t.Context(), func(ctx context.Context) error {
						time.Sleep(time.Second) // The watch begins after the sync.
						r.server.Inject(missing)
						require.Positive(t, r.server.DropWatches(""))
						<-ctx.Done()
						require.True(t, apierrors.IsNotFound(context.Cause(ctx)), context.Cause(ctx))
						return test.returned(ctx)
					}, r.informer)
				}()
				err := settled(t, ended)
				require.True(t, apierrors.IsNotFound(err), err)
				if test.wants != "" {
					require.ErrorContains(t, err, test.wants)
				} else {
					require.NotContains(t, err.Error(), "\n", "one failure is reported once")
				}
			})
		})
	}
}

// ctx stands for a lease: without it the program must not write, so its end also ends a drain.
func TestRunUntilWhoseContextEndsDuringADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, informer.Options[*corev1.Pod]{})
		lead, lose := context.WithCancelCause(t.Context())
		stop, cancel := context.WithCancel(t.Context())
		h := &recordingCache{Cache: r.informer}
		ended := make(chan error, 1)
		go func() {
			ended <- informer.RunUntil(lead, stop, func(working context.Context) error {
				<-stop.Done()
				time.Sleep(time.Second)
				require.NoError(t, working.Err())
				lose(errors.New("lease lost"))
				<-working.Done()
				h.step("work ends")
				return context.Cause(working)
			}, h)
		}()
		time.Sleep(time.Second)
		cancel()
		require.EqualError(t, settled(t, ended), "lease lost", "if no cache gave up, Run returns the error of work")
		require.Equal(t, []string{"synced", "work ends", "cache ended"}, h.taken())
	})
}

// However the work or a cache ends, Run waits for all caches, and no goroutine remains (G10).
func TestG10_NothingRemainsOfRun(t *testing.T) {
	errWork := errors.New("work failed")
	good := func(t *testing.T) informer.Cache {
		return newInformer(t, newFake("1", item("a", "1", "")), informer.Options[*obj]{})
	}
	for name, test := range map[string]struct {
		work  func(context.Context) error
		cache func(t *testing.T) informer.Cache // runs beside a good cache
		check func(t *testing.T, err error)
	}{
		"work returns": {
			work:  func(context.Context) error { return nil },
			check: func(t *testing.T, err error) { require.NoError(t, err) },
		},
		"work fails": {
			work:  func(context.Context) error { return errWork },
			check: func(t *testing.T, err error) { require.Equal(t, errWork, err) },
		},
		"work panics": {
			work:  func(context.Context) error { panic("broken") },
			check: func(t *testing.T, err error) { require.EqualError(t, err, "panic") },
		},
		"work ends its goroutine": {
			work:  func(context.Context) error { runtime.Goexit(); return nil },
			check: func(t *testing.T, err error) { require.EqualError(t, err, "goexit") },
		},
		"a cache ends its goroutine": {
			work: func(ctx context.Context) error { <-ctx.Done(); return nil },
			cache: func(t *testing.T) informer.Cache {
				var source listwatch.Source[*obj] = newFake("1", item("a", "1", ""))
				return newInformer(t, sources.Transform(source, func(*obj) (*obj, error) { runtime.Goexit(); return nil, nil }), informer.Options[*obj]{})
			},
			check: func(t *testing.T, err error) { require.ErrorContains(t, err, "runtime.Goexit") },
		},
		"a cache runs twice": {
			work: func(ctx context.Context) error { <-ctx.Done(); return nil },
			cache: func(t *testing.T) informer.Cache {
				inf := newInformer(t, newFake("1"), informer.Options[*obj]{})
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				require.NoError(t, inf.Run(ctx))
				return inf
			},
			check: func(t *testing.T, err error) { require.ErrorIs(t, err, informer.ErrAlreadyRun) },
		},
		"a cache ends for no reason": {
			work:  func(ctx context.Context) error { <-ctx.Done(); return nil },
			cache: func(*testing.T) informer.Cache { return shortCache{func() {}} },
			check: func(t *testing.T, err error) { require.ErrorContains(t, err, "ended by itself") },
		},
		"a cache ends its goroutine by itself": {
			work:  func(ctx context.Context) error { <-ctx.Done(); return nil },
			cache: func(*testing.T) informer.Cache { return shortCache{runtime.Goexit} },
			check: func(t *testing.T, err error) { require.ErrorContains(t, err, "runtime.Goexit") },
		},
		"a factory": {
			work:  func(context.Context) error { return nil },
			cache: func(*testing.T) informer.Cache { return new(informer.Factory) },
			check: func(t *testing.T, err error) { require.NoError(t, err) },
		},
		"no function": {
			check: func(t *testing.T, err error) { require.EqualError(t, err, "informer: Run needs a work function") },
		},
		"no cache": {
			work:  func(context.Context) error { panic("work must not begin") },
			cache: func(*testing.T) informer.Cache { return (*informer.Informer[*obj])(nil) },
			check: func(t *testing.T, err error) {
				require.EqualError(t, err, "informer: Run needs caches, and number 2 of 2 is nil")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			caches := []informer.Cache{good(t)}
			if test.cache != nil {
				caches = append(caches, test.cache(t))
			}
			leaks := goleak.IgnoreCurrent()
			ended := make(chan error, 1)
			go func() {
				err := errors.New("goexit")
				defer func() {
					if recover() != nil {
						err = errors.New("panic")
					}
					ended <- err
				}()
				err = informer.Run(t.Context(), test.work, caches...)
			}()
			select {
			case err := <-ended:
				test.check(t, err)
			case <-time.After(time.Minute):
				require.Fail(t, "Run has not returned")
			}
			goleak.VerifyNone(t, leaks)
		})
	}
}

// shortCache is a cache that ends too early.
type shortCache struct{ end func() }

func (s shortCache) Run(context.Context) error       { s.end(); return nil }
func (shortCache) WaitForSync(context.Context) error { return nil }

// Run also waits for an informer on real connections, and no goroutine or connection remains.
func TestG10_NothingRemainsOfRunWithConnections(t *testing.T) {
	server := apitest.Start(t, apitest.Options{})
	_, err := server.Create(newPod(key(0)))
	require.NoError(t, err)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	client, err := rest.NewClient(rest.Config{Host: server.URL()}, rest.Options{})
	require.NoError(t, err)
	defer client.Close()
	inf, err := informer.New(rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{})), informer.Options[*corev1.Pod]{})
	require.NoError(t, err)
	queue := workqueue.New(workqueue.Options[types.NamespacedName]{})
	_, err = inf.AddHandler(func(e informer.Event[*corev1.Pod]) { queue.Add(e.Key) }, informer.HandlerOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.NoError(t, informer.Run(ctx, func(ctx context.Context) error {
		return queue.Run(ctx, 4, func(context.Context, types.NamespacedName) error { cancel(); return nil })
	}, inf))
}
