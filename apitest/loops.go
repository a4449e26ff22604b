package apitest

import (
	"context"
	"sync"

	"github.com/kinform/kinform/apitest/internal/workloads"
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
		s.loops.running.Go(func() { workloads.NewGarbageCollector(s.cluster()).Run(ctx) })
	}
	if s.opts.RunPods {
		s.loops.running.Go(func() { workloads.RunPods(ctx, s.cluster()) })
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

// cluster returns what the loops need of the server.
func (s *Server) cluster() workloads.Cluster {
	return workloads.Cluster{
		Store: s.store, Logger: s.opts.Logger,
		Modify: s.modify, ModifyUnchecked: s.modifyUnchecked, Remove: s.remove,
	}
}
