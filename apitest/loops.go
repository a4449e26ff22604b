package apitest

import (
	"context"
	"sync"

	"github.com/kinform/kinform/apitest/internal/storage"
)

// loops are the optional loops of a server: see [Options].GarbageCollection and [Options].RunPods.
// The loops start with the first listener or request, and [Server.Close] waits for them.
type loops struct {
	running sync.WaitGroup

	mu      sync.Mutex // guards following
	started bool
	cancel  context.CancelFunc
}

// startLoops starts the loops, once. It does nothing if the server is closed.
func (s *Server) startLoops() {
	if !s.opts.GarbageCollection && !s.opts.RunPods {
		return
	}
	s.loops.mu.Lock()
	defer s.loops.mu.Unlock()
	if s.loops.started {
		return
	}
	s.loops.started = true
	ctx, cancel := context.WithCancel(context.Background())
	s.loops.cancel = cancel
	if s.opts.GarbageCollection {
		s.loops.running.Go(func() { s.collectGarbage(ctx) })
	}
	if s.opts.RunPods {
		s.loops.running.Go(func() { s.runPods(ctx) })
	}
}

// stop ends the loops and waits for them.
func (l *loops) stop() {
	l.mu.Lock()
	l.started = true
	if l.cancel != nil {
		l.cancel()
	}
	l.mu.Unlock()
	l.running.Wait()
}

// changeLoop is a loop that processes every change.
type changeLoop struct {
	// start reads all objects. The loop calls it at the beginning, and after it has missed changes.
	// If objects are written meanwhile, start may see some of these writes and miss others. The
	// loop then calls change for all of them.
	start func()

	// change gets each change after the call of start, in order.
	change func(*storage.Change)

	// onIdle does the work that is due. The loop calls it when no change is left to process.
	onIdle func()
}

// runChangeLoop runs a loop until ctx ends.
func (s *Server) runChangeLoop(ctx context.Context, f changeLoop) {
	for ctx.Err() == nil {
		version := s.store.Current() // Changes during the call of start are processed again.
		f.start()
		s.processChanges(ctx, f, version)
	}
}

// processChanges processes changes after a version. It returns when changes are missing, or when
// ctx ends.
func (s *Server) processChanges(ctx context.Context, f changeLoop, version uint64) {
	for {
		changes, through, more, ok := s.store.Read(version)
		if !ok || s.store.Current() < version { // a backup was restored
			return
		}
		for _, c := range changes {
			f.change(c)
		}
		if version = through; len(changes) > 0 {
			more = closedChannel
		} else {
			f.onIdle()
		}
		select {
		case <-ctx.Done():
			return
		case <-more:
		}
	}
}
