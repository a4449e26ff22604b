package informer_test

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// Observers of all stages may panic: the informer goes on, and logs the panics of each observer
// once.
func TestObserversThatPanicStopNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		opts := informer.Options[*obj]{
			Logger:   slog.New(slog.NewTextHandler(&log, nil)),
			Observer: &informer.Observer{OnApplied: func(informer.AppliedInfo) { panic("a bug") }, OnDeliver: func(informer.DeliverInfo) { panic("a bug") }, Sample: func(types.NamespacedName) func(informer.DeliverInfo) { panic("a bug") }},
			Queue:    deltafifo.Options{Observer: &deltafifo.Observer{OnDelta: func(types.NamespacedName, deltafifo.DeltaType, string) { panic("a bug") }, OnBatch: func(deltafifo.BatchInfo) { panic("a bug") }}},
			Store:    indexer.Options[*obj]{Observer: &indexer.Observer{OnApplied: func(indexer.AppliedInfo) { panic("a bug") }, OnWaited: func(indexer.WaitedInfo) { panic("a bug") }}},
			Reflector: reflector.Options{
				OnError: func(reflector.Error) { panic("a bug") },
				Observer: &reflector.Observer{
					OnPhase: func(reflector.PhaseChange) { panic("a bug") }, OnPage: func(reflector.PageInfo) { panic("a bug") },
					OnItem: func(reflector.ItemInfo) { panic("a bug") }, OnEvent: func(reflector.EventInfo) { panic("a bug") }, OnWait: func(time.Duration) { panic("a bug") },
				},
			},
		}
		f := newFake("2", item("a", "1", "x"), item("b", "2", "x"))
		inf := newInformer(t, f, opts)
		received := map[string]int{}
		_, err := inf.AddHandler(func(e informer.Event[*obj]) { received[e.Key.Name]++ }, informer.HandlerOptions{})
		require.NoError(t, err)
		stop := start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		f.Events <- ev(listwatch.Added, "c", "3", "x")
		require.NoError(t, inf.Store().WaitRV(t.Context(), "3"))
		synctest.Wait()
		require.Equal(t, map[string]int{"a": 1, "b": 1, "c": 1}, received)
		require.NotZero(t, inf.Status().HookPanics)
		for _, hook := range []string{
			"Observer.OnApplied", "Observer.Sample", "Queue.Observer.OnDelta", "Queue.Observer.OnBatch", "Store.Observer.OnApplied",
			"Reflector.Observer.OnPhase", "Reflector.Observer.OnItem", "Reflector.Observer.OnEvent",
		} {
			require.Equal(t, 1, strings.Count(log.String(), "function="+hook+" "), "%s: %s", hook, &log)
		}
		stop()
	})
}

// panickingHandler is a log handler that panics.
type panickingHandler struct{ slog.Handler }

func (panickingHandler) Enabled(context.Context, slog.Level) bool { panic("a bug") }

// A handler, an observer and the logger may all panic: the informer goes on.
func TestALoggerThatPanicsStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("2", item("a", "1", "x"), item("b", "2", "x"))
		inf := newInformer(t, f, informer.Options[*obj]{
			Logger:   slog.New(panickingHandler{slog.DiscardHandler}),
			Observer: &informer.Observer{OnApplied: func(informer.AppliedInfo) { panic("a bug") }},
		})
		received := map[string]int{}
		_, err := inf.AddHandler(func(e informer.Event[*obj]) { received[e.Key.Name]++; panic("a bug") }, informer.HandlerOptions{})
		require.NoError(t, err)
		stop := start(t, inf)
		f.Events <- ev(listwatch.Added, "c", "3", "x")
		synctest.Wait()
		require.Equal(t, map[string]int{"a": 1, "b": 1, "c": 1}, received)
		stop()
	})
}

// An observer that is called before a handler may end the goroutine. The handler still gets the
// event.
func TestAnObserverThatEndsTheGoroutineLosesNoEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("2", item("a", "1", "x"), item("b", "2", "x"))
		inf := newInformer(t, f, informer.Options[*obj]{
			Logger:   slog.New(slog.DiscardHandler),
			Observer: &informer.Observer{Sample: func(types.NamespacedName) func(informer.DeliverInfo) { runtime.Goexit(); return nil }},
		})
		received := map[string]int{}
		_, err := inf.AddHandler(func(e informer.Event[*obj]) { received[e.Key.Name]++ }, informer.HandlerOptions{})
		require.NoError(t, err)
		stop := start(t, inf)
		f.Events <- ev(listwatch.Added, "c", "3", "x")
		synctest.Wait()
		require.Equal(t, map[string]int{"a": 1, "b": 1, "c": 1}, received)
		stop()
	})
}
