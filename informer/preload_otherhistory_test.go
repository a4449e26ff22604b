package informer_test

import (
	"context"
	"net/http"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// Permission for one of several parts may have been lost since the objects were saved: handlers get
// none of its objects. If this is tolerated, handlers get the objects of the other parts.
func TestNothingIsPreloadedFromAForbiddenPart(t *testing.T) {
	for name, tolerate := range map[string]func(error) bool{"refused": nil, "tolerated": apierrors.IsForbidden} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newPartsRig(t, 3)
				r.runSynced()
				time.Sleep(2 * time.Minute)
				saved := r.informer.Store().Snapshot()
				defer saved.Release()
				require.Equal(t, 2, saved.Len())
				require.NoError(t, r.stop())

				r.server.Inject(apitest.Fault{Match: inNamespace("part-2"), Action: apitest.Code(http.StatusForbidden, 0)})
				source := sources.MergeWith(sources.MergeOptions{Tolerate: tolerate}, podsOf(t, r.server, "part-0", "part-1", "part-2")...)
				inf, err := informer.New(source, informer.Options[*corev1.Pod]{})
				require.NoError(t, err)
				require.NoError(t, informer.Preload(inf, saved.Entries(), saved.ResourceVersion()))
				next := &rig{t: t, server: r.server, informer: inf}
				received := &receivedEvents{}
				next.add(received.handle, informer.HandlerOptions{})
				next.run()
				time.Sleep(10 * time.Minute)
				if tolerate == nil {
					require.Empty(t, received.take())
					require.Zero(t, inf.Store().Len())
				} else {
					require.NoError(t, inf.WaitForSync(t.Context()))
					require.Equal(t, []string{"Added pod-0 initial"}, received.take())
				}
				require.NoError(t, next.stop())
			})
		})
	}
}

// A server that has expired the version may have another history, for instance after a restore from
// a backup. The list reveals it, and then no stored version counts as known.
func TestPreloadFromAnotherHistoryWithAnExpiredVersion(t *testing.T) { // G2
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		t.Run(mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, _ := stoppedRig(t)
				write := func(n int, value string) {
					pod := newPod(key(n))
					pod.Labels["written"] = value
					_, err := r.server.Update(pod)
					require.NoError(t, err)
				}
				backup := r.server.Backup()
				first, err := informer.New(mergedPods(t, r.server, "ns-0", "ns-1", "ns-2"), informer.Options[*corev1.Pod]{})
				require.NoError(t, err)
				r.informer = first
				write(0, "first")
				write(1, "first")
				r.runSynced()
				r.settle()
				require.NoError(t, r.stop())

				r.server.Restore(backup)
				write(0, "second") // at the same version as before
				write(2, "second")
				for range 20 {
					write(3, "second")
				}
				r.server.Compact()
				next, _ := restarted(r, informer.Options[*corev1.Pod]{Reflector: reflector.Options{ListMode: mode}})
				w := newWitness(next)
				next.add(w.handle, informer.HandlerOptions{})
				next.runSynced()
				next.settle()
				require.Equal(t, next.versions(), next.stored())
				synctest.Wait()
				require.Equal(t, next.versions(), w.versions())
				pod, _ := next.informer.Store().Get(key(0))
				require.Equal(t, "second", pod.Labels["written"])
				require.NoError(t, next.stop())
			})
		})
	}
}

// lagging is a source whose server lists the oldest permitted state.
type lagging struct {
	*fake
	old *fake
}

func (l lagging) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[*obj], error) {
	if version, _ := l.old.Listed(); opts.ResourceVersion == "" || newerThan(opts.ResourceVersion, version) {
		return l.fake.List(ctx, opts)
	}
	return l.old.List(ctx, opts)
}

func newerThan(a, b string) bool { return len(a) > len(b) || len(a) == len(b) && a > b }

