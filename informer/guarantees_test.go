package informer_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
)

// The tests of this file have the names of the guarantees in the package
// comment. G9 is tested in package workqueue, G11 in package rest.

// bubble runs f in a synctest bubble, with several seeds and both ways to list.
func bubble(t *testing.T, f func(r *rig)) {
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		for seed := range testsize.Scale[uint64](3, 1) {
			t.Run(fmt.Sprintf("%v/seed=%d", mode, seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, informer.Options[*corev1.Pod]{Reflector: reflector.Options{ListMode: mode}})
					r.seed(seed)
					f(r)
				})
			})
		}
	}
}

func TestG1_PerKeyOrder(t *testing.T) { // SI-8, SI-11
	bubble(t, func(r *rig) {
		w := newWitness(r)
		r.churn(20, 20, false)
		r.add(w.handle, informer.HandlerOptions{})
		r.runSynced()
		r.churn(20, 500, true)
		r.settle()
		require.Empty(r.t, w.objections("G1"))
		require.Positive(r.t, w.count(informer.Watch), "changes were watched")
		require.Positive(r.t, w.count(informer.Relist), "some changes were found by relists")
	})
}

func TestG2_NoFinalStateIsLost(t *testing.T) {
	bubble(t, func(r *rig) {
		w := newWitness(r)
		r.churn(30, 30, false)
		r.add(w.handle, informer.HandlerOptions{})
		behind := newWitness(r)
		r.add(func(e informer.Event[*corev1.Pod]) {
			time.Sleep(50 * time.Millisecond)
			behind.handle(e)
		}, informer.HandlerOptions{Mailbox: 4})
		r.runSynced()
		for range 5 {
			r.churn(30, 100, true)
			r.settle()
			time.Sleep(time.Minute) // For the slow handler; the time is virtual.
			synctest.Wait()
			require.Equal(r.t, r.versions(), r.stored(), "the store equals the server")
			require.Equal(r.t, r.versions(), w.versions(), "the objects of a handler equal the server's")
			require.Equal(r.t, r.versions(), behind.versions(), "the objects of a slow handler equal the server's")
			require.Empty(r.t, behind.objections("G1"), "coalescing keeps the order")
		}
	})
}

func TestG3_TheStoreHoldsTheEventWhenAHandlerRuns(t *testing.T) { // SI-10, PD-1
	bubble(t, func(r *rig) {
		w := newWitness(r)
		r.churn(20, 20, false)
		r.add(w.handle, informer.HandlerOptions{})
		r.runSynced()
		r.churn(20, 500, true)
		r.settle()
		require.Empty(r.t, w.objections("G3"))
	})
}

func TestG4_HandlersAreSequentialAndDontDelayEachOther(t *testing.T) { // SI-8, SI-9
	bubble(t, func(r *rig) {
		release := make(chan struct{})
		r.add(func(informer.Event[*corev1.Pod]) { <-release }, informer.HandlerOptions{Name: "stuck"})
		w := newWitness(r)
		r.add(w.handle, informer.HandlerOptions{})
		r.runSynced()
		r.churn(20, 300, true)
		r.settle()
		require.Empty(r.t, w.objections("G4"))
		require.Equal(r.t, r.versions(), w.versions(), "a stuck handler does not delay other handlers")
		close(release)
	})
}

func TestG5_ALateHandlerGetsEverythingOnce(t *testing.T) { // SI-16
	bubble(t, func(r *rig) {
		r.churn(20, 40, false)
		r.run()
		// Handlers join at every stage, while events stream in and lists go wrong.
		witnesses := []*witness{}
		for range 30 {
			w := newWitness(r)
			witnesses = append(witnesses, w)
			r.add(w.handle, informer.HandlerOptions{})
			r.churn(20, 10, true)
		}
		r.settle()
		for n, w := range witnesses {
			require.Empty(r.t, w.objections("G1"), "handler %d", n)
			require.Equal(r.t, r.versions(), w.versions(), "handler %d", n)
		}
	})
}

func TestG6_SyncedMeansEveryInitialAddReturned(t *testing.T) { // SI-17
	bubble(t, func(r *rig) {
		r.churn(40, 100, false)
		existing := len(r.versions())
		register := func() (*witness, *informer.Registration[*corev1.Pod]) {
			w := newWitness(r)
			return w, r.add(func(e informer.Event[*corev1.Pod]) {
				time.Sleep(time.Second)
				w.handle(e)
			}, informer.HandlerOptions{})
		}
		verify := func(w *witness, registration *informer.Registration[*corev1.Pod]) {
			began := time.Now()
			require.NoError(r.t, registration.WaitForSync(r.t.Context()))
			require.Equal(r.t, existing, w.count(informer.Initial))
			require.Equal(r.t, r.versions(), w.versions())
			require.GreaterOrEqual(r.t, time.Since(began), time.Duration(existing)*time.Second, "each add took a second")
		}
		early, earlyRegistration := register()
		r.server.Inject(apitest.Fault{Verb: "list", Times: 2, Action: apitest.Code(500, 0)})
		r.runSynced()
		verify(early, earlyRegistration)
		late, lateRegistration := register()
		verify(late, lateRegistration)
	})
}

func TestG6_AnEmptyListSyncsToo(t *testing.T) { // DF-26, RF-19
	bubble(t, func(r *rig) {
		registration := r.add(func(informer.Event[*corev1.Pod]) { r.t.Error("a handler received an event from an empty list") }, informer.HandlerOptions{})
		r.run()
		require.NoError(r.t, registration.WaitForSync(r.t.Context()))
	})
}

