package workqueue_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

var stressRounds = flag.Int("workqueue.stress", 60, "how many queues everything is done to at once")

// Everything happens at once, at random: adding, working, parking, cancelling, changing workers and
// shutting down. Nothing blocks for ever, nothing is left behind, and no two workers have one key.
// A run sees each change that was announced before an Add, unless Cancel or ShutDown removed the
// run.
func TestEverythingAtOnceLosesNoKey(t *testing.T) {
	t.Parallel()
	for round := range *stressRounds {
		newStress(t, uint64(round)).run()
		if t.Failed() {
			return
		}
	}
}

const (
	stressKeys     = 24
	stressPrecious = 12 // keys that are never cancelled
)

type stress struct {
	t       *testing.T
	name    string
	q       *workqueue.Queue[int]
	early   bool // the queue is shut down while keys are still added
	changes [stressKeys]struct{ announced, seen, working atomic.Int64 }
}

func newStress(t *testing.T, round uint64) *stress {
	random := rand.New(rand.NewPCG(round, uint64(time.Now().UnixNano())))
	s := &stress{t: t, early: round%2 == 0}
	opts := workqueue.Options[int]{
		RateLimiter:  workqueue.Exponential[int](time.Microsecond, time.Millisecond),
		Ageing:       random.IntN(4) - 1,
		Timed:        random.IntN(2) == 0,
		DrainTimeout: time.Minute,
	}
	if random.IntN(2) == 0 {
		opts.MinInterval = time.Duration(1+random.IntN(300)) * time.Microsecond
	}
	if random.IntN(2) == 0 {
		opts.Group = func(key int) string { return fmt.Sprint(key % 5) }
		opts.Weight = func(group string) int { return len(group) }
	}
	if random.IntN(3) == 0 {
		opts.Observer = &workqueue.Observer[int]{OnAdd: func(int) { runtime.Gosched() }}
	}
	s.name = fmt.Sprintf("round %d, interval %v, groups %v, ageing %d", round, opts.MinInterval, opts.Group != nil, opts.Ageing)
	s.q = workqueue.New(opts)
	return s
}

func (s *stress) run() {
	var workers, producers, enders sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range 2 {
		workers.Go(func() { serve(s.q, s.processOne) })
		workers.Go(s.restartWorkers)
	}
	workers.Go(func() {
		if err := s.q.RunUntil(context.Background(), ctx, 2, s.reconcile); err != nil {
			s.t.Errorf("%s: %v", s.name, err)
		}
	})
	for range 3 {
		producers.Go(s.produce)
	}
	if !s.early {
		producers.Wait()
		for stats := s.q.Stats(); stats.Parked+stats.Delayed+stats.Dirty+stats.Processing > 0; stats = s.q.Stats() {
			time.Sleep(10 * time.Microsecond) // otherwise ShutDown would discard some of them
		}
	}
	for i := range 4 {
		enders.Go(func() { s.end(i, cancel) })
	}
	enders.Wait()
	producers.Wait()
	workers.Wait()
	s.check()
}

// produce uses a queue as a program does.
func (s *stress) produce() {
	for range 150 {
		key := rand.IntN(stressKeys)
		after := time.Duration(rand.IntN(200)) * time.Microsecond
		switch rand.IntN(10) {
		case 0:
			s.q.AddAfter(key, after)
		case 1:
			s.q.AddWith(key, workqueue.AddOptions{Priority: rand.IntN(12), After: after, Delay: workqueue.DelayMode(rand.IntN(3)), Cause: "later"})
		case 2:
			s.q.Park(key, wait)
		case 3:
			s.q.Cancel(stressPrecious + rand.IntN(stressKeys-stressPrecious))
		case 4:
			_ = s.q.SetWorkers(1 + rand.IntN(4)) // returns an error when Run has ended
		case 5:
			s.q.Retry(key)
		case 6:
			s.q.Inspect()
			s.q.Stats()
		default:
			s.changes[key].announced.Add(1)
			s.q.AddWith(key, workqueue.AddOptions{Priority: rand.IntN(3), Cause: "changed"})
		}
		if rand.IntN(8) == 0 {
			time.Sleep(after)
		}
	}
}

func wait(ctx context.Context) error {
	switch rand.IntN(8) {
	case 0:
		runtime.Goexit()
	case 1:
		panic("the store has ended")
	}
	select {
	case <-time.After(time.Duration(rand.IntN(200)) * time.Microsecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// processOne is one run of a key by a worker.
func (s *stress) processOne(key int) {
	c := &s.changes[key]
	if c.working.Add(1) > 1 {
		s.t.Errorf("%s: key %d is with two workers", s.name, key)
	}
	c.seen.Store(c.announced.Load())
	if rand.IntN(4) == 0 {
		runtime.Gosched()
	}
	c.working.Add(-1)
}

func (s *stress) reconcile(_ context.Context, key int) error {
	s.processOne(key)
	switch rand.IntN(40) {
	case 0:
		return errors.New("failed")
	case 1:
		panic("failed")
	case 2:
		runtime.Goexit()
	case 3:
		return workqueue.RequeueAfter(time.Microsecond)
	case 4:
		return workqueue.RequeueWhen(wait)
	}
	return nil
}

// restartWorkers is a worker whose context may end at any moment.
func (s *stress) restartWorkers() {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(100))*time.Microsecond)
		key, err := s.q.Get(ctx)
		cancel()
		switch {
		case errors.Is(err, workqueue.ErrShutDown):
			return
		case err == nil:
			s.processOne(key)
			s.q.Done(key)
		}
	}
}

// end ends the queue in one of the possible ways.
func (s *stress) end(i int, cancel func()) {
	if s.early {
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
	}
	switch i {
	case 0:
		s.q.ShutDown()
	case 1:
		cancel()
	default:
		limit, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.q.Drain(limit); err != nil {
			s.t.Errorf("%s: %v\n%+v\n%+v", s.name, err, s.q.Stats(), s.q.Inspect())
		}
	}
}

func (s *stress) check() {
	require.NoError(s.t, s.q.Drain(context.Background()), s.name)
	require.NoError(s.t, s.q.Verify(), s.name)
	require.Empty(s.t, s.q.Inspect(), s.name)
	stats := s.q.Stats()
	require.Equal(s.t, stats.Adds, stats.Dones+stats.Dropped, s.name)
	require.Zero(s.t, stats.StrayDones, s.name)
	if s.early {
		return
	}
	for key := range stressPrecious {
		require.Equal(s.t, s.changes[key].announced.Load(), s.changes[key].seen.Load(), "%s: the last change of key %d", s.name, key)
	}
}
