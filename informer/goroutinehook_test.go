package informer_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

// recordedGoroutines is an informer.Options.Goroutine hook that records which goroutines began and
// ended.
type recordedGoroutines struct {
	mu    sync.Mutex // guards following
	begun []string
	ended []string
	ctxs  []context.Context
}

func (w *recordedGoroutines) record(ctx context.Context, what informer.Goroutine, run func()) {
	name := fmt.Sprintf("%s %s %s", what.Informer, what.Stage, what.Handler)
	w.mu.Lock()
	w.begun = append(w.begun, name)
	w.ctxs = append(w.ctxs, ctx)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ended = append(w.ended, name)
	}()
	run()
}

// recorded returns the goroutines that began and the goroutines that ended, sorted.
func (w *recordedGoroutines) recorded() (begun, ended []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	begun, ended = slices.Clone(w.begun), slices.Clone(w.ended)
	slices.Sort(begun)
	slices.Sort(ended)
	return begun, ended
}

// The hook is called once in each goroutine, with a context of Run. It is called for handlers added
// before and after Run, but not for a handler that is removed before Run. All calls have returned
// when Run has returned.
func TestGoroutineHookIsCalledOncePerGoroutine(t *testing.T) {
	type mark struct{}
	synctest.Test(t, func(t *testing.T) {
		var seen recordedGoroutines
		inf := newInformer(t, newFake("1", item("a", "1", "x")), informer.Options[*obj]{Name: "objects", Goroutine: seen.record})
		add := func(name string) *informer.Registration[*obj] {
			r, err := inf.AddHandler(func(informer.Event[*obj]) {}, informer.HandlerOptions{Name: name})
			require.NoError(t, err)
			return r
		}
		add("early")
		add("never").Remove()
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), mark{}, "program"))
		result := make(chan error, 1)
		go func() { result <- inf.Run(ctx) }()
		require.NoError(t, inf.WaitForSync(ctx))
		late := add("late")
		require.NoError(t, late.WaitForSync(ctx))
		synctest.Wait()
		begun, ended := seen.recorded()
		require.Equal(t, []string{"objects handle early", "objects handle late", "objects reflect ", "objects store "}, begun)
		require.Empty(t, ended)
		for _, ctx := range seen.ctxs {
			require.Equal(t, "program", ctx.Value(mark{}))
		}
		late.Remove()
		<-late.Done()
		synctest.Wait()
		_, ended = seen.recorded()
		require.Equal(t, []string{"objects handle late"}, ended)
		cancel()
		require.NoError(t, <-result)
		_, ended = seen.recorded()
		require.Equal(t, begun, ended)
	})
}

// A slow hook delays only the goroutine that calls it.
func TestSlowGoroutineHookDelaysOnlyItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(_ context.Context, what informer.Goroutine, run func()) {
			if what.Handler == "slow" {
				time.Sleep(time.Hour)
			}
			run()
		}
		inf := newInformer(t, newFake("1", item("a", "1", "x")), informer.Options[*obj]{Goroutine: slow})
		begun := time.Now()
		delays := map[string]time.Duration{}
		var mu sync.Mutex
		for _, name := range []string{"slow", "quick"} {
			_, err := inf.AddHandler(func(informer.Event[*obj]) {
				mu.Lock()
				defer mu.Unlock()
				delays[name] = time.Since(begun)
			}, informer.HandlerOptions{Name: name})
			require.NoError(t, err)
		}
		stop := start(t, inf)
		time.Sleep(2 * time.Hour)
		stop()
		require.Equal(t, map[string]time.Duration{"slow": time.Hour, "quick": 0}, delays)
	})
}

// A faulty hook affects neither events nor the end of Run. If the hook does not call the function
// run, the informer calls it. If the hook calls it twice, the stage still runs once.
func TestGoroutineHookThatBreaksItsContract(t *testing.T) {
	for name, hook := range map[string]func(context.Context, informer.Goroutine, func()){
		"never": func(context.Context, informer.Goroutine, func()) {},
		"twice": func(_ context.Context, _ informer.Goroutine, run func()) { run(); run() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inf := newInformer(t, newFake("1", item("a", "1", "x")), informer.Options[*obj]{Goroutine: hook})
				received := 0
				r, err := inf.AddHandler(func(informer.Event[*obj]) { received++ }, informer.HandlerOptions{})
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				result := make(chan error, 1)
				go func() { result <- inf.Run(ctx) }()
				waiting, giveUp := context.WithTimeout(ctx, time.Hour)
				defer giveUp()
				require.NoError(t, r.WaitForSync(waiting))
				require.Equal(t, 1, received)
				cancel()
				require.NoError(t, <-result)
				<-r.Done()
			})
		})
	}
}

// If a hook ends the goroutine of a handler, it is not called in the goroutine that replaces it: it
// would end the replacement as well.
func TestGoroutineHookThatEndsTheGoroutineOfAHandler(t *testing.T) { // G10
	for name, early := range map[string]bool{"before run": true, "after run": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int32
				inf := newInformer(t, newFake("1", item("a", "1", "x"), item("b", "1", "x")), informer.Options[*obj]{
					Logger: slog.New(slog.DiscardHandler),
					Goroutine: func(_ context.Context, what informer.Goroutine, run func()) {
						// The bound ends the test if the hook is called again and again.
						exits := what.Stage == "handle" && calls.Add(1) < 100
						if exits && early {
							runtime.Goexit()
						}
						run()
						if exits {
							runtime.Goexit()
						}
					},
				})
				received := 0
				r, err := inf.AddHandler(func(informer.Event[*obj]) {
					if received++; received == 1 {
						runtime.Goexit()
					}
				}, informer.HandlerOptions{})
				require.NoError(t, err)
				stop := start(t, inf)
				require.NoError(t, r.WaitForSync(t.Context()))
				require.Equal(t, 2, received)
				stop()
				<-r.Done()
				if early {
					require.EqualValues(t, 1, calls.Load())
				} else {
					require.EqualValues(t, 2, calls.Load(), "the hook is called once for each goroutine")
				}
			})
		})
	}
}

// If a hook panics in the goroutine of Run, Run panics in its caller, as it does after a panic of a
// Transform. All other goroutines end.
func TestGoroutineHookThatPanicsInRunEndsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inf := newInformer(t, newFake("1", item("a", "1", "x")), informer.Options[*obj]{Goroutine: func(_ context.Context, what informer.Goroutine, run func()) {
			if what.Stage == "store" {
				panic("a bug")
			}
			run()
		}})
		r, err := inf.AddHandler(func(informer.Event[*obj]) {}, informer.HandlerOptions{})
		require.NoError(t, err)
		require.PanicsWithValue(t, "a bug", func() { _ = inf.Run(t.Context()) })
		<-r.Done()
		synctest.Wait() // The bubble fails if a goroutine is left.
	})
}

// Users of a shared informer need not agree on a hook: the first user's hook applies, like the
// first user's observers.
func TestFactoryUsesTheFirstUsersGoroutineHook(t *testing.T) {
	_, source := newServer(t, rest.ResourceOptions{})
	var factory informer.Factory
	for n := range 2 {
		hook := func(_ context.Context, _ informer.Goroutine, run func()) {
			_ = n // Two closures are two functions.
			run()
		}
		_, err := informer.Acquire(&factory, informer.Selection{Resource: pods},
			func(informer.Selection) (listwatch.Source[*corev1.Pod], error) { return source, nil }, informer.Options[*corev1.Pod]{Goroutine: hook})
		require.NoError(t, err)
	}
}
