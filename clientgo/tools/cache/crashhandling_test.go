package cache

import (
	"bytes"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// The stack must not grow if a function calls runtime.Goexit at each call.
func TestGoexitDoesNotDeepenTheStack(t *testing.T) {
	var depths []int
	var running sync.WaitGroup
	running.Go(func() {
		retryAfterPanicOrGoexit(t.Context(), func() bool { return len(depths) < 50 }, func() {
			depths = append(depths, runtime.Callers(0, make([]uintptr, 10_000)))
			runtime.Goexit()
		})
	})
	running.Wait()
	require.Len(t, depths, 50)
	require.Equal(t, depths[5], depths[49])
}

// A write panics only if an index function has failed on its own objects, whatever other goroutines
// write at the same time.
func TestAWritePanicsOnlyForIndexFailuresOfItsOwnObjects(t *testing.T) {
	failed, release := make(chan struct{}), make(chan struct{})
	calls := 0
	fn := func(obj any) ([]string, error) { // one of the two indexes fails, then the other blocks
		if obj.(*v1.Pod).Name == "bad" {
			if calls++; calls == 1 {
				return nil, errIndex
			}
			close(failed)
			<-release
		}
		return nil, nil
	}
	store := NewThreadSafeStore(Indexers{"x": fn, "y": fn}, nil)
	var running sync.WaitGroup
	running.Go(func() {
		defer func() { require.ErrorIs(t, recover().(error), errIndex) }()
		store.Add("bad", testPod("", "bad", "1"))
		t.Error("the write must panic")
	})
	<-failed
	require.NotPanics(t, func() { store.Add("good", testPod("", "good", "2")) })
	require.NotPanics(t, func() { store.Replace(map[string]any{"good": testPod("", "good", "3")}, "3") })
	require.NotPanics(t, func() {
		require.NoError(t, store.AddIndexers(Indexers{"z": func(any) ([]string, error) { return nil, nil }}))
	})
	close(release)
	running.Wait()
	require.NotPanics(t, func() { store.Delete("bad") })
}

// An index function that fails on every object of a list logs one stack trace.
func TestAFailingIndexFunctionIsLoggedOncePerList(t *testing.T) {
	var log bytes.Buffer
	klog.SetSlogLogger(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(klog.ClearLogger)
	store := NewThreadSafeStore(Indexers{"x": func(any) ([]string, error) { panic("on purpose") }}, nil)
	items := map[string]any{"no pointer": []string{"a"}, "nil": nil}
	for i := range 100 {
		items[fmt.Sprint(i)] = testPod("", fmt.Sprint(i), "1")
	}
	require.PanicsWithValue(t, "on purpose", func() { store.Replace(items, "1") })
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("An index function panicked")), "%s", &log)
	require.Len(t, store.List(), len(items))
	require.NotPanics(t, func() { store.Delete("0") })
	require.Empty(t, store.(*threadSafeMap).failures)
}
