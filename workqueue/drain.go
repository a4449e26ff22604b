package workqueue

import "context"

// ShutDown stops the intake: the queue refuses every later Add. It discards delayed keys, and the
// pending runs of parked keys. Ready keys are still handed out. Keys that were added again while
// they were processed are also still handed out, even within MinInterval. After that Get returns
// ErrShutDown. ShutDown does not wait and may be called again.
func (q *Queue[K]) ShutDown() {
	q.mu.Lock()
	defer q.unlock()

	if q.shuttingDown {
		return
	}
	q.shuttingDown = true
	close(q.shutDownCh)
	q.discardParkedLocked()
	q.discardAlarmsLocked()
	q.closeIfDrainedLocked()
}

// Drain shuts the queue down and waits until it is empty. No key is ready, dirty or processing
// then, and no timer callback and no wait of a parked key is running. Drain needs workers that
// continue until Get returns ErrShutDown. If ctx ends first, Drain returns a *DrainError with the
// number of keys left; the queue stays shut down, and Drain may be called again. Several callers
// may wait.
//
// A worker between Get and Done must not call Drain. The same holds for a hook of the Observer, and
// for a function passed to Park. Each would wait for itself.
func (q *Queue[K]) Drain(ctx context.Context) error {
	q.ShutDown()
	select {
	case <-q.drained:
		q.parking.waits.Wait() // the waits are over, and their goroutines about to return
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	drained, left := q.drainedLocked(), q.leftLocked()
	q.mu.Unlock()
	if drained {
		q.parking.waits.Wait()
		return nil
	}
	return &DrainError{Queue: q.opts.Name, Left: left, Err: context.Cause(ctx)}
}

// leftLocked returns the number of keys that are dirty or processing.
func (q *Queue[K]) leftLocked() int {
	left := 0
	for e := range q.entries.all {
		if e.dirty || e.processing {
			left++
		}
	}
	return left
}

// drainedLocked reports whether the queue is shut down, and has no entry, timer callback or wait.
func (q *Queue[K]) drainedLocked() bool {
	return q.shuttingDown && q.entries.len == 0 && q.pending == 0
}

// closeIfDrainedLocked is called when an entry or a pending timer is gone. The queue becomes
// drained only once, so drained is closed once.
func (q *Queue[K]) closeIfDrainedLocked() {
	if q.drainedLocked() {
		close(q.drained)
	}
}
