package informer_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// mergedPods is a source of the pods in some namespaces of a server.
func mergedPods(t *testing.T, server *apitest.Server, namespaces ...string) listwatch.Source[*corev1.Pod] {
	return sources.MergeWith(sources.MergeOptions{Logger: slog.New(slog.DiscardHandler)}, podsOf(t, server, namespaces...)...)
}

func podsOf(t *testing.T, server *apitest.Server, namespaces ...string) (parts []listwatch.Source[*corev1.Pod]) {
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	for _, namespace := range namespaces {
		parts = append(parts, rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{Namespace: namespace})))
	}
	return parts
}

// newMergedRig is like newRig, for two of the rig's three namespaces.
func newMergedRig(t *testing.T, server apitest.Options, opts informer.Options[*corev1.Pod]) *rig {
	server.BookmarkInterval = 10 * time.Second
	s := apitest.New(server)
	require.NoError(t, s.ListenMemory())
	t.Cleanup(s.Close)
	opts.Reflector.Backoff = reflector.Backoff{Base: 100 * time.Millisecond, Max: time.Second}
	inf, err := informer.New(mergedPods(t, s, "ns-0", "ns-2"), opts)
	require.NoError(t, err)
	return &rig{t: t, server: s, informer: inf, random: rand.New(rand.NewPCG(1, 2))}
}

// merged returns the versions of the pods in the namespaces of a merged rig.
func (r *rig) merged() map[types.NamespacedName]string {
	all := r.versions()
	for key := range all {
		if key.Namespace == "ns-1" {
			delete(all, key)
		}
	}
	return all
}

func TestMergedSourcesAreOneStore(t *testing.T) { // G1, G2, G3, G4, G8
	for name, opts := range map[string]struct {
		server    apitest.Options
		reflector reflector.Options
	}{
		"list":           {reflector: reflector.Options{ListMode: reflector.List}},
		"list in pages":  {server: apitest.Options{PagedCacheLists: true}, reflector: reflector.Options{ListMode: reflector.List, PageSize: 2}},
		"streaming list": {reflector: reflector.Options{ListMode: reflector.WatchList}},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range testsize.Scale[uint64](4, 2) {
				synctest.Test(t, func(t *testing.T) {
					r := newMergedRig(t, opts.server, informer.Options[*corev1.Pod]{Reflector: opts.reflector})
					r.seed(seed)
					w := newWitness(r)
					r.add(w.handle, informer.HandlerOptions{})
					r.churn(30, 40, false)
					r.runSynced()
					r.settle()
					require.Equal(t, r.merged(), r.stored())
					for range 3 {
						r.churn(30, 80, true)
						r.settle()
						require.Equal(t, r.merged(), r.stored())
					}
					late := newWitness(r)
					r.add(late.handle, informer.HandlerOptions{})
					r.churn(30, 40, true)
					r.settle()
					for _, w := range []*witness{w, late} {
						require.Equal(t, r.merged(), w.versions())
						require.Empty(t, w.objections("G1"))
						require.Empty(t, w.objections("G4"))
						for _, objection := range w.objections("G3") {
							// The store's version does not show that the object has been deleted
							// since.
							require.Contains(t, objection, "has seen nothing newer")
						}
					}
					require.NoError(t, r.stop())
				})
			}
		})
	}
}

func inNamespace(namespace string) func(apitest.Request) bool {
	return func(r apitest.Request) bool { return strings.Contains(r.HTTP.URL.Path, "/"+namespace+"/") }
}

func TestMergedStoreHasTheVersionOfItsSlowestPart(t *testing.T) { // G8
	synctest.Test(t, func(t *testing.T) {
		r := newMergedRig(t, apitest.Options{}, informer.Options[*corev1.Pod]{})
		r.server.Inject(apitest.Fault{Verb: "watch", Match: inNamespace("ns-2"), Action: apitest.DelayBookmarks(time.Minute)})
		r.runSynced()
		synctest.Wait()
		began := time.Now()
		written, err := r.server.Create(newPod(key(0)))
		require.NoError(t, err)
		synctest.Wait()
		_, stored := r.informer.Store().Get(key(0))
		require.True(t, stored, "an event does not wait for the other part")

		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		require.Error(t, r.informer.Store().WaitRV(ctx, written.GetResourceVersion()), "the other part may have earlier changes")
		require.NoError(t, r.informer.Store().WaitRV(t.Context(), written.GetResourceVersion()))
		require.Greater(t, time.Since(began), time.Minute)
	})
}

func TestMergedWatchResumesEachPartAtItsVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newMergedRig(t, apitest.Options{}, informer.Options[*corev1.Pod]{})
		received := &receivedEvents{}
		r.add(received.handle, informer.HandlerOptions{})
		r.runSynced()
		for range 3 { // ns-0 is ahead, and no bookmark has arrived.
			_, err := r.server.Create(newPod(key(0)))
			require.NoError(t, err)
			require.NoError(t, r.server.Delete(pods, key(0)))
		}
		synctest.Wait()
		require.Len(t, received.take(), 6)
		r.server.DropWatches("")
		_, err := r.server.Create(newPod(key(2)))
		require.NoError(t, err)
		time.Sleep(5 * time.Second)
		require.Equal(t, []string{"Added pod-2 watch"}, received.take(), "no event is delivered twice")
		require.Zero(t, r.informer.Status().Reflector.Relists)
	})
}

func TestErrorNamesThePartThatCannotBeListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newMergedRig(t, apitest.Options{}, informer.Options[*corev1.Pod]{})
		forbidden := r.server.Inject(apitest.Fault{Verb: "list", Match: inNamespace("ns-2"), Action: apitest.Code(http.StatusForbidden, 0)})
		r.run()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := r.informer.WaitForSync(ctx)
		require.True(t, apierrors.IsForbidden(err))
		require.ErrorContains(t, err, "/namespaces/ns-2/pods")
		forbidden.Remove()
		require.NoError(t, r.informer.WaitForSync(t.Context()))
	})
}

func TestMergedStoreIsPreloadedWithoutGoingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newMergedRig(t, apitest.Options{}, informer.Options[*corev1.Pod]{})
		r.runSynced()
		for range 3 { // ns-0 is ahead of the store's version.
			_, _ = r.server.Create(newPod(key(0)))
			pod := newPod(key(0))
			pod.Labels["version"] = r.server.ResourceVersion()
			_, err := r.server.Update(pod)
			require.NoError(t, err)
		}
		synctest.Wait()
		saved := r.informer.Store().Snapshot()
		defer saved.Release()
		require.NoError(t, r.stop())
		require.NotEqual(t, r.server.ResourceVersion(), saved.ResourceVersion())

		inf, err := informer.New(mergedPods(t, r.server, "ns-0", "ns-2"), informer.Options[*corev1.Pod]{})
		require.NoError(t, err)
		require.NoError(t, informer.Preload(inf, saved.Entries(), saved.ResourceVersion()))
		next := &rig{t: t, server: r.server, informer: inf}
		received := &receivedEvents{}
		next.add(received.handle, informer.HandlerOptions{})
		_, err = r.server.Create(newPod(key(2)))
		require.NoError(t, err)
		next.runSynced()
		next.settle()
		require.Equal(t, []string{"Added pod-0 initial", "Added pod-2 watch"}, received.take())
		require.Equal(t, next.merged(), next.stored())
		require.Zero(t, inf.Status().Reflector.Relists)
	})
}

// Neither the preload's probe of the server nor a watch that breaks soon after the probe resets the
// position of a part. The objects that were ahead of the position stay as well.
func TestPreloadedMergedStoreNeverGoesBack(t *testing.T) { // G1, G2
	synctest.Test(t, func(t *testing.T) {
		r := newMergedRig(t, apitest.Options{}, informer.Options[*corev1.Pod]{})
		for n := range 3 {
			_, err := r.server.Create(newPod(key(n)))
			require.NoError(t, err)
		}
		r.runSynced()
		write := func(n int) {
			pod := newPod(key(n))
			pod.Labels["version"] = r.server.ResourceVersion()
			_, err := r.server.Update(pod)
			require.NoError(t, err)
		}
		for range 5 { // ns-0 is ahead of the store's version.
			write(0)
		}
		synctest.Wait()
		saved := r.informer.Store().Snapshot()
		defer saved.Release()
		require.NoError(t, r.stop())
		write(2) // the only write of its part

		inf, err := informer.New(mergedPods(t, r.server, "ns-0", "ns-2"), informer.Options[*corev1.Pod]{})
		require.NoError(t, err)
		require.NoError(t, informer.Preload(inf, saved.Entries(), saved.ResourceVersion()))
		next := &rig{t: t, server: r.server, informer: inf}
		w := newWitness(next)
		next.add(w.handle, informer.HandlerOptions{})
		received := &receivedEvents{}
		next.add(received.handle, informer.HandlerOptions{})
		r.server.Inject(apitest.Fault{Verb: "watch", Match: inNamespace("ns-0"), Action: apitest.DropAfterEvents(2), Times: 4})
		next.run()
		for range 5 {
			time.Sleep(50 * time.Millisecond)
			r.server.DropWatches("")
		}
		require.NoError(t, inf.WaitForSync(t.Context()))
		next.settle()
		require.Equal(t, []string{"Added pod-0 initial", "Added pod-2 initial", "Updated pod-2 watch"}, received.take())
		require.Empty(t, w.objections("G1"))
		require.Equal(t, next.merged(), next.stored())
	})
}
