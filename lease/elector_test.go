package lease_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/kinform/kinform/lease"
)

func TestLeaderRenewsAndReleases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		first := start(t, newElector(t, server, "first", lease.Options{}))
		ctx := receiveWithin(t, time.Second, first.leads)
		object := stored(t, server)
		require.Equal(t, "first", *object.Spec.HolderIdentity)
		require.EqualValues(t, 15, *object.Spec.LeaseDurationSeconds)
		require.EqualValues(t, 0, *object.Spec.LeaseTransitions)
		acquired := object.Spec.AcquireTime.Time
		require.True(t, acquired.Equal(object.Spec.RenewTime.Time))

		second := start(t, newElector(t, server, "second", lease.Options{}))
		time.Sleep(time.Hour)
		require.NoError(t, ctx.Err())
		require.NoError(t, lease.Check(ctx))
		object = stored(t, server)
		require.Less(t, time.Since(object.Spec.RenewTime.Time), 3*time.Second)
		require.True(t, acquired.Equal(object.Spec.AcquireTime.Time))
		require.True(t, first.elector.Leading())
		require.False(t, second.elector.Leading())
		require.Equal(t, "first", second.elector.Stats().Leader)
		require.Empty(t, second.leads)

		first.stop()
		require.NoError(t, <-first.result)
		require.ErrorIs(t, lease.Check(ctx), lease.ErrEnded)
		object = stored(t, server)
		require.Empty(t, *object.Spec.HolderIdentity)
		require.EqualValues(t, 1, *object.Spec.LeaseDurationSeconds, "a release sets one second, like client-go")

		ctx = receiveWithin(t, 2400*time.Millisecond, second.leads)
		term, ok := lease.FromContext(ctx)
		require.True(t, ok)
		require.EqualValues(t, 1, term.Transitions)
		require.Equal(t, "second", term.Identity)
		object = stored(t, server)
		require.Equal(t, "second", *object.Spec.HolderIdentity)
		require.EqualValues(t, 1, *object.Spec.LeaseTransitions)

		broken := errors.New("broken")
		second.end <- broken
		require.Equal(t, broken, <-second.result)
		require.Empty(t, *stored(t, server).Spec.HolderIdentity)
	})
}

// Another candidate with the same identity may have written a Lease with the same microsecond.
// Although its holder and acquire time are equal, the Lease is not the leader's, and the leader
// gives up.
func TestLeaseOfTheSameIdentityIsNotRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		first := start(t, newElector(t, server, "one", lease.Options{}))
		receiveWithin(t, time.Second, first.leads)
		twin := stored(t, server)
		twin.Annotations = map[string]string{"kinform.io/lease-writer": "twin"}
		_, err := server.Update(twin)
		require.NoError(t, err)
		require.ErrorContains(t, receiveWithin(t, time.Minute, first.result), "another candidate has the same identity")
		require.Equal(t, "twin", stored(t, server).Annotations["kinform.io/lease-writer"])
	})
}

func TestLeaseOfAKilledLeaderIsTakenWhenItExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		first := start(t, newElector(t, server, "first", lease.Options{KeepOnEnd: true}))
		receiveWithin(t, time.Second, first.leads)
		second := start(t, newElector(t, server, "second", lease.Options{}))
		time.Sleep(time.Minute)
		first.stop()
		require.NoError(t, <-first.result)
		require.Equal(t, "first", *stored(t, server).Spec.HolderIdentity)
		renewed := stored(t, server).Spec.RenewTime.Time
		receiveWithin(t, time.Minute, second.leads)
		require.GreaterOrEqual(t, time.Since(renewed), 15*time.Second)
		require.Less(t, time.Since(renewed), 18*time.Second)
	})
}

func TestRunEndsACandidateThatDoesNotLead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		holder := "somebody"
		_, err := server.Create(&coordinationv1.Lease{ObjectMeta: meta(), Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}})
		require.NoError(t, err)
		e := newElector(t, server, "", lease.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		require.NoError(t, e.Run(ctx, func(context.Context) error { panic("leads") }))
		require.Equal(t, "somebody", e.Stats().Leader)
		require.NotEmpty(t, e.Identity())
	})
}

// If a hook or the server delayed a candidate's last read, the candidate reads again as soon as the
// lease expires, without another RetryPeriod.
func TestCandidateReadsWhenTheLeaseExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		var killed, slow atomic.Pointer[time.Time]
		second, renewed := killLeader(t, server, lease.Options{Observer: &lease.Observer{OnAttempt: func(time.Duration, error) {
			if at := killed.Load(); at != nil && slow.Load() == nil && time.Since(*at) > 12*time.Second {
				time.Sleep(5 * time.Second)
				slow.Store(new(time.Now()))
			}
		}}})
		killed.Store(&renewed)
		receiveWithin(t, time.Minute, second.leads)
		require.NotNil(t, slow.Load())
		require.LessOrEqual(t, time.Since(*slow.Load()), 200*time.Millisecond, "the candidate waits at most a tenth of RetryPeriod")
		second.stop()
		require.NoError(t, <-second.result)
	})
}
