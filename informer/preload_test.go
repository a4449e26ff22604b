package informer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// restarted returns a rig with a new informer on the same server. The informer is preloaded with
// the objects of r, and its handler records its events.
func restarted(r *rig, opts informer.Options[*corev1.Pod]) (*rig, *receivedEvents) {
	saved := r.informer.Store().Snapshot()
	defer saved.Release()
	client, err := rest.NewClient(rest.Config{Host: r.server.URL(), DialContext: r.server.DialContext}, rest.Options{})
	require.NoError(r.t, err)
	r.t.Cleanup(client.Close)
	opts.Reflector.Backoff = reflector.Backoff{Base: 100 * time.Millisecond, Max: time.Second}
	inf, err := informer.New(rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{})), opts)
	require.NoError(r.t, err)
	require.NoError(r.t, informer.Preload(inf, saved.Entries(), saved.ResourceVersion()))
	next := &rig{t: r.t, server: r.server, informer: inf, random: r.random}
	t := &receivedEvents{}
	next.add(t.handle, informer.HandlerOptions{})
	return next, t
}

// receivedEvents records the events of a handler, a line each.
type receivedEvents struct {
	mu    sync.Mutex // guards following
	lines []string
}

func (t *receivedEvents) handle(e informer.Event[*corev1.Pod]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, fmt.Sprintf("%v %v %v", e.Type, e.Key.Name, e.Cause))
}

// take returns the lines since the last call, sorted.
func (t *receivedEvents) take() []string {
	synctest.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := slices.Sorted(slices.Values(t.lines))
	t.lines = nil
	return lines
}

// requests counts the requests to a server: watches, and lists of more than a single object.
type requests struct {
	mu     sync.Mutex // guards following
	counts map[string]int
}

func (q *requests) count(r apitest.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.Verb == "list" && r.HTTP.URL.Query().Get("limit") == "1" {
		return
	}
	q.counts[r.Verb]++
}

func (q *requests) take() map[string]int {
	q.mu.Lock()
	defer q.mu.Unlock()
	counts := maps.Clone(q.counts)
	clear(q.counts)
	return counts
}

// stoppedRig returns a rig whose informer has stored pods 0 to 3 and ended, and counts the requests
// from then on.
func stoppedRig(t *testing.T) (*rig, *requests) {
	q := &requests{counts: map[string]int{}}
	server := apitest.New(apitest.Options{BookmarkInterval: 10 * time.Second, OnRequest: q.count})
	require.NoError(t, server.ListenMemory())
	t.Cleanup(server.Close)
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	inf, err := informer.New(rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{})), informer.Options[*corev1.Pod]{})
	require.NoError(t, err)
	r := &rig{t: t, server: server, informer: inf, random: rand.New(rand.NewPCG(1, 2))}
	for n := range 4 {
		_, err := r.server.Create(newPod(key(n)))
		require.NoError(t, err)
	}
	r.runSynced()
	r.settle()
	require.NoError(t, r.stop())
	q.take()
	return r, q
}

// changeWhileStopped deletes pod 1, updates pod 2 and creates pod 9.
func (r *rig) changeWhileStopped() {
	require.NoError(r.t, r.server.Delete(pods, key(1)))
	changed := newPod(key(2))
	changed.Labels["changed"] = "yes"
	_, err := r.server.Update(changed)
	require.NoError(r.t, err)
	_, err = r.server.Create(newPod(key(9)))
	require.NoError(r.t, err)
}

var preloaded = []string{"Added pod-0 initial", "Added pod-1 initial", "Added pod-2 initial", "Added pod-3 initial"}

func TestPreloadedInformerResumesWithoutAList(t *testing.T) {
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		t.Run(mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, q := stoppedRig(t)
				r.changeWhileStopped()
				next, received := restarted(r, informer.Options[*corev1.Pod]{Reflector: reflector.Options{ListMode: mode}})
				next.runSynced()
				require.NotContains(t, q.take(), "list")
				next.settle()
				require.Equal(t, slices.Concat(preloaded, []string{"Added pod-9 watch", "Deleted pod-1 watch", "Updated pod-2 watch"}), sortedAs(received.take()))
				require.Equal(t, next.versions(), next.stored())
				require.Equal(t, mode, next.informer.Status().Reflector.ListMode)

				// From now on the informer behaves like any other: a relist requests a list.
				next.disconnect()()
				require.NoError(t, next.server.Delete(pods, key(0)))
				next.settle()
				require.Equal(t, next.versions(), next.stored())
			})
		})
	}
}

