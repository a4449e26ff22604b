package informer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestHealthyWhileTheServerSendsEvents(t *testing.T) {
	inBubble(t, informer.Options[*corev1.Pod]{Name: "pods"}, func(t *testing.T, r *rig) {
		err := r.informer.Healthy(time.Minute)
		require.ErrorIs(t, err, informer.ErrNotSynced)
		list := r.server.Inject(apitest.Fault{Verb: "list", Action: apitest.Code(503, 0)})
		r.run()
		time.Sleep(2 * time.Second)
		err = r.informer.Healthy(time.Minute)
		require.ErrorIs(t, err, informer.ErrNotSynced)
		require.True(t, apierrors.IsServiceUnavailable(err), "the error has its cause: %v", err)
		list.Remove()
		require.NoError(t, r.informer.WaitForSync(t.Context()))
		require.NoError(t, r.informer.Healthy(time.Minute), "a recent list is enough")
		time.Sleep(time.Hour)
		require.NoError(t, r.informer.Healthy(time.Minute), "bookmarks are enough")

		reconnect := r.disconnect()
		time.Sleep(30 * time.Second)
		require.NoError(t, r.informer.Healthy(time.Minute), "the silence is shorter than maxStaleness")
		time.Sleep(time.Minute)
		err = r.informer.Healthy(time.Minute)
		require.ErrorIs(t, err, informer.ErrStale)
		require.Regexp(t, `^informer pods is not healthy: nothing has arrived from the server for too long \(last heard 1m[34]`, err.Error())
		require.ErrorContains(t, err, "last error: reflector: listing: ")
		require.True(t, apierrors.IsInternalError(err), "the error has its cause: %v", err)
		reconnect()
		time.Sleep(10 * time.Second)
		require.NoError(t, r.informer.Healthy(time.Minute))

		require.NoError(t, r.stop())
		require.ErrorIs(t, r.informer.Healthy(time.Minute), informer.ErrStopped)
	})
}

func TestASilentWatchIsNotHealthyAlthoughNothingFails(t *testing.T) {
	inBubble(t, informer.Options[*corev1.Pod]{}, func(t *testing.T, r *rig) {
		r.server.Inject(apitest.Fault{Verb: "watch", Times: 1, Action: apitest.SilentWatch()})
		r.runSynced()
		time.Sleep(2 * time.Minute)
		require.ErrorIs(t, r.informer.Healthy(time.Minute), informer.ErrStale)
		time.Sleep(2 * time.Minute)
		require.NoError(t, r.informer.Healthy(time.Minute), "the watch has been reopened")
	})
}

// After a failure that the server calls permanent, the informer may end. Every waiter then gets the
// reason.
func TestRunEndsWhenTheReflectorGivesUp(t *testing.T) {
	opts := informer.Options[*corev1.Pod]{Name: "pods", Reflector: reflector.Options{GiveUpAfter: 4}}
	inBubble(t, opts, func(t *testing.T, r *rig) {
		r.server.Inject(apitest.Fault{Verb: "list", Action: apitest.Code(403, 0)})
		registration := r.add(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{Name: "h"})
		waited := make(chan error, 2)
		go func() { waited <- r.informer.WaitForSync(t.Context()) }()
		go func() { waited <- registration.WaitForSync(t.Context()) }()
		err := r.informer.Run(t.Context())
		require.True(t, apierrors.IsForbidden(err), err)
		require.ErrorContains(t, err, "failure 4 in a row, giving up")
		for range 2 {
			err := <-waited
			require.ErrorIs(t, err, informer.ErrStopped)
			require.True(t, apierrors.IsForbidden(err), err)
		}
		<-registration.Done()
		require.True(t, apierrors.IsForbidden(r.informer.Healthy(time.Hour)))
	})
}

func TestSyncErrorDescribesTheProgress(t *testing.T) {
	inBubble(t, informer.Options[*corev1.Pod]{Name: "pods"}, func(t *testing.T, r *rig) {
		for n := range 5 {
			_, err := r.server.Create(newPod(key(n)))
			require.NoError(t, err)
		}
		registration := r.add(func(informer.Event[*corev1.Pod]) { time.Sleep(time.Second) }, informer.HandlerOptions{Name: "slow"})
		r.runSynced()
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		err := registration.WaitForSync(ctx)
		require.EqualError(t, err, "handler slow is not synced, but informer pods is (2 events delivered): context deadline exceeded")
		synctest.Wait()
	})
}

// Status has the progress of the first list, for a progress bar: n of total, as soon as the server
// has sent the total.
func TestStatusHasTheProgressOfTheFirstList(t *testing.T) {
	opts := informer.Options[*corev1.Pod]{Reflector: reflector.Options{PageSize: 10}}
	type progress struct{ items, total int64 }
	var seen []progress
	var inf *informer.Informer[*corev1.Pod]
	opts.Reflector.Observer = &reflector.Observer{OnPage: func(reflector.PageInfo) {
		s := inf.Status().Reflector
		seen = append(seen, progress{int64(s.Items), s.Total})
	}}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, opts)
		inf = r.informer
		for n := range 25 {
			_, err := r.server.Create(newPod(key(n)))
			require.NoError(t, err)
		}
		// A server that lists from its cache sends everything at once.
		r.server.Inject(apitest.Fault{Verb: "list", Times: 1, Action: apitest.Expired()})
		r.runSynced()
		require.Equal(t, []progress{{10, 25}, {20, 25}, {25, 25}}, seen)
	})
}
