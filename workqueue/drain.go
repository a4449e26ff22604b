package workqueue

import "context"

// ShutDown stops the intake: every later Add is refused; delayed keys are
// discarded, and so are the turns of parked ones. Keys that are ready are
// still handed out, and so are those that were added again before ShutDown while
// they were processed, MinInterval or not; then Get returns ErrShutDown.
// ShutDown does not wait and may be called again.
func (q *Queue[K]) ShutDown() {
	q.mu.Lock()
	defer q.unlock()

	if q.shuttingDown {
		return
	}
	q.shuttingDown = true
	close(q.over)
	q.abandonLocked()
	q.discardAlarmsLocked()
	q.closeIfDrainedLocked()
}

// Drain shuts the queue down and waits until it is empty: nothing ready, dirty or
// processing, and no timer callback and no wait of a parked key going on. It needs workers that go on until Get returns ErrShutDown. When ctx ends
// first, Drain returns a *DrainError with the number of keys left; the queue
// stays shut down, and Drain may be called again. Any number of callers may wait.
//
// A worker must not call Drain between Get and Done, nor a hook of the Observer,
// nor a function that was given to Park: it would wait for itself.
func (q *Queue[K]) Drain(ctx context.Context) error {
	q.ShutDown()
	select {
	case <-q.drained:
		q.parking.waits.Wait() // they are over, but for returning
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

// leftLocked returns how many keys are to be worked on, or are being so.
func (q *Queue[K]) leftLocked() int {
	left := 0
	for e := range q.entries.all {
		if e.dirty || e.processing {
			left++
		}
	}
	return left
}

// drainedLocked reports whether the queue is shut down and nothing is left of it.
func (q *Queue[K]) drainedLocked() bool {
	return q.shuttingDown && q.entries.len == 0 && q.pending == 0
}

// closeIfDrainedLocked is called wherever an entry or a pending timer has gone,
// so it finds the queue drained only once.
func (q *Queue[K]) closeIfDrainedLocked() {
	if q.drainedLocked() {
		close(q.drained)
	}
}
