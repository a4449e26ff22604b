package workqueue_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// hostile is an error that panics in one of its methods.
type hostile struct{ in string }

func (h *hostile) Error() string      { return h.reach("Error", "hostile") }
func (h *hostile) Unwrap() error      { h.reach("Unwrap", ""); return nil }
func (h *hostile) Is(error) bool      { return h.reach("Is", "") == "never" }
func (h *hostile) As(target any) bool { return h.reach("As", "") == "never" }
func (h *hostile) reach(method, text string) string {
	if h.in == method {
		panic("in " + method)
	}
	return text
}

// loop is an error that wraps itself.
type loop struct{}

func (l *loop) Error() string { return "loop" }
func (l *loop) Unwrap() error { return l }

// A reconcile may return an error that panics when it is examined, in every form in which a result
// may be wrapped. The error counts as a normal failure: it is logged, reported and retried, and
// other keys go on.
func TestErrorsThatPanicAreFailures(t *testing.T) {
	t.Parallel()
	var nilPath *fs.PathError
	for name, result := range map[string]error{
		"Unwrap": &hostile{"Unwrap"}, "Is": &hostile{"Is"}, "As": &hostile{"As"}, "Error": &hostile{"Error"},
		"a cycle": &loop{}, "a nil pointer": nilPath, "a nil pointer of ours": (*workqueue.DrainError)(nil),
	} {
		for way, wrapped := range map[string]func() error{
			"plain":            func() error { return result },
			"joined":           func() error { return errors.Join(errors.New("another"), result) },
			"beside a requeue": func() error { return errors.Join(workqueue.RequeueAfter(time.Hour), result) },
			"panicked":         func() error { panic(result) },
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var log bytes.Buffer
					var reported error
					q := workqueue.New(workqueue.Options[string]{
						Logger:   slog.New(slog.NewTextHandler(&log, nil)),
						Observer: &workqueue.Observer[string]{OnError: func(_ string, err error) { reported = err }},
					})
					runs := map[string]int{}
					ctx, cancel := context.WithCancel(t.Context())
					ended := make(chan error)
					go func() {
						ended <- q.Run(ctx, 1, func(_ context.Context, key string) error {
							if runs[key]++; key == "odd" && runs[key] == 1 {
								return wrapped()
							}
							return nil
						})
					}()
					q.Add("odd")
					q.Add("other")
					time.Sleep(time.Minute)
					synctest.Wait()
					require.Equal(t, map[string]int{"odd": 2, "other": 1}, runs)
					require.NotPanics(t, func() { require.NotErrorIs(t, reported, fs.ErrExist) })
					require.Contains(t, log.String(), "reconcile failed")
					require.EqualValues(t, 1, q.Stats().Failures)
					cancel()
					require.NoError(t, <-ended)
				})
			})
		}
	}
}

// A function passed to Park may return such an error as well.
func TestErrorsOfParkThatPanicFreeTheKey(t *testing.T) {
	t.Parallel()
	for _, failed := range []error{&hostile{"Unwrap"}, &hostile{"Error"}, &loop{}} {
		synctest.Test(t, func(t *testing.T) {
			q := workqueue.New(workqueue.Options[string]{Logger: slog.New(slog.DiscardHandler)})
			q.Park("a", func(context.Context) error { return failed })
			q.Add("a")
			synctest.Wait()
			_, ok := q.TryGet()
			require.True(t, ok)
			q.Done("a")
			require.NoError(t, q.Drain(t.Context()))
		})
	}
}

// limiter is a custom rate limiter.
type limiter struct{ reach func(method string) }

func (l limiter) When(string) time.Duration { l.reach("When"); return time.Millisecond }
func (l limiter) Forget(string)             { l.reach("Forget") }
func (l limiter) NumRequeues(string) int    { l.reach("NumRequeues"); return 0 }

// handler is a program's log handler.
type handler struct {
	slog.Handler
	reach func(string)
}

func (h handler) Enabled(context.Context, slog.Level) bool        { h.reach("Enabled"); return true }
func (h handler) Handle(ctx context.Context, r slog.Record) error { h.reach("Handle"); return nil }