func TestPreloadedInformerListsChangesAfterExpiry(t *testing.T) {
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		t.Run(mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, q := stoppedRig(t)
				r.changeWhileStopped()
				r.server.Compact()
				decoded := 0
				next, received := restarted(r, informer.Options[*corev1.Pod]{Reflector: reflector.Options{
					ListMode: mode,
					Observer: &reflector.Observer{OnItem: func(i reflector.ItemInfo) {
						if i.State == listwatch.Decoded {
							decoded++
						}
					}},
				}})
				next.runSynced()
				if mode == reflector.List {
					require.Equal(t, 1, q.take()["list"])
					require.Equal(t, 2, decoded, "unchanged objects are not decoded")
				}
				next.settle()
				require.Equal(t, slices.Concat(preloaded, []string{"Added pod-9 initial", "Deleted pod-1 relist", "Updated pod-2 relist"}), sortedAs(received.take()))
				require.Equal(t, next.versions(), next.stored())
			})
		})
	}
}

func TestPreloadedObjectsAreNotASync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := stoppedRig(t)
		outage := []*apitest.InjectedFault{
			r.server.Inject(apitest.Fault{Verb: "watch", Action: apitest.Code(503, 0)}),
			r.server.Inject(apitest.Fault{Verb: "list", Action: apitest.Code(503, 0)}),
		}
		next, received := restarted(r, informer.Options[*corev1.Pod]{})
		registration := next.add(received.handle, informer.HandlerOptions{Name: "second"})
		next.run()
		time.Sleep(time.Minute)
		require.Empty(t, received.take(), "handlers receive nothing before the server has agreed")
		require.Zero(t, next.informer.Store().Len())
		require.False(t, next.informer.Status().Synced)
		require.Error(t, next.informer.Status().Reflector.LastError)
		for _, fault := range outage {
			fault.Remove()
		}
		require.NoError(t, next.informer.WaitForSync(t.Context()))
		require.NoError(t, registration.WaitForSync(t.Context()))
		require.Equal(t, slices.Sorted(slices.Values(append(preloaded, preloaded...))), received.take())
	})
}

// Objects that were saved from another cluster, or from another history, do not reach handlers,
// whether the server's versions are lower or higher than the saved ones.
func TestPreloadFromAnotherHistoryLeadsToAList(t *testing.T) {
	for name, writes := range map[string]int{"behind": 0, "passed": 200} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				old, _ := stoppedRig(t)
				for range 100 {
					_, err := old.server.Update(labelled(old))
					require.NoError(t, err)
				}
				saved := old.informer.Store().Snapshot()
				defer saved.Release()
				version := old.server.ResourceVersion()
				if writes > 0 {
					version = saved.ResourceVersion()
				}
				other := newRig(t, informer.Options[*corev1.Pod]{})
				// The old server has this object as well.
				_, err := other.server.Create(newPod(key(0)))
				require.NoError(t, err)
				for range writes {
					_, err = other.server.Update(labelled(other))
					require.NoError(t, err)
				}
				require.NoError(t, informer.Preload(other.informer, saved.Entries(), version))
				received := &receivedEvents{}
				other.add(received.handle, informer.HandlerOptions{})
				other.runSynced()
				require.Equal(t, []string{"Added pod-0 initial"}, received.take())
				require.Equal(t, other.versions(), other.stored())
				other.settle()
			})
		})
	}
}

// If a resource can be listed but not watched, a preloaded informer syncs like any other.
func TestPreloadedInformerListsIfItMayNotWatch(t *testing.T) {
	for _, code := range []int{403, 405, 504, 404, 500} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, _ := stoppedRig(t)
				r.changeWhileStopped()
				r.server.Inject(apitest.Fault{Verb: "watch", Action: apitest.Code(code, 0)})
				next, received := restarted(r, informer.Options[*corev1.Pod]{})
				next.run()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				require.NoError(t, next.informer.WaitForSync(ctx))
				require.Equal(t, slices.Concat(preloaded, []string{"Added pod-9 initial", "Deleted pod-1 relist", "Updated pod-2 relist"}), sortedAs(received.take()))
				require.Equal(t, next.versions(), next.stored())
			})
		})
	}
}

func TestNothingIsPreloadedForAForbiddenUser(t *testing.T) {
	for _, code := range []int{401, 403} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, _ := stoppedRig(t)
				r.server.Inject(apitest.Fault{Action: apitest.Code(code, 0)})
				next, received := restarted(r, informer.Options[*corev1.Pod]{})
				next.run()
				time.Sleep(time.Hour)
				require.Empty(t, received.take())
				require.Zero(t, next.informer.Store().Len())
				require.NoError(t, next.stop())
			})
		})
	}
}

