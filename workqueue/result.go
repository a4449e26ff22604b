package workqueue

import (
	"context"
	"fmt"
	"time"
)

// RequeueAfter is the result of a reconcile function that succeeded and requests another run of its
// key after d. Run forgets the key's failures, and adds the key after d. The result is not a
// failure. Run finds it however deeply it is wrapped, and does not report errors around it. If the
// result is joined with an error, Run ignores it, reports the error and retries, rate-limited. The
// package comment has the rules for several results in one.
func RequeueAfter(d time.Duration) error { return &requeueAfter{after: d} }

// RequeueWhen is the result of a reconcile function that succeeded and requests another run of its
// key when the function until has returned. Run forgets the key's failures, parks it with the
// function, and adds it. See Park. The result is not a failure. If it is wrapped or joined, it is
// treated like RequeueAfter.
func RequeueWhen(until func(context.Context) error) error { return &requeueWhen{until: until} }

// Drop is the result of a reconcile function for a failure that a retry cannot repair, such as a
// contradiction in an object. Run reports the error and forgets the key until it is added again. If
// the result is joined with an error that is not dropped, Run retries the key for that error.
// Drop(nil) is nil.
func Drop(err error) error {
	if err == nil {
		return nil
	}
	return &dropped{err: err}
}

// Requeue requests of a reconcile function, which it returns as errors.
type (
	requeueAfter struct{ after time.Duration }
	requeueWhen  struct{ until func(context.Context) error }
	dropped      struct{ err error }
)

func (r *requeueAfter) Error() string { return fmt.Sprintf("requeue after %v", r.after) }

func (r *requeueWhen) Error() string { return "requeue when a wait is over" }

func (d *dropped) Error() string { return "dropped: " + d.err.Error() }

func (d *dropped) Unwrap() error { return d.err }

// classification is the interpretation of a result of reconcile. If an error wraps others, the
// wrapped errors decide: the result is a requeue request only if every wrapped error is a requeue
// request.
type classification struct {
	failed  bool // contains an error that is retried
	dropped bool // contains an error that is dropped
	after   *time.Duration
	when    []func(context.Context) error
}

// classify interprets a result of reconcile.
func classify(err error) (o classification) {
	o.add(err, false)
	return o
}

// Classify returns how Run treats a result of reconcile while the context has not ended. The result
// failed says that reconcile failed, and did not only request a requeue. The result retries says
// that Run retries the key for this failure.
func Classify(result error) (failed, retries bool) {
	if result == nil {
		return false, false
	}
	o := classify(safeError(result))
	return o.failed || o.dropped, o.failed
}

// add adds an error to the classification; drop says that the error is inside a Drop.
func (o *classification) add(err error, drop bool) {
	switch e := err.(type) {
	case nil: // one of several wrapped errors
		return
	case *requeueAfter:
		if o.after == nil || e.after < *o.after {
			o.after = &e.after
		}
		return
	case *requeueWhen:
		o.when = append(o.when, e.until)
		return
	case *dropped:
		o.add(e.err, true)
		return
	case *PanicError: // a failure, whatever the value is
	case interface{ Unwrap() error }:
		if wrapped := e.Unwrap(); wrapped != nil {
			o.add(wrapped, drop)
			return
		}
	case interface{ Unwrap() []error }:
		some := false
		for _, wrapped := range e.Unwrap() {
			o.add(wrapped, drop)
			some = some || wrapped != nil
		}
		if some {
			return
		}
	}
	if drop {
		o.dropped = true
	} else {
		o.failed = true
	}
}

// Outcomes counts runs by their result, each once.
type Outcomes struct {
	// Succeeded counts runs that returned nil. RequeuedAfter and RequeuedWhen count runs that
	// requested another run, see RequeueAfter and RequeueWhen. Retried counts failures that are
	// retried, rate-limited; Dropped counts failures that are not retried, see Drop. Interrupted
	// counts runs that returned an error because their context had ended.
	Succeeded, RequeuedAfter, RequeuedWhen, Retried, Dropped, Interrupted uint64
}

// outcome is how a run ended.
type outcome uint8

const (
	doneByCaller outcome = iota // the caller called Done, which has no result
	succeeded
	requeuedAfter
	requeuedWhen
	retried
	notRetried
	interrupted

	numOutcomes = iota
)

// outcomesLocked returns how many runs of Run ended in each way.
func (q *Queue[K]) outcomesLocked() Outcomes {
	n := &q.outcomes
	return Outcomes{
		Succeeded:     n[succeeded],
		RequeuedAfter: n[requeuedAfter],
		RequeuedWhen:  n[requeuedWhen],
		Retried:       n[retried],
		Dropped:       n[notRetried],
		Interrupted:   n[interrupted],
	}
}
