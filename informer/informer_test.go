package informer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// onError collects the texts of errors.
func onError(texts *[]string) func(reflector.Error) {
	return func(e reflector.Error) { *texts = append(*texts, e.Error()) }
}

// inBubble runs f with a rig of its own in a synctest bubble.
func inBubble(t *testing.T, opts informer.Options[*corev1.Pod], f func(t *testing.T, r *rig)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { f(t, newRig(t, opts)) })
}

func TestARelistReportsOnlyWhatChanged(t *testing.T) { // D11, SI-13, PD-11, SI-15
	inBubble(t, informer.Options[*corev1.Pod]{}, func(t *testing.T, r *rig) {
		for n := range 30 {
			_, err := r.server.Create(newPod(key(n)))
			require.NoError(t, err)
		}
		w := newWitness(r)
		r.add(w.handle, informer.HandlerOptions{})
		r.runSynced()

		reconnect := r.disconnect()
		require.NoError(t, r.server.Delete(pods, key(0)))
		updated := newPod(key(1))
		updated.Labels["changed"] = "yes"
		_, err := r.server.Update(updated)
		require.NoError(t, err)
		_, err = r.server.Create(newPod(key(30)))
		require.NoError(t, err)
		reconnect()
		r.settle()

		require.Equal(t, 30, w.count(informer.Initial))
		require.Equal(t, 3, w.count(informer.Relist), "one deleted, one updated, one added")
		require.Empty(t, w.objections("G1"))
		require.Positive(t, r.informer.Status().Reflector.Relists)
	})
}

func TestADeleteFoundByARelistHasTheLastKnownState(t *testing.T) {
	inBubble(t, informer.Options[*corev1.Pod]{}, func(t *testing.T, r *rig) {
		_, err := r.server.Create(newPod(key(0)))
		require.NoError(t, err)
		var last informer.Event[*corev1.Pod]
		r.add(func(e informer.Event[*corev1.Pod]) { last = e }, informer.HandlerOptions{})
		r.runSynced()
		reconnect := r.disconnect()
		require.NoError(t, r.server.Delete(pods, key(0)))
		reconnect()
		r.settle()
		require.Equal(t, informer.Deleted, last.Type)
		require.True(t, last.FinalStateUnknown)
		require.Equal(t, informer.Relist, last.Cause)
		require.Same(t, last.Old, last.New)
		require.Equal(t, key(0).Name, last.New.Name)
	})
}

func TestResyncIsPerHandlerAndSurvivesRelists(t *testing.T) { // SI-26, SI-27, D22
	inBubble(t, informer.Options[*corev1.Pod]{}, func(t *testing.T, r *rig) {
		for n := range 5 {
			_, err := r.server.Create(newPod(key(n)))
			require.NoError(t, err)
		}
		never, fast, slow := newWitness(r), newWitness(r), newWitness(r)
		r.add(never.handle, informer.HandlerOptions{})
		r.add(fast.handle, informer.HandlerOptions{Resync: 2 * time.Second})
		r.add(slow.handle, informer.HandlerOptions{Resync: 3 * time.Second})
		r.runSynced()
		time.Sleep(2500 * time.Millisecond)
		require.Equal(t, []int{0, 5, 0}, []int{never.count(informer.Resync), fast.count(informer.Resync), slow.count(informer.Resync)})
		time.Sleep(time.Second)
		require.Equal(t, []int{0, 5, 5}, []int{never.count(informer.Resync), fast.count(informer.Resync), slow.count(informer.Resync)})

		// client-go's resync timer restarts with each list, so it would never fire here.
		for range 10 {
			r.server.Inject(apitest.Fault{Verb: "watch", Times: 1, Action: apitest.Expired()})
			r.server.DropWatches("")
			time.Sleep(time.Second)
		}
		require.GreaterOrEqual(t, fast.count(informer.Resync), 5*6)
		require.GreaterOrEqual(t, r.informer.Status().Reflector.Relists, uint64(5))
		for _, w := range []*witness{never, fast, slow} {
			require.Empty(t, w.objections("G1"))
		}
	})
}

func TestResyncOnRequest(t *testing.T) {
	inBubble(t, informer.Options[*corev1.Pod]{}, func(t *testing.T, r *rig) {
		for n := range 5 {
			_, err := r.server.Create(newPod(key(n)))
			require.NoError(t, err)
		}
		requesting, other := newWitness(r), newWitness(r)
		registration := r.add(requesting.handle, informer.HandlerOptions{})
		r.add(other.handle, informer.HandlerOptions{})
		registration.Resync() // Nothing is stored yet.
		r.runSynced()
		before := r.informer.Status().Reflector.Relists
		registration.Resync()
		synctest.Wait()
		require.Equal(t, []int{5, 0}, []int{requesting.count(informer.Resync), other.count(informer.Resync)})
		require.Equal(t, before, r.informer.Status().Reflector.Relists)
		require.Empty(t, requesting.objections("G1"))
		registration.Remove()
		registration.Resync()
		synctest.Wait()
		require.Equal(t, 5, requesting.count(informer.Resync))
	})
}