func TestG6_APanickingHandlerSyncsToo(t *testing.T) { // D10
	bubble(t, func(r *rig) {
		r.churn(10, 30, false)
		registration := r.add(func(informer.Event[*corev1.Pod]) { panic("a bug") }, informer.HandlerOptions{})
		r.run()
		require.NoError(r.t, registration.WaitForSync(r.t.Context()))
		require.EqualValues(r.t, len(r.versions()), registration.Status().Panics)
	})
}

func TestG7_ReadersNeverSeeAHalfReplacedStore(t *testing.T) {
	// All pods carry the same generation label at any moment that the server lists,
	// so a reader that sees two of them sees a mixture.
	bubble(t, func(r *rig) {
		const n = 50
		generation := func(obj *corev1.Pod) ([]string, error) { return []string{obj.Labels["generation"]}, nil }
		require.NoError(r.t, r.informer.AddIndex("generation", generation))
		relabel := func(g int) {
			for i := range n {
				pod := newPod(key(i))
				if obj, err := r.server.Get(pods, key(i)); err == nil {
					pod = obj.(*corev1.Pod)
				} else {
					obj, err := r.server.Create(pod)
					require.NoError(r.t, err)
					pod = obj.(*corev1.Pod)
				}
				pod.Labels["generation"] = fmt.Sprint(g)
				_, err := r.server.Update(pod)
				require.NoError(r.t, err)
			}
		}
		relabel(0)
		r.runSynced()

		stop := make(chan struct{})
		seen := map[string]bool{}
		var reading sync.WaitGroup
		reading.Go(func() {
			for {
				snapshot := r.informer.Store().Snapshot()
				values, err := snapshot.IndexValues("generation")
				require.NoError(r.t, err)
				generations := maps.Collect(values)
				require.Len(r.t, generations, 1, "a reader sees one generation at a time")
				for g, count := range generations {
					seen[g] = true
					require.Equal(r.t, n, count)
					byIndex, err := snapshot.ByIndex("generation", g)
					require.NoError(r.t, err)
					for _, pod := range byIndex {
						require.Equal(r.t, g, pod.Labels["generation"], "the index agrees with the objects")
					}
				}
				select {
				case <-stop:
					return
				default:
					runtime.Gosched()
				}
				time.Sleep(time.Millisecond)
			}
		})
		for g := 1; g <= 10; g++ {
			// No watch works during the relabelling, so all of it arrives in one relist.
			reconnect := r.disconnect()
			relabel(g)
			reconnect()
			r.settle()
			time.Sleep(2 * time.Millisecond)
		}
		close(stop)
		reading.Wait()
		require.Greater(r.t, len(seen), 5, "the reader saw the store change")
	})
}

func TestG8_WaitRVReturnsOnlyWhenEverythingIsApplied(t *testing.T) {
	bubble(t, func(r *rig) {
		r.runSynced()
		for range 100 {
			r.change(10)
			if r.random.IntN(10) == 0 {
				r.fault()
			}
			version := r.server.ResourceVersion()
			want := r.versions()
			require.NoError(r.t, r.informer.Store().WaitRV(r.t.Context(), version))
			require.Equal(r.t, want, r.stored(), "after WaitRV, the store has the caller's own write")
		}
		ctx, cancel := context.WithTimeout(r.t.Context(), time.Hour)
		defer cancel()
		require.ErrorIs(r.t, r.informer.Store().WaitRV(ctx, "999999999"), context.DeadlineExceeded, "WaitRV waits for a version that does not exist yet")
	})
}

func TestG10_NothingRemainsWhenRunReturns(t *testing.T) { // SI-1, SI-2, RC-33
	// Real connections and real time: goleak and a count of the connections find leaks.
	for _, state := range []struct {
		name  string
		fault apitest.Fault
	}{
		{"watching", apitest.Fault{}},
		{"while the list trickles", apitest.Fault{Verb: "list", Action: apitest.SlowBody(100)}},
		{"while the list is not answered", apitest.Fault{Verb: "list", Action: apitest.Delay(time.Hour)}},
		{"while the watch is not answered", apitest.Fault{Verb: "watch", Action: apitest.Delay(time.Hour)}},
		{"while the watch is silent", apitest.Fault{Verb: "watch", Action: apitest.SilentWatch()}},
		{"backing off from a list", apitest.Fault{Verb: "list", Action: apitest.Code(500, 0)}},
		{"backing off from a watch", apitest.Fault{Verb: "watch", Action: apitest.TooManyRequests(time.Hour)}},
	} {
		for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
			t.Run(fmt.Sprintf("%s/%v", state.name, mode), func(t *testing.T) {
				server := apitest.Start(t, apitest.Options{})
				for n := range 50 {
					_, err := server.Create(newPod(key(n)))
					require.NoError(t, err)
				}
				if state.fault.Verb != "" {
					server.Inject(state.fault)
				}
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				client, err := rest.NewClient(rest.Config{Host: server.URL()}, rest.Options{})
				require.NoError(t, err)
				defer client.Close()
				inf, err := informer.New(rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{})),
					informer.Options[*corev1.Pod]{Reflector: reflector.Options{ListMode: mode}})
				require.NoError(t, err)
				registration, err := inf.AddHandler(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{Resync: time.Millisecond})
				require.NoError(t, err)

				ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("enough"))
				defer cancel()
				require.NoError(t, inf.Run(ctx))
				select {
				case <-registration.Done():
				case <-time.After(time.Minute):
					require.Fail(t, "Run has returned, but the handler has not ended")
				}
				_, err = inf.AddHandler(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{})
				require.ErrorIs(t, err, informer.ErrStopped) // SI-5
				require.ErrorIs(t, inf.Run(t.Context()), informer.ErrAlreadyRun)
			})
		}
	}
}
