package apitest

import (
	"context"
	"sync"
)

// loops are the optional loops of a server: see [Options].GarbageCollection and [Options].RunPods.
// The loops start with the first listener or request, and [Server.Close] waits for them.
type loops struct {
	running sync.WaitGroup

	mu     sync.Mutex // guards following
	begun  bool
	cancel context.CancelFunc
}

// begin starts the loops, once. It does nothing if the server is closed.
func (s *Server) begin() {
	if !s.opts.GarbageCollection && !s.opts.RunPods {
		return
	}
	s.loops.mu.Lock()
	defer s.loops.mu.Unlock()
	if s.loops.begun {
		return
	}
	s.loops.begun = true
	ctx, cancel := context.WithCancel(context.Background())
	s.loops.cancel = cancel
	if s.opts.GarbageCollection {
		s.loops.running.Go(func() { s.collectGarbage(ctx) })
	}
	if s.opts.RunPods {
		s.loops.running.Go(func() { s.runPods(ctx) })
	}
}

// end ends the loops and waits for them.
func (l *loops) end() {
	l.mu.Lock()
	l.begun = true
	if l.cancel != nil {
		l.cancel()
	}
	l.mu.Unlock()
	l.running.Wait()
}

// follower is a loop that sees every change.
type follower struct {
	// start reads all objects. The loop calls it at the beginning, and after it has missed changes.
	// If objects are written meanwhile, start may see some of these writes and miss others. Calls
	// of change follow for the missed ones.
	start func()

	// change gets each change after the call of start, in order.
	change func(*change)

	// act does the work that is due. The loop calls it when no change is left to process.
	act func()
}

// follow runs a loop until ctx ends.
func (s *Server) follow(ctx context.Context, f follower) {
	for ctx.Err() == nil {
		version := s.store.current() // The loop sees changes during the call of start twice.
		f.start()
		s.followAfter(ctx, f, version)
	}
}

// followAfter processes changes after a version. It returns when changes are missing, or when ctx
// ends.
func (s *Server) followAfter(ctx context.Context, f follower, version uint64) {
	for {
		changes, through, more, ok := s.store.read(version)
		if !ok || s.store.current() < version { // a backup was restored
			return
		}
		for _, c := range changes {
			f.change(c)
		}
		if version = through; len(changes) > 0 {
			more = ready
		} else {
			f.act()
		}
		select {
		case <-ctx.Done():
			return
		case <-more:
		}
	}
}