// Every function that a program gives to a queue may panic or end its goroutine, at every call or
// once. No key is lost: each key runs, is retried after its failure, and the queue can be drained.
// The queue counts and logs these failures.
func TestFunctionsThatPanicLoseNoKey(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"OnAdd", "OnMerged", "OnGet", "OnDone", "OnRetry", "OnError", "When", "Forget", "NumRequeues", "Group", "Weight", "Enabled", "Handle"} {
		for how, end := range map[string]func(){"panics": func() { panic("a bug") }, "exits": runtime.Goexit} {
			for often, limit := range map[string]int{"once": 1, "always": 1 << 30} {
				if how == "exits" && often == "always" {
					continue // If a function always ends the goroutine, no worker remains.
				}
				t.Run(at+" "+how+" "+often, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						var mu sync.Mutex // guards following
						calls := 0
						working := false
						reach := func(name string) {
							mu.Lock()
							hit := name == at && working
							if hit {
								calls++
							}
							now := calls
							mu.Unlock()
							if hit && now <= limit {
								end()
							}
						}
						var log bytes.Buffer
						logger := slog.New(slog.NewTextHandler(&log, nil))
						if at == "Enabled" || at == "Handle" {
							logger = slog.New(handler{reach: reach})
						}
						q := workqueue.New(workqueue.Options[string]{
							RateLimiter: limiter{reach},
							Group:       func(string) string { reach("Group"); return "g" },
							Weight:      func(string) int { reach("Weight"); return 1 },
							Logger:      logger,
							Observer: &workqueue.Observer[string]{
								OnAdd:    func(string) { reach("OnAdd") },
								OnMerged: func(string) { reach("OnMerged") },
								OnGet:    func(workqueue.Item[string]) { reach("OnGet") },
								OnDone:   func(string, time.Duration) { reach("OnDone") },
								OnRetry:  func(string, time.Duration) { reach("OnRetry") },
								OnError:  func(string, error) { reach("OnError") },
							},
						})
						runs := map[string]int{}
						ended := make(chan error, 1)
						stop, cancel := context.WithCancel(t.Context())
						for _, key := range []string{"a", "b", "a"} {
							q.Add(key)
						}
						working = true
						go func() {
							ended <- q.RunUntil(t.Context(), stop, 2, func(_ context.Context, key string) error {
								mu.Lock()
								runs[key]++
								first := runs[key] == 1
								mu.Unlock()
								if first {
									return errors.New("the first turn fails")
								}
								if len(key) == 1 {
									q.Add("after " + key)
									q.Add("after " + key)
								}
								return nil
							})
						}()
						time.Sleep(time.Hour)
						synctest.Wait()
						for _, key := range []string{"a", "b", "after a", "after b"} {
							require.GreaterOrEqual(t, runs[key], 2, "%s: %v", key, runs)
						}
						require.NotZero(t, calls)
						require.NotZero(t, q.Stats().HookPanics)
						if at != "Enabled" && at != "Handle" {
							require.Contains(t, log.String(), "a function of the program")
						}
						cancel()
						require.NoError(t, <-ended)
						require.Zero(t, q.Stats().Processing)
					})
				})
			}
		}
	}
}

// If a hook ends the goroutine at every key, each key delays a worker by a second. The queue does
// not use a whole CPU.
func TestAHookThatAlwaysEndsTheGoroutineCausesNoBusyLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		q := workqueue.New(workqueue.Options[string]{
			Logger: slog.New(slog.DiscardHandler),
			Observer: &workqueue.Observer[string]{OnGet: func(workqueue.Item[string]) {
				if calls.Add(1) < 1000 { // a bound, so that the test ends
					runtime.Goexit()
				}
			}},
		})
		q.Add("a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, q.Run(ctx, 2, func(context.Context, string) error { return nil }))
		require.InDelta(t, 60, calls.Load(), 1)
	})
}

// A hook may also end the goroutine of the add that follows. The key is still not lost.
func TestHooksThatEndOneGoroutineLoseNoKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var gets, retries atomic.Int32
		once := func(calls *atomic.Int32) {
			if calls.Add(1) == 1 {
				runtime.Goexit()
			}
		}
		q := workqueue.New(workqueue.Options[string]{
			Logger: slog.New(slog.DiscardHandler),
			Observer: &workqueue.Observer[string]{
				OnGet:   func(workqueue.Item[string]) { once(&gets) },
				OnRetry: func(string, time.Duration) { once(&retries) },
			},
		})
		q.Add("a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		runs := 0
		require.NoError(t, q.Run(ctx, 1, func(context.Context, string) error { runs++; return nil }))
		require.Equal(t, 1, runs)
		require.Zero(t, q.Stats().Processing)
	})
}
