package workqueue_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

func TestDrainOfAnEmptyQueueReturnsAtOnce(t *testing.T) {
	t.Parallel()
	q := newQueue()
	require.NoError(t, q.Drain(t.Context()))
	q.Add("too late")
	require.NoError(t, q.Drain(t.Context()))

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		require.NoError(t, q.Drain(ended), "a drained queue takes precedence over the ended context")
	}
}

func TestDrainErrorCountsTheKeysLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Add("processing")
		get(t, q)
		q.Add("queued")
		q.AddAfter("delayed", time.Hour)

		reason := errors.New("the lease is lost")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, reason)
		defer cancel()
		start := time.Now()
		err := q.Drain(ctx)
		require.Equal(t, time.Second, time.Since(start))
		var left *workqueue.DrainError
		require.ErrorAs(t, err, &left)
		require.Equal(t, 2, left.Left)
		require.ErrorIs(t, err, reason)
		require.EqualError(t, err, `workqueue "test": drain ended with 2 keys left: the lease is lost`)

		q.Done("processing")
		takeAll(t, q)
		require.NoError(t, q.Drain(t.Context()), "Drain may be called again")
	})
}

func TestConcurrentShutDownsAndDrains(t *testing.T) { // WQ-10, D1, D3
	t.Parallel()
	const rounds, producers, workers, drainers = 200, 4, 4, 4
	for round := range rounds {
		q := workqueue.New(workqueue.Options[int]{})
		var consuming, others sync.WaitGroup
		var gets, dones atomic.Uint64
		for range workers {
			consuming.Go(func() {
				serve(q, func(key int) {
					gets.Add(1)
					q.AddAfter(key+1, time.Duration(rand.IntN(50))*time.Microsecond)
					dones.Add(1)
				})
			})
		}
		for p := range producers {
			others.Go(func() {
				for i := range 50 {
					q.Add(p*100 + i)
					q.AddAfter(i, time.Duration(i)*time.Microsecond)
				}
			})
		}
		for d := range drainers {
			others.Go(func() {
				if d == 0 {
					q.ShutDown()
				}
				if q.Drain(t.Context()) == nil && gets.Load() != dones.Load() {
					t.Errorf("round %d: drained, but a worker is at work", round)
				}
			})
		}
		consuming.Wait()
		others.Wait()
		s := q.Stats()
		require.Zero(t, s.Dirty+s.Processing+s.Delayed+s.Ready)
		require.Equal(t, s.Adds, s.Dones)
		require.NoError(t, q.Verify())
	}
}