func TestPreloadedObjectThatIsNotIndexedIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := stoppedRig(t)
		next, received := restarted(r, informer.Options[*corev1.Pod]{Store: indexer.Options[*corev1.Pod]{Indexes: map[string]indexer.IndexFunc[*corev1.Pod]{
			"label": func(pod *corev1.Pod) ([]string, error) {
				if pod.Name == "pod-1" {
					return nil, errors.New("no such label")
				}
				return nil, nil
			},
		}}})
		next.run()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := next.informer.WaitForSync(ctx)
		require.ErrorContains(t, err, key(1).String(), "synced means complete")
		require.ErrorContains(t, err, "no such label")
		require.Equal(t, []string{"Added pod-0 initial", "Added pod-2 initial", "Added pod-3 initial"}, received.take())
		require.NoError(t, next.stop())
	})
}

func labelled(r *rig) *corev1.Pod {
	obj, err := r.server.Get(pods, key(0))
	require.NoError(r.t, err)
	pod := obj.(*corev1.Pod)
	pod.Labels["n"] = pod.ResourceVersion
	return pod
}

func TestPreloadRefusesInvalidArguments(t *testing.T) {
	t.Parallel()
	entries := slices.Values([]indexer.Entry[*corev1.Pod]{{Key: key(1), Object: newPod(key(1)), ResourceVersion: "3"}})
	fresh := func(opts informer.Options[*corev1.Pod]) *informer.Informer[*corev1.Pod] {
		inf, err := informer.New(rest.Must(rest.NewResource[*corev1.Pod](nowhere(t), pods, rest.ResourceOptions{})), opts)
		require.NoError(t, err)
		return inf
	}

	inf := fresh(informer.Options[*corev1.Pod]{})
	require.ErrorContains(t, informer.Preload(inf, entries, "0"), "needs the resourceVersion")
	require.NoError(t, informer.Preload(inf, entries, "7"))
	require.ErrorContains(t, informer.Preload(inf, entries, "8"), "the store is empty", "twice")

	inf = fresh(informer.Options[*corev1.Pod]{})
	_, err := inf.AddHandler(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{})
	require.NoError(t, err)
	require.ErrorContains(t, informer.Preload(inf, entries, "7"), "before AddHandler")
}

// sortedAs sorts the events of preloaded objects first.
func sortedAs(lines []string) []string {
	slices.SortStableFunc(lines, func(a, b string) int {
		return strings.Compare(fmt.Sprint(!slices.Contains(preloaded, a)), fmt.Sprint(!slices.Contains(preloaded, b)))
	})
	return lines
}

func TestPreloadSurvivesFaults(t *testing.T) { // G1, G2
	for seed := range testsize.Scale[uint64](5, 3) {
		synctest.Test(t, func(t *testing.T) {
			r, _ := stoppedRig(t)
			r.seed(seed)
			for range 4 {
				r.churn(20, 20, false)
				if r.random.IntN(2) == 0 {
					r.server.Compact()
				}
				next, _ := restarted(r, informer.Options[*corev1.Pod]{})
				w := newWitness(next)
				next.add(w.handle, informer.HandlerOptions{})
				for range r.random.IntN(3) {
					next.fault()
				}
				next.runSynced()
				next.churn(20, 60, true)
				next.settle()
				require.Equal(t, next.versions(), next.stored())
				synctest.Wait()
				require.Equal(t, next.versions(), w.versions())
				for _, guarantee := range []string{"G1", "G3", "G4"} {
					require.Empty(t, w.objections(guarantee), guarantee)
				}
				require.NoError(t, next.stop())
				r = next
			}
		})
	}
}

func TestAPreloadThatFailsIsLoggedAndTheInformerLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, requests := stoppedRig(t)
		client, err := rest.NewClient(rest.Config{Host: r.server.URL(), DialContext: r.server.DialContext}, rest.Options{})
		require.NoError(t, err)
		defer client.Close()
		var log strings.Builder
		inf, err := informer.New(rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{})), informer.Options[*corev1.Pod]{
			Preload: func(*informer.Informer[*corev1.Pod]) error { return errors.New("no file") },
			Logger:  slog.New(slog.NewTextHandler(&log, nil)),
		})
		require.NoError(t, err)
		require.Contains(t, log.String(), `level=WARN msg="nothing is preloaded, so the informer begins with a list" informer=*v1.Pod err="no file"`)
		next := &rig{t: t, server: r.server, informer: inf, random: r.random}
		next.runSynced()
		synctest.Wait() // The watch follows.
		require.NoError(t, next.stop())
		require.Equal(t, 4, inf.Store().Len())
		require.Equal(t, map[string]int{"list": 1, "watch": 1}, requests.take())
	})
}
