package workqueue

import "context"

// ShutDown stops the intake: every later Add is refused, and delayed keys are
// discarded (WQ-26). Keys that are ready are still handed out, and so are those
// that were added again before ShutDown while they were processed; then Get
// returns ErrShutDown (WQ-10). ShutDown does not wait and may be called again.
func (q *Queue[K]) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.shuttingDown {
		return
	}
	q.shuttingDown = true
	close(q.wake)
	q.discardLocked()
	q.closeIfDrainedLocked()
}

// Drain shuts the queue down and waits until it is empty: nothing ready, dirty or
// processing, and no timer callback running (D1, D4). It needs workers that go on
// until Get returns ErrShutDown. When ctx ends first, Drain returns a *DrainError
// with the number of keys left; the queue stays shut down, and Drain may be
// called again. Any number of callers may wait (D3).
//
// A worker must not call Drain between Get and Done, nor a hook of the Observer:
// it would wait for itself.
func (q *Queue[K]) Drain(ctx context.Context) error {
	q.ShutDown()
	select {
	case <-q.drained:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.drainedLocked() {
		return nil
	}
	return &DrainError{Queue: q.opts.Name, Left: len(q.entries.byKey), Err: context.Cause(ctx)}
}

// drainedLocked reports whether the queue is shut down and nothing is left of it.
func (q *Queue[K]) drainedLocked() bool {
	return q.shuttingDown && len(q.entries.byKey) == 0 && q.pending == 0
}

// closeIfDrainedLocked is called wherever an entry or a pending timer has gone,
// so it finds the queue drained only once.
func (q *Queue[K]) closeIfDrainedLocked() {
	if q.drainedLocked() {
		close(q.drained)
	}
}
