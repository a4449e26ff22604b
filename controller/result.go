package controller

import (
	"context"
	"time"

	"github.com/kinform/kinform/workqueue"
)

// Result says when the key of a successful reconcile has its next turn. The zero value means when
// something changes. Beside an error a Result does not count: the key is retried, at ever longer
// intervals.
type Result struct {
	after time.Duration
	again bool
	when  func(context.Context) error
}

// Done is the zero Result: the next turn comes when something changes.
var Done = Result{}

// After asks for a turn when d has passed, or at once if d is not positive. An earlier change makes a
// turn of its own, and the requested turn comes all the same.
func After(d time.Duration) Result { return Result{after: d, again: true} }

// When asks for a turn when until has returned. Until then, the key has no turn, whatever changes.
// until runs in a goroutine of its own, and must return when its context ends. If until fails, its
// error is logged, and the key has its turn.
func When(until func(context.Context) error) Result { return Result{when: until} }

// Terminal marks an error that a retry does not mend, such as a contradiction in a specification. The
// error is reported, and the key waits for the next change. Terminal(nil) is nil.
func Terminal(err error) error { return workqueue.Drop(err) }

// err turns the result and the error of a reconcile into an error for the queue.
func (r Result) err(failed error) error {
	switch {
	case failed != nil:
		return failed
	case r.when != nil:
		return workqueue.RequeueWhen(r.when)
	case r.again:
		return workqueue.RequeueAfter(r.after)
	}
	return nil
}