func (l lagging) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[*obj], error) {
	if newerThan("17", opts.ResourceVersion) {
		return nil, apierrors.NewResourceExpired("forgotten")
	}
	return l.fake.Watch(ctx, opts)
}

// A preloaded object may be newer than the version through which the objects are complete. The list
// that follows does not replace the object by an older state.
func TestPreloadedObjectsThatAreAheadDoNotGoBack(t *testing.T) { // G1
	synctest.Test(t, func(t *testing.T) {
		current, old := newFake("30", item("a", "20", "new")), newFake("17", item("a", "16", "old"))
		var received []string
		inf := newInformer(t, lagging{current, old}, informer.Options[*obj]{})
		require.NoError(t, informer.Preload(inf, slices.Values([]indexer.Entry[*obj]{
			{Key: types.NamespacedName{Name: "a"}, Object: &obj{"a", "new"}, ResourceVersion: "20"},
			{Key: types.NamespacedName{Name: "b"}, Object: &obj{"b", "gone"}, ResourceVersion: "12"},
		}), "15"))
		_, err := inf.AddHandler(func(e informer.Event[*obj]) { received = append(received, names(e)) }, informer.HandlerOptions{})
		require.NoError(t, err)
		start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		synctest.Wait()
		slices.Sort(received)
		require.Equal(t, []string{"Added a@20", "Added b@12", "Deleted b@12"}, received)
	})
}

// A disk may be slower than the time limit for a silent server. Objects that were loaded once are
// not loaded again, unless the source's description changes.
func TestSlowLoadStillSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := stoppedRig(t)
		saved := r.informer.Store().Snapshot()
		defer saved.Release()
		source := podsOf(t, r.server, "")[0]
		describing := describedSource{Source: source, description: map[string]string{"cluster": "a"}}
		inf, err := informer.New[*corev1.Pod](describing, informer.Options[*corev1.Pod]{})
		require.NoError(t, err)
		loads := 0
		require.NoError(t, informer.PreloadFrom(inf, func(map[string]string) ([]indexer.Entry[*corev1.Pod], string, error) {
			loads++
			time.Sleep(5 * time.Minute)
			return slices.Collect(saved.Entries()), saved.ResourceVersion(), nil
		}))
		next := &rig{t: t, server: r.server, informer: inf}
		received := &receivedEvents{}
		next.add(received.handle, informer.HandlerOptions{})
		next.run()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		require.NoError(t, inf.WaitForSync(ctx))
		require.Equal(t, 1, loads)
		require.Equal(t, preloaded, received.take())
		require.NoError(t, next.stop())
	})
}

// goexitOnceSource is a source whose first Watch ends the caller's goroutine.
type goexitOnceSource struct {
	listwatch.Source[*corev1.Pod]
	left atomic.Bool
}

func (l *goexitOnceSource) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[*corev1.Pod], error) {
	if !l.left.Swap(true) {
		runtime.Goexit()
	}
	return l.Source.Watch(ctx, opts)
}

// G10: a source that ends the goroutine of a preload's probe has failed, and the probe is retried.
// The source does not count as a source with another history.
func TestGoexitInAPreloadIsAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, q := stoppedRig(t)
		saved := r.informer.Store().Snapshot()
		defer saved.Release()
		inf, err := informer.New[*corev1.Pod](&goexitOnceSource{Source: podsOf(t, r.server, "")[0]}, informer.Options[*corev1.Pod]{})
		require.NoError(t, err)
		require.NoError(t, informer.Preload(inf, saved.Entries(), saved.ResourceVersion()))
		next := &rig{t: t, server: r.server, informer: inf}
		next.run()
		time.Sleep(100 * time.Millisecond)
		require.ErrorContains(t, inf.Status().Reflector.LastError, "runtime.Goexit")
		require.NoError(t, inf.WaitForSync(t.Context()))
		require.NotContains(t, q.take(), "list")
		require.NoError(t, next.stop())
	})
}