func TestARemovedHandlerIsNotCalledAgain(t *testing.T) { // SI-19
	inBubble(t, informer.Options[*corev1.Pod]{}, func(t *testing.T, r *rig) {
		var calls atomic.Int32
		release := make(chan struct{})
		registration := r.add(func(informer.Event[*corev1.Pod]) {
			calls.Add(1)
			<-release
		}, informer.HandlerOptions{})
		w := newWitness(r)
		r.add(w.handle, informer.HandlerOptions{})
		r.runSynced()
		r.churn(10, 20, false)
		synctest.Wait()
		registration.Remove()
		registration.Remove()
		require.EqualValues(t, 1, calls.Load())
		select {
		case <-registration.Done():
			require.Fail(t, "a call is in progress")
		default:
		}
		close(release)
		<-registration.Done()
		r.churn(10, 20, false)
		r.settle()
		require.EqualValues(t, 1, calls.Load())
		require.Equal(t, r.versions(), w.versions(), "other handlers still receive events")
	})
}

func TestAHandlerMayRemoveItself(t *testing.T) {
	// SI-20: client-go's blocking removal deadlocks here.
	inBubble(t, informer.Options[*corev1.Pod]{}, func(t *testing.T, r *rig) {
		var registration *informer.Registration[*corev1.Pod]
		calls := 0
		registered := make(chan struct{})
		registration = r.add(func(informer.Event[*corev1.Pod]) {
			<-registered
			calls++
			registration.Remove()
		}, informer.HandlerOptions{})
		close(registered)
		r.runSynced()
		r.churn(10, 20, false)
		<-registration.Done()
		require.Equal(t, 1, calls)
	})
}

func TestAnObjectThatCannotBeIndexedIsNeitherStoredNorDelivered(t *testing.T) {
	// D13, PD-1, PD-8, PD-10, D17
	var log bytes.Buffer
	opts := informer.Options[*corev1.Pod]{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	opts.Reflector.SkipUndecodable = true
	opts.Store.Indexes = map[string]indexer.IndexFunc[*corev1.Pod]{"image": func(pod *corev1.Pod) ([]string, error) {
		if pod.Name == key(2).Name {
			return nil, errors.New("no image")
		}
		return []string{pod.Spec.Containers[0].Image}, nil
	}}
	inBubble(t, opts, func(t *testing.T, r *rig) {
		for n := range 5 {
			_, err := r.server.Create(newPod(key(n)))
			require.NoError(t, err)
		}
		w := newWitness(r)
		r.add(w.handle, informer.HandlerOptions{})
		r.runSynced()
		synctest.Wait()
		require.Len(t, w.versions(), 4)
		require.Equal(t, w.versions(), r.stored())
		require.NoError(t, r.stop())
		require.Contains(t, log.String(), "no image")
		require.Contains(t, log.String(), key(2).Name)
	})
}

func TestWaitForSyncSaysThatRunHasNotBeenCalled(t *testing.T) {
	inBubble(t, informer.Options[*corev1.Pod]{Name: "web pods"}, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		const want = "informer web pods is not synced, because its Run has not been called"
		require.ErrorContains(t, r.informer.WaitForSync(ctx), want)
		require.ErrorContains(t, r.informer.Healthy(time.Minute), want)
		registration := r.add(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{})
		require.ErrorContains(t, registration.WaitForSync(ctx), want)
	})
}

// wrongTypeSource is a source that can never work.
type wrongTypeSource struct {
	listwatch.Source[*corev1.PodList]
}

func (wrongTypeSource) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[*corev1.PodList], error) {
	return nil, fmt.Errorf("made of a list: %w", listwatch.ErrUnusable)
}

func (w wrongTypeSource) Watch(ctx context.Context, _ listwatch.WatchOptions) (listwatch.WatchStream[*corev1.PodList], error) {
	_, err := w.List(ctx, listwatch.ListOptions{})
	return nil, err
}

// No retry can repair an error in the program.
func TestAnInformerOfAWrongTypeEndsAtOnceAndSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inf, err := informer.New(listwatch.Source[*corev1.PodList](wrongTypeSource{}), informer.Options[*corev1.PodList]{})
		require.NoError(t, err)
		began := time.Now()
		err = inf.Run(t.Context())
		require.ErrorIs(t, err, listwatch.ErrUnusable)
		require.ErrorContains(t, err, "made of a list")
		require.ErrorContains(t, inf.WaitForSync(t.Context()), "made of a list")
		require.Zero(t, time.Since(began))
	})
}

