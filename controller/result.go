package controller

import (
	"context"
	"time"

	"github.com/kinform/kinform/workqueue"
)

// Result says when the key of a reconcile that succeeded has its next turn. The zero value
// means when something changes. Beside an error a Result does not count: the key is tried
// again, later and later.
type Result struct {
	after time.Duration
	again bool
	when  func(context.Context) error
}

// Done is the zero Result: the next turn comes when something changes.
var Done = Result{}

// After asks for a turn when d has passed, or at once if d is not positive. A change before
// that makes a turn of its own, and the one that was asked for comes all the same.
func After(d time.Duration) Result { return Result{after: d, again: true} }

// When asks for a turn when until has returned, and holds the key back until then, whatever
// changes. until runs in a goroutine of its own, and must return when its context ends. An
// error of until is logged, and the key has its turn.
func When(until func(context.Context) error) Result { return Result{when: until} }

// Terminal marks an error that trying again would not mend, such as a contradiction in a
// specification: it is reported, and the key waits for the next change. Of nil, it is nil.
func Terminal(err error) error { return workqueue.Drop(err) }

// err is the result and the error of a reconcile in the language of the queue.
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
