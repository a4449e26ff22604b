package workqueue

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// customQueue implements items for a program's own Queue or clock, which kinform's queue does not
// support. A program's Queue must be called under the lock, but kinform's queue calls no user code
// under its lock. The metrics must use the program's clock, but kinform's queue reads only the real
// clock.
type customQueue[T comparable] struct {
	metrics *queueMetrics[T]
	clock   clock.WithTicker

	mu sync.Mutex // guards following
	// broadcast when an item becomes ready, at shutdown, and when a drain may be over
	changed sync.Cond

	// If all callers keep the contract, queue has the items that are in dirty but not in
	// processing.
	queue        Queue[T]
	dirty        map[T]time.Time // the time of the add
	processing   map[T]time.Time // the time of Get
	shuttingDown bool
	gets         uint64
}

func newCustomQueue[T comparable](queue Queue[T], c clock.WithTicker, metrics *queueMetrics[T]) *customQueue[T] {
	if queue == nil {
		queue = DefaultQueue[T]()
	}
	s := &customQueue[T]{
		metrics: metrics, clock: c, queue: queue,
		dirty: make(map[T]time.Time), processing: make(map[T]time.Time),
	}
	s.changed.L = &s.mu
	return s
}

func (s *customQueue[T]) add(item T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shuttingDown {
		return
	}
	_, processing := s.processing[item]
	if _, dirty := s.dirty[item]; dirty {
		if !processing {
			s.queue.Touch(item)
		}
		return
	}
	s.metrics.countAdd()
	s.dirty[item] = s.clock.Now()
	if !processing {
		s.pushLocked(item)
	}
}

func (s *customQueue[T]) pushLocked(item T) {
	s.queue.Push(item)
	s.changed.Broadcast()
}

func (s *customQueue[T]) get() (item T, shutdown bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.queue.Len() == 0 {
		if s.shuttingDown {
			return item, true
		}
		s.changed.Wait()
	}
	item = s.queue.Pop()
	now := s.clock.Now()
	s.metrics.observeGet(now.Sub(s.dirty[item]))
	delete(s.dirty, item)
	s.processing[item] = now
	s.gets++
	return item, false
}

func (s *customQueue[T]) done(item T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, processing := s.processing[item]
	if !processing {
		return
	}
	s.metrics.observeDone(s.clock.Since(since))
	delete(s.processing, item)
	if _, dirty := s.dirty[item]; dirty {
		s.pushLocked(item)
		return
	}
	s.changed.Broadcast() // wakes waiting drains
}

func (s *customQueue[T]) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.Len()
}

func (s *customQueue[T]) shutDown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shuttingDown = true
	s.changed.Broadcast()
}

func (s *customQueue[T]) drain(ctx context.Context) {
	withIdleTimeout(ctx, func() (idle bool, gets uint64) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.processing) == 0, s.gets
	}, s.waitUntilEmpty)
}

func (s *customQueue[T]) waitUntilEmpty(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for (len(s.processing) > 0 || s.queue.Len() > 0) && ctx.Err() == nil {
		s.changed.Wait()
	}
}

func (s *customQueue[T]) running() (total, longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, since := range s.processing {
		ran := s.clock.Since(since)
		total += ran
		longest = max(longest, ran)
	}
	return total, longest
}
