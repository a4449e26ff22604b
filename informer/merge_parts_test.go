package informer_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
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
	"github.com/kinform/kinform/reflector"
)

// newPartsRig is a rig for many namespaces with one pod each, and the reflector's default time
// limits.
func newPartsRig(t *testing.T, parts int) *rig {
	s := apitest.New(apitest.Options{BookmarkInterval: time.Minute})
	require.NoError(t, s.ListenMemory())
	t.Cleanup(s.Close)
	var namespaces []string
	for n := range parts {
		namespaces = append(namespaces, fmt.Sprintf("part-%d", n))
		if n%2 == 0 && n < 10 { // The other namespaces are empty, so they never send an item.
			_, err := s.Create(newPod(partKey(n)))
			require.NoError(t, err)
		}
	}
	inf, err := informer.New(mergedPods(t, s, namespaces...), informer.Options[*corev1.Pod]{})
	require.NoError(t, err)
	return &rig{t: t, server: s, informer: inf, random: rand.New(rand.NewPCG(1, 2))}
}

func partKey(n int) types.NamespacedName {
	return types.NamespacedName{Namespace: fmt.Sprintf("part-%d", n), Name: fmt.Sprintf("pod-%d", n)}
}

// within fails the test unless the object is stored within the limit.
func (r *rig) within(limit time.Duration, key types.NamespacedName) {
	r.t.Helper()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		synctest.Wait()
		if _, stored := r.informer.Store().Get(key); stored {
			return
		}
		require.Less(r.t, time.Since(began), limit, "%v is not stored", key)
	}
}

func TestManyMergedPartsAreListedInTime(t *testing.T) {
	for parts, delay := range map[int]time.Duration{
		100: 700 * time.Millisecond,
		200: 4 * time.Second, // 100 s in all, longer than a list may be silent
	} {
		t.Run(fmt.Sprintf("%d parts at %v", parts, delay), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newPartsRig(t, parts)
				var requests atomic.Int64
				r.server.Inject(apitest.Fault{Verb: "list", Action: apitest.Delay(delay), Match: func(apitest.Request) bool { requests.Add(1); return true }})
				r.run()
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(parts)*delay/4)
				defer cancel()
				require.NoError(t, r.informer.WaitForSync(ctx))
				require.Zero(t, r.informer.Status().Reflector.Errors)
				require.EqualValues(t, parts, requests.Load(), "each part is listed once")
				require.Equal(t, 5, r.informer.Store().Len())
			})
		})
	}
}

func TestManyMergedPartsAreWatchedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPartsRig(t, 100)
		r.server.Inject(apitest.Fault{Verb: "watch", Action: apitest.Delay(2 * time.Second)})
		r.runSynced()
		for _, n := range []int{99, 51, 1} {
			_, err := r.server.Create(newPod(partKey(n)))
			require.NoError(t, err)
		}
		began := time.Now()
		for _, n := range []int{99, 51, 1} {
			r.within(26*time.Second-time.Since(began), partKey(n)) // 13 rounds of 8 watches
		}
		require.Zero(t, r.informer.Status().Reflector.Errors)
		require.NoError(t, r.informer.Store().WaitRV(t.Context(), r.server.ResourceVersion()))
	})
}

// A dead part is detected within its own time limit, and only its watch is reopened.
func TestDeadPartIsFoundAmongBusyOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPartsRig(t, 3)
		var mu sync.Mutex // guards following
		watches := map[string]int{}
		r.server.Inject(apitest.Fault{Verb: "watch", Times: 1, Match: inNamespace("part-1"), Action: apitest.SilentWatch()})
		r.server.Inject(apitest.Fault{Verb: "watch", Action: apitest.Delay(0), Match: func(r apitest.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			watches[r.HTTP.URL.Path]++
			return true
		}})
		r.runSynced()
		began := time.Now()
		busy, stop := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() {
			for n := 0; busy.Err() == nil; n++ {
				time.Sleep(5 * time.Second)
				pod := newPod(partKey(0))
				pod.Labels["n"] = fmt.Sprint(n)
				_, err := r.server.Update(pod)
				require.NoError(t, err)
			}
		})
		_, err := r.server.Create(newPod(partKey(1)))
		require.NoError(t, err)
		r.within(3*time.Minute+time.Second, partKey(1))
		require.Greater(t, time.Since(began), 2*time.Minute, "the dead connection is detected by the idle timeout, not earlier")
		mu.Lock()
		watchesBefore := maps.Clone(watches)
		mu.Unlock()
		for path, n := range watchesBefore {
			require.LessOrEqual(t, n, map[bool]int{true: 2, false: 1}[path == "/api/v1/namespaces/part-1/pods"], path)
		}
		stop()
		wait.Wait()
	})
}

func TestErrorNamesTheSilentPartOfAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPartsRig(t, 20)
		r.server.Inject(apitest.Fault{Verb: "list", Match: inNamespace("part-7"), Action: apitest.Delay(50 * time.Minute)})
		r.run()
		time.Sleep(61 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		err := r.informer.WaitForSync(ctx)
		require.ErrorContains(t, err, "/namespaces/part-7/pods")
		require.NoError(t, r.stop())
	})
}

// A part that is forbidden after the sync affects no other part, and Status reports it.
func TestForbiddenPartDoesNotStopTheOthers(t *testing.T) {
	for name, verbs := range map[string][]string{
		"the right to the namespace is gone": {"list", "watch"},
		"it can be listed and not watched":   {"watch"},
		"it can be watched and not listed":   {"list"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newPartsRig(t, 3)
				received := &receivedEvents{}
				r.add(received.handle, informer.HandlerOptions{})
				r.runSynced()
				require.Equal(t, []string{"Added pod-0 initial", "Added pod-2 initial"}, received.take())
				var forbidden []*apitest.InjectedFault
				for _, verb := range verbs {
					forbidden = append(forbidden, r.server.Inject(apitest.Fault{Verb: verb, Match: inNamespace("part-2"), Action: apitest.Code(http.StatusForbidden, 0)}))
				}
				r.server.DropWatches("")
				r.server.Compact()
				// This leads to a list of all parts.
				r.server.Inject(apitest.Fault{Verb: "watch", Times: 1, Match: inNamespace("part-0"), Action: apitest.Expired()})
				// After five seconds, the other parts are watched again.
				time.Sleep(5 * time.Second)
				_, err := r.server.Create(newPod(partKey(1)))
				require.NoError(t, err)
				r.within(2*time.Second, partKey(1))
				require.Equal(t, []string{"Added pod-1 watch"}, received.take(), "objects of a forbidden part are not deleted")

				time.Sleep(10 * time.Minute)
				changed := newPod(partKey(0))
				changed.Labels["changed"] = "yes"
				_, err = r.server.Update(changed)
				require.NoError(t, err)
				time.Sleep(time.Second)
				require.Equal(t, []string{"Updated pod-0 watch"}, received.take(), "the other parts do not wait for the forbidden part")
				if len(verbs) == 2 || verbs[0] == "watch" {
					failing := r.informer.Status().Parts
					require.Len(t, failing, 1)
					require.Contains(t, failing[0].Part, "/namespaces/part-2/pods")
					require.True(t, apierrors.IsForbidden(failing[0].Err))
					require.False(t, failing[0].Missing)
					err := r.informer.Healthy(5 * time.Minute)
					require.ErrorIs(t, err, informer.ErrPart)
					require.ErrorContains(t, err, "/namespaces/part-2/pods")
				}
				require.Less(t, r.informer.Status().Reflector.Lists, uint64(8), "lists are requested less and less often")

				other := newPod(partKey(2))
				other.Labels["changed"] = "yes"
				_, err = r.server.Update(other)
				require.NoError(t, err)
				for _, fault := range forbidden {
					fault.Remove()
				}
				time.Sleep(11 * time.Minute) // as long as the longest wait, and its jitter
				require.NoError(t, r.informer.Store().WaitRV(t.Context(), r.server.ResourceVersion()))
				synctest.Wait()
				events := received.take()
				require.Len(t, events, 1)
				require.Subset(t, []string{"Updated pod-2 relist", "Updated pod-2 watch"}, events)
				require.Equal(t, r.versions(), r.stored())
				require.Empty(t, r.informer.Status().Parts)
				require.NoError(t, r.informer.Healthy(5*time.Minute))
			})
		})
	}
}

