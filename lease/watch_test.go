package lease_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/lease"
)

func TestWatchingCandidateLeadsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		first := start(t, newElector(t, server, "first", lease.Options{Watch: true}))
		receiveWithin(t, time.Second, first.leads)
		second := start(t, newElector(t, server, "second", lease.Options{Watch: true}))
		for range 10 { // at any moment between two reads
			time.Sleep(5*time.Minute + 137*time.Millisecond)
			require.True(t, second.elector.Stats().Watching)
			require.False(t, first.elector.Stats().Watching, "a leader does not watch")
			require.Equal(t, 1, server.Watches("leases"))
			first.stop()
			require.NoError(t, <-first.result)
			receiveWithin(t, 10*time.Millisecond, second.leads)
			first, second = second, start(t, newElector(t, server, "next", lease.Options{Watch: true}))
		}
		second.stop()
		require.NoError(t, <-second.result)
		first.stop()
		require.NoError(t, <-first.result)
		synctest.Wait()
		require.Zero(t, server.Watches("leases"))
	})
}

// A watch does not shorten the wait for a leader that was killed.
func TestWatchingCandidateWaitsForALeaderThatWasKilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		second, renewed := killLeader(t, server, lease.Options{Watch: true})
		receiveWithin(t, time.Minute, second.leads)
		require.GreaterOrEqual(t, time.Since(renewed), 15*time.Second)
		require.Less(t, time.Since(renewed), 18*time.Second)
	})
}

// If the Lease was deleted, its holder may not know that yet. The candidate counts from the last
// renewal that it saw, which may be one read older than the last renewal.
func TestWatchingCandidateWaitsForTheHolderOfADeletedLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		second, renewed := killLeader(t, server, lease.Options{Watch: true})
		require.NoError(t, server.Delete(leases, key))
		receiveWithin(t, time.Minute, second.leads)
		const look = 2400 * time.Millisecond // 1.2 RetryPeriod
		require.GreaterOrEqual(t, time.Since(renewed), 15*time.Second-look)
	})
}

func TestCandidateWithoutWatchPermissionReads(t *testing.T) {
	t.Parallel()
	for name, action := range map[string]apitest.Action{
		"refused": apitest.Fail(apierrors.NewForbidden(schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, "", errors.New("no role"))),
		"unknown": apitest.Code(405, 0),
		"broken":  apitest.Drop(),
		"hanging": apitest.Delay(time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t)
				fault := server.Inject(apitest.Fault{Verb: "watch", Action: action})
				var log bytes.Buffer
				first := start(t, newElector(t, server, "first", lease.Options{}))
				receiveWithin(t, time.Second, first.leads)
				e := newElector(t, server, "second", lease.Options{Watch: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
				second := start(t, e)
				time.Sleep(12 * time.Minute)
				synctest.Wait()
				require.False(t, e.Stats().Watching)
				require.NoError(t, e.Stats().Failing, "a failed watch does not count as a failed attempt")
				if name != "hanging" {
					said := strings.Count(log.String(), "the lease cannot be watched")
					require.True(t, said >= 2 && said <= 4, log.String())
				}
				first.stop()
				require.NoError(t, <-first.result)
				receiveWithin(t, 2400*time.Millisecond, second.leads)
				third := start(t, newElector(t, server, "third", lease.Options{Watch: true}))
				time.Sleep(10 * time.Minute)
				fault.Remove()
				time.Sleep(2 * time.Minute)
				require.True(t, third.elector.Stats().Watching, "the candidate retries the watch")
				third.stop()
				require.NoError(t, <-third.result)
				second.stop()
				require.NoError(t, <-second.result)
				time.Sleep(2 * time.Hour) // until the server has executed the delayed requests
			})
		})
	}
}

// A watch that ends is restarted, and changes in between are not missed.
func TestEndedWatchIsReopened(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		first := start(t, newElector(t, server, "first", lease.Options{}))
		receiveWithin(t, time.Second, first.leads)
		var log bytes.Buffer
		second := start(t, newElector(t, server, "second", lease.Options{Watch: true, Logger: slog.New(slog.NewTextHandler(&log, nil))}))
		for range 10 {
			time.Sleep(time.Minute)
			require.Equal(t, 1, server.DropWatches("leases"))
			time.Sleep(time.Minute)
			require.Equal(t, 1, server.EndWatches("leases"))
		}
		require.NotContains(t, log.String(), "cannot be watched", "the end of a watch is not logged")
		time.Sleep(5 * time.Second)
		first.stop()
		require.NoError(t, <-first.result)
		receiveWithin(t, 10*time.Millisecond, second.leads)
	})
}
