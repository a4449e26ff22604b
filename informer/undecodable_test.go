package informer_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// newRefusingRig is a rig whose objects are refused by a transform or an index function while they
// have the label "bad".
func newRefusingRig(t *testing.T, refusedBy string, opts informer.Options[*corev1.Pod]) *rig {
	server, source := newServer(t, rest.ResourceOptions{})
	refuse := func(pod *corev1.Pod) error {
		if pod.Labels["bad"] != "" {
			return errRejected
		}
		return nil
	}
	switch refusedBy {
	case "transform":
		source = sources.Transform(source, func(pod *corev1.Pod) (*corev1.Pod, error) { return pod, refuse(pod) })
	case "index":
		opts.Store.Indexes = map[string]indexer.IndexFunc[*corev1.Pod]{"bad": func(pod *corev1.Pod) ([]string, error) { return nil, refuse(pod) }}
	}
	opts.Reflector.Backoff = reflector.Backoff{Base: 100 * time.Millisecond, Max: time.Second}
	inf, err := informer.New(source, opts)
	require.NoError(t, err)
	return &rig{t: t, server: server, informer: inf}
}

var errRejected = errors.New("it is bad")

func (r *rig) put(n int, bad bool) {
	r.t.Helper()
	pod := newPod(key(n))
	if bad {
		pod.Labels["bad"] = "yes"
	}
	_, err := r.server.Get(pods, key(n))
	if err != nil {
		_, err = r.server.Create(pod)
	} else {
		_, err = r.server.Update(pod)
	}
	require.NoError(r.t, err)
}

// undecodable returns the keys of the informer's undecodable objects.
func (r *rig) undecodable() []types.NamespacedName {
	r.t.Helper()
	synctest.Wait()
	var keys []types.NamespacedName
	status := r.informer.Status()
	for _, object := range status.Undecodable.Objects {
		require.ErrorIs(r.t, object, errRejected)
		keys = append(keys, object.Key)
	}
	err := r.informer.Healthy(time.Hour)
	if len(keys) == 0 {
		require.Zero(r.t, status.Undecodable.Count)
		require.NoError(r.t, err)
		return nil
	}
	require.Equal(r.t, len(keys), status.Undecodable.Count)
	require.ErrorIs(r.t, err, reflector.ErrUndecodable)
	require.ErrorIs(r.t, err, errRejected)
	require.ErrorContains(r.t, err, keys[0].String())
	return keys
}

// TestG2_SyncedMeansComplete: no handler is synced before every object is accepted, whether a
// transform or an index function refuses it.
func TestG2_SyncedMeansComplete(t *testing.T) {
	for _, by := range []string{"transform", "index"} {
		for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
			for _, end := range []string{"update", "delete"} {
				t.Run(by+"/"+mode.String()+"/"+end, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						r := newRefusingRig(t, by, informer.Options[*corev1.Pod]{Reflector: reflector.Options{ListMode: mode}})
						for n := range 5 {
							r.put(n, n == 3)
						}
						var mu sync.Mutex
						received := map[types.NamespacedName]int{}
						count := func(e informer.Event[*corev1.Pod]) {
							mu.Lock()
							defer mu.Unlock()
							received[e.Key]++
						}
						early := r.add(count, informer.HandlerOptions{})
						r.run()
						ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
						defer cancel()
						err := r.informer.WaitForSync(ctx)
						require.ErrorIs(t, err, context.DeadlineExceeded)
						require.ErrorIs(t, err, reflector.ErrUndecodable)
						require.ErrorIs(t, err, errRejected)
						require.ErrorContains(t, err, key(3).String())
						require.Error(t, early.WaitForSync(ctx))
						late := r.add(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{})
						require.Error(t, late.WaitForSync(ctx))
						require.Equal(t, []types.NamespacedName{key(3)}, r.undecodable())

						if end == "delete" {
							require.NoError(t, r.server.Delete(pods, key(3)))
						} else {
							r.put(3, false)
						}
						require.NoError(t, r.informer.WaitForSync(t.Context()))
						require.NoError(t, early.WaitForSync(t.Context()))
						require.NoError(t, late.WaitForSync(t.Context()))
						require.Nil(t, r.undecodable())
						require.Equal(t, r.versions(), r.stored())
						mu.Lock()
						require.Len(t, received, len(r.stored()))
						mu.Unlock()
						require.NoError(t, r.stop())
					})
				})
			}
		}
	}
}