func TestToleratedPartIsListedWhenPermitted(t *testing.T) {
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		t.Run(mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := apitest.New(apitest.Options{BookmarkInterval: 10 * time.Second})
				require.NoError(t, s.ListenMemory())
				defer s.Close()
				for n := range 3 {
					_, err := s.Create(newPod(partKey(n)))
					require.NoError(t, err)
				}
				var forbidden []*apitest.InjectedFault
				for _, verb := range []string{"list", "watch"} {
					forbidden = append(forbidden, s.Inject(apitest.Fault{Verb: verb, Match: inNamespace("part-1"), Action: apitest.Code(http.StatusForbidden, 0)}))
				}
				var log bytes.Buffer
				source := sources.MergeWith(sources.MergeOptions{Tolerate: apierrors.IsForbidden, Logger: slog.New(slog.NewTextHandler(&log, nil))},
					podsOf(t, s, "part-0", "part-1", "part-2")...)
				inf, err := informer.New(source, informer.Options[*corev1.Pod]{Reflector: reflector.Options{ListMode: mode}})
				require.NoError(t, err)
				r := &rig{t: t, server: s, informer: inf}
				r.runSynced()
				require.Equal(t, 2, inf.Store().Len())
				require.NoError(t, inf.Store().WaitRV(t.Context(), s.ResourceVersion()), "the version covers the parts that can be listed")
				time.Sleep(5 * time.Minute)
				require.NoError(t, inf.Healthy(2*time.Minute), "a tolerated part does not make the informer unhealthy")
				require.Len(t, inf.Status().Parts, 1)
				require.True(t, inf.Status().Parts[0].Missing)
				require.Contains(t, log.String(), `level=WARN msg="A part of a merged source fails; the other parts continue"`)
				for _, fault := range forbidden {
					fault.Remove()
				}
				r.within(11*time.Minute, partKey(1))
				require.NoError(t, s.Delete(pods, partKey(1)))
				r.settle()
				require.Empty(t, inf.Status().Parts)
				require.NoError(t, r.stop())
				require.Contains(t, log.String(), `level=INFO msg="A part of a merged source has recovered"`)
			})
		})
	}
}

// If the server is gone, the merged source fails as a whole, with the back-off of the reflector.
func TestMergedSourceFailsIfAllPartsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPartsRig(t, 20)
		r.runSynced()
		r.server.Inject(apitest.Fault{Action: apitest.Code(http.StatusServiceUnavailable, 0), Times: 60})
		r.server.DropWatches("")
		time.Sleep(2 * time.Second)
		require.NotZero(t, r.informer.Status().Reflector.Failures)
		_, err := r.server.Create(newPod(partKey(1)))
		require.NoError(t, err)
		r.within(time.Minute, partKey(1))
		r.settle()
		time.Sleep(time.Minute) // until the watches of quiet parts have lasted long enough
		require.Empty(t, r.informer.Status().Parts)
		require.Zero(t, r.informer.Status().Reflector.Failures)
	})
}

func TestMergedSourcesSurviveFaultsOfTheirParts(t *testing.T) { // G1, G2
	for seed := range testsize.Scale[uint64](6, 3) {
		synctest.Test(t, func(t *testing.T) {
			r := newMergedRig(t, apitest.Options{}, informer.Options[*corev1.Pod]{Reflector: reflector.Options{ListMode: []reflector.ListMode{reflector.List, reflector.WatchList}[seed%2]}})
			r.seed(seed)
			w := newWitness(r)
			r.add(w.handle, informer.HandlerOptions{})
			r.churn(30, 40, false)
			r.runSynced()
			for range 10 {
				var broken []*apitest.InjectedFault
				for _, namespace := range []string{"ns-0", "ns-2"} {
					for _, verb := range []string{"list", "watch"} {
						if r.random.IntN(3) == 0 {
							action := []apitest.Action{apitest.Code(403, 0), apitest.Code(500, 0), apitest.Drop(), apitest.Expired(), apitest.CutBody(300), apitest.Delay(30 * time.Second)}[r.random.IntN(6)]
							broken = append(broken, r.server.Inject(apitest.Fault{Verb: verb, Match: inNamespace(namespace), Action: action}))
						}
					}
				}
				r.churn(30, 40, true)
				time.Sleep(time.Duration(r.random.IntN(100)) * time.Second)
				for _, fault := range broken {
					fault.Remove()
				}
			}
			time.Sleep(15 * time.Minute)
			r.settle()
			require.Equal(t, r.merged(), r.stored())
			synctest.Wait()
			require.Equal(t, r.merged(), w.versions())
			require.Empty(t, w.objections("G1"))
			require.Empty(t, w.objections("G4"))
			require.NoError(t, r.stop())
		})
	}
}

// A merged source detects a restore from a backup too, although each part reopens its watch
// separately.
func TestG2_MergedSourcesOfAClusterRestoredFromABackup(t *testing.T) {
	for name, writes := range map[string]int{"behind": 3, "passed": 40} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newMergedRig(t, apitest.Options{}, informer.Options[*corev1.Pod]{})
				for n := range 10 {
					r.write(n, "first")
				}
				r.runSynced()
				backup := r.server.Backup()
				for n := range 20 {
					r.write(n, "after the backup")
				}
				synctest.Wait()
				outage := r.server.Inject(apitest.Fault{Action: apitest.Drop()})
				r.server.Restore(backup)
				for n := range writes {
					r.write(n%10, "another history")
				}
				time.Sleep(20 * time.Second)
				outage.Remove()
				time.Sleep(time.Minute)
				require.Equal(t, r.merged(), r.stored())
			})
		})
	}
}
