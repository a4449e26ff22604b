package watch_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	framework "k8s.io/client-go/tools/cache/testing"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"

	"k8s.io/client-go/tools/cache"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func pod(name string) *v1.Pod { return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}} }

func hasTypeAndName(t watch.EventType, name string) watchtools.ConditionFunc {
	return func(e watch.Event) (bool, error) { return e.Type == t && e.Object.(*v1.Pod).Name == name, nil }
}

func TestUntilContinuesAfterALostWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := framework.NewFakeControllerSource()
		source.Add(pod("a"))
		w, err := watchtools.NewRetryWatcher("1", source)
		require.NoError(t, err)
		source.Add(pod("b"))
		got := <-w.ResultChan()
		require.Equal(t, "b", got.Object.(*v1.Pod).Name)
		source.ResetWatch()
		// wait until the watch is open again, because the source drops the version at the next
		// change
		time.Sleep(time.Minute)
		source.Add(pod("c"))
		got = <-w.ResultChan()
		require.Equal(t, "c", got.Object.(*v1.Pod).Name)
		w.Stop()
		<-w.Done()
		source.Shutdown()
		_, err = watchtools.NewRetryWatcher("0", source)
		require.Error(t, err)
	})
}

func TestUntilWithSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := framework.NewFakeControllerSource()
		source.Add(pod("a"))
		go func() { synctest.Wait(); source.Delete(pod("a")) }()
		e, err := watchtools.UntilWithSync(t.Context(), source, &v1.Pod{}, func(s cache.Store) (bool, error) {
			require.Len(t, s.List(), 1)
			return false, nil
		}, hasTypeAndName(watch.Added, "a"), hasTypeAndName(watch.Deleted, "a"))
		require.NoError(t, err)
		require.Equal(t, watch.Deleted, e.Type)
		source.Shutdown()
	})
}

func TestUntilWithoutRetryEndsWithWatchAndContext(t *testing.T) {
	w := watch.NewFake()
	go w.Stop()
	_, err := watchtools.UntilWithoutRetry(t.Context(), w, hasTypeAndName(watch.Added, "a"))
	require.ErrorIs(t, err, watchtools.ErrWatchClosed)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = watchtools.UntilWithoutRetry(ctx, watch.NewFake(), hasTypeAndName(watch.Added, "a"))
	require.True(t, wait.Interrupted(err))
}

// A RetryWatcher ends if its client is not permitted to watch, or if an open watch reports an
// expired version. It retries if the resource does not exist, because the resource may exist later.
// It also retries if a server rejects a version, because another server may still have the version.
func TestWhichErrorsARetryWatcherRetries(t *testing.T) {
	status := func(code int32, reason metav1.StatusReason) *metav1.Status {
		return &metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason}
	}
	sent := func(e watch.Event) func() (watch.Interface, error) {
		return func() (watch.Interface, error) {
			w := watch.NewFakeWithChanSize(1, false)
			w.Action(e.Type, e.Object)
			return w, nil
		}
	}
	refused := func(s *metav1.Status) func() (watch.Interface, error) {
		return func() (watch.Interface, error) { return nil, &apierrors.StatusError{ErrStatus: *s} }
	}
	for name, c := range map[string]struct {
		first func() (watch.Interface, error)
		again bool
	}{
		"not found":           {refused(status(404, metav1.StatusReasonNotFound)), true},
		"expired":             {refused(status(410, metav1.StatusReasonExpired)), true},
		"gone":                {refused(status(410, metav1.StatusReasonGone)), true},
		"no watch":            {func() (watch.Interface, error) { return nil, nil }, true},
		"forbidden":           {refused(status(403, metav1.StatusReasonForbidden)), false},
		"a forbidden event":   {sent(watch.Event{Type: watch.Error, Object: status(403, metav1.StatusReasonForbidden)}), true},
		"an expired event":    {sent(watch.Event{Type: watch.Error, Object: status(410, metav1.StatusReasonExpired)}), false},
		"an event of no type": {sent(watch.Event{Type: "ODD", Object: pod("a")}), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				lw := &cache.ListWatch{WatchFunc: func(metav1.ListOptions) (watch.Interface, error) {
					if calls++; calls == 1 {
						return c.first()
					}
					found := pod("a")
					found.ResourceVersion = "7"
					return sent(watch.Event{Type: watch.Added, Object: found})()
				}}
				w, err := watchtools.NewRetryWatcher("1", lw)
				require.NoError(t, err)
				event := <-w.ResultChan()
				if c.again {
					require.Equal(t, watch.Added, event.Type)
				} else {
					require.Equal(t, watch.Error, event.Type)
				}
				w.Stop()
				<-w.Done()
			})
		})
	}
}

func TestARetryWatcherWithAnEndedContextOpensNoWatch(t *testing.T) { // as in client-go
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	opened := false
	w, err := watchtools.NewRetryWatcherWithContext(ctx, "1", &cache.ListWatch{WatchFunc: func(metav1.ListOptions) (watch.Interface, error) {
		opened = true
		return watch.NewFake(), nil
	}})
	require.NoError(t, err)
	<-w.Done()
	require.False(t, opened)
}

// kubectl and other programs print the text.
func TestTheEndOfAContextIsATimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := watchtools.UntilWithoutRetry(ctx, watch.NewFake(), hasTypeAndName(watch.Added, "a"))
	require.EqualError(t, err, "timed out waiting for the condition")
	require.True(t, wait.Interrupted(err))
	unbounded, cancel := watchtools.ContextWithOptionalTimeout(t.Context(), -1)
	defer cancel()
	_, bounded := unbounded.Deadline()
	require.False(t, bounded)
}