// TestG2_AnOutdatedObjectIsReported: if a change makes an object undecodable, the store keeps the
// old state, and Status reports the object.
func TestG2_AnOutdatedObjectIsReported(t *testing.T) {
	for _, by := range []string{"transform", "index"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRefusingRig(t, by, informer.Options[*corev1.Pod]{})
				for n := range 5 {
					r.put(n, false)
				}
				r.runSynced()
				require.Nil(t, r.undecodable())
				before := r.stored()
				r.put(3, true)
				r.put(7, true)
				require.ElementsMatch(t, []types.NamespacedName{key(3), key(7)}, r.undecodable())
				require.Equal(t, before, r.stored(), "the stored objects stay")
				r.put(7, true)
				require.Len(t, r.undecodable(), 2)

				// A relist reports the object as well, and vanished objects are forgotten.
				reconnect := r.disconnect()
				require.NoError(t, r.server.Delete(pods, key(7)))
				r.put(8, true)
				reconnect()
				time.Sleep(30 * time.Second)
				require.ElementsMatch(t, []types.NamespacedName{key(3), key(8)}, r.undecodable())
				require.Equal(t, before, r.stored())

				r.put(8, false)
				require.NoError(t, r.server.Delete(pods, key(3)))
				require.Nil(t, r.undecodable())
				require.Equal(t, r.versions(), r.stored())
				require.NoError(t, r.stop())
			})
		})
	}
}

// TestSkipUndecodableIsSyncedAndHealthy: Status still names the missing objects.
func TestSkipUndecodableIsSyncedAndHealthy(t *testing.T) {
	for _, by := range []string{"transform", "index"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRefusingRig(t, by, informer.Options[*corev1.Pod]{Reflector: reflector.Options{SkipUndecodable: true}})
				handler := r.add(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{})
				for n := range 5 {
					r.put(n, n == 3)
				}
				r.runSynced()
				require.NoError(t, handler.WaitForSync(t.Context()))
				require.Len(t, r.stored(), 4)
				require.NoError(t, r.informer.Healthy(time.Hour))
				require.Equal(t, 1, r.informer.Status().Undecodable.Count)
				require.NoError(t, r.stop())
			})
		})
	}
}

// TestG2_NoObjectIsTakenForDeletedWhileAnObjectIsNameless: no missing object counts as deleted
// until a list has all names.
func TestG2_NoObjectIsTakenForDeletedWhileAnObjectIsNameless(t *testing.T) {
	inBubble(t, informer.Options[*corev1.Pod]{}, func(t *testing.T, r *rig) {
		for n := range 5 {
			r.put(n, false)
		}
		r.runSynced()
		before := r.stored()

		nameless := r.server.Inject(apitest.Fault{Verb: "list", Times: 1, Action: apitest.Body(200, "application/json",
			`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"`+r.informer.Status().Reflector.ResourceVersion+`"},"items":[{"metadata":{"namespace":"ns-1"}}]}`)})
		r.server.Inject(apitest.Fault{Verb: "watch", Times: 1, Action: apitest.Expired()})
		r.server.DropWatches("")
		time.Sleep(30 * time.Second)
		require.Equal(t, 1, nameless.Hits())
		require.Equal(t, before, r.stored())
		require.Equal(t, reflector.Undecodable{Count: 1, Nameless: 1}, r.informer.Status().Undecodable)
		require.ErrorIs(t, r.informer.Healthy(time.Hour), reflector.ErrUndecodable)
		require.ErrorContains(t, r.informer.Healthy(time.Hour), "1 of them have no readable name")

		time.Sleep(15 * time.Minute) // The watch has ended, and a list followed.
		require.NoError(t, r.informer.Healthy(time.Hour))
		require.Equal(t, r.versions(), r.stored())
	})
}
