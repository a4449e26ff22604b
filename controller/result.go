package controller

import (
	"context"
	"time"

	"github.com/kinform/kinform/workqueue"
)

// Result says when the key of a successful reconcile is reconciled again. With the zero value, the
// next reconcile follows a change. If the reconcile returns an error, its Result is ignored: the
// key is retried with back-off.
type Result struct {
	after   time.Duration
	requeue bool
	when    func(context.Context) error
}

// Done is the zero Result: the next reconcile follows a change.
var Done = Result{}

// After returns a Result that requests a reconcile when d has passed, or at once if d is not
// positive. An earlier change causes an additional reconcile.
func After(d time.Duration) Result { return Result{after: d, requeue: true} }

// When returns a Result that requests a reconcile after the function until has returned. Before
// that, the key is not reconciled, whatever changes. The function runs in a goroutine of its own,
// and must return when its context ends. If it fails, its error is logged, and the key is
// reconciled.
func When(until func(context.Context) error) Result { return Result{when: until} }

// Terminal marks an error that a retry cannot repair, such as a contradiction in a specification.
// The error is reported, and the key waits for the next change. Terminal(nil) is nil.
func Terminal(err error) error { return workqueue.Drop(err) }

// err combines the result and the error of a reconcile into an error for the queue.
func (r Result) err(failed error) error {
	switch {
	case failed != nil:
		return failed
	case r.when != nil:
		return workqueue.RequeueWhen(r.when)
	case r.requeue:
		return workqueue.RequeueAfter(r.after)
	}
	return nil
}