func TestWaitForSyncSaysWhatIsMissingAndWhy(t *testing.T) {
	inBubble(t, informer.Options[*corev1.Pod]{Name: "web pods"}, func(t *testing.T, r *rig) {
		r.server.Inject(apitest.Fault{Verb: "list", Action: apitest.Fail(apierrors.NewForbidden(pods.GroupResource(), "", errors.New("no role")))})
		r.run()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err := r.informer.WaitForSync(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		require.ErrorContains(t, err, "web pods")
		require.ErrorContains(t, err, "no role")
		require.NoError(t, r.stop())
		require.ErrorIs(t, r.informer.WaitForSync(t.Context()), informer.ErrStopped)
	})
}

func TestBlockReachesTheSocketAndLosesNothing(t *testing.T) {
	inBubble(t, informer.Options[*corev1.Pod]{}, func(t *testing.T, r *rig) {
		w := newWitness(r)
		r.add(func(e informer.Event[*corev1.Pod]) {
			time.Sleep(100 * time.Millisecond)
			w.handle(e)
		}, informer.HandlerOptions{Mailbox: 2, Overflow: informer.Block})
		r.run()
		r.churn(10, 100, false)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, r.versions(), w.versions())
		require.Zero(t, r.informer.Status().Handlers[0].Coalesced)
		require.NoError(t, r.stop())
	})
}

func TestStatusAndObserverSeeEveryStage(t *testing.T) {
	var applied, delivered atomic.Int32
	opts := informer.Options[*corev1.Pod]{Observer: &informer.Observer{
		OnApplied: func(a informer.AppliedInfo) { applied.Add(int32(len(a.Keys))) },
		OnDeliver: func(d informer.DeliverInfo) {
			if d.Handler == "h" && d.Key.Name != "" && d.ResourceVersion != "" {
				delivered.Add(1)
			}
		},
	}}
	inBubble(t, opts, func(t *testing.T, r *rig) {
		for n := range 5 {
			_, err := r.server.Create(newPod(key(n)))
			require.NoError(t, err)
		}
		r.add(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{Name: "h"})
		require.False(t, r.informer.Status().Synced)
		r.runSynced()
		synctest.Wait()
		status := r.informer.Status()
		require.True(t, status.Synced)
		require.Equal(t, "*v1.Pod", status.Name)
		require.Equal(t, 5, status.Store.Objects)
		require.EqualValues(t, 5, status.Handlers[0].Delivered)
		require.True(t, status.Handlers[0].Synced)
		require.EqualValues(t, 5, applied.Load())
		require.EqualValues(t, 5, delivered.Load())
	})
}

// Sample returns a function only for the objects that it chooses. It works with and without
// OnDeliver.
func TestSampleReceivesTheObjectsThatItChooses(t *testing.T) {
	for _, all := range []bool{true, false} {
		t.Run(fmt.Sprintf("beside OnDeliver=%v", all), func(t *testing.T) {
			var delivered, sampled atomic.Int32
			chosen := func(d informer.DeliverInfo) {
				if d.Key == key(3) && d.Handler == "h" && d.Waited >= 0 && d.Ran == time.Second {
					sampled.Add(1)
				}
			}
			observer := &informer.Observer{Sample: func(k types.NamespacedName) func(informer.DeliverInfo) {
				if k == key(3) {
					return chosen
				}
				return nil
			}}
			if all {
				observer.OnDeliver = func(informer.DeliverInfo) { delivered.Add(1) }
			}
			inBubble(t, informer.Options[*corev1.Pod]{Observer: observer}, func(t *testing.T, r *rig) {
				for n := range 5 {
					_, err := r.server.Create(newPod(key(n)))
					require.NoError(t, err)
				}
				handler := r.add(func(informer.Event[*corev1.Pod]) { time.Sleep(time.Second) }, informer.HandlerOptions{Name: "h"})
				r.runSynced()
				time.Sleep(time.Minute)
				handler.Resync()
				time.Sleep(1500 * time.Millisecond)
				require.EqualValues(t, 1, r.informer.Status().Handlers[0].Resyncs, "a resync counts when the handler has returned from it")
				time.Sleep(time.Minute)
				synctest.Wait()
				require.EqualValues(t, 2, sampled.Load())
				if all {
					require.EqualValues(t, 10, delivered.Load())
				}
				status := r.informer.Status().Handlers[0]
				require.EqualValues(t, 10, status.Delivered)
				require.EqualValues(t, 5, status.Resyncs)
			})
		})
	}
}

func TestInvalidOptionsAreRefused(t *testing.T) {
	inBubble(t, informer.Options[*corev1.Pod]{}, func(t *testing.T, r *rig) {
		_, err := r.informer.AddHandler(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{Mailbox: -1, Resync: -1, Overflow: 9})
		require.ErrorContains(t, err, "Mailbox")
		require.ErrorContains(t, err, "Resync")
		require.ErrorContains(t, err, "Overflow")
		_, err = r.informer.AddHandler(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{Resync: 30})
		require.ErrorContains(t, err, "Resync")
		require.Error(t, r.informer.AddIndex("x", nil))
	})
}
