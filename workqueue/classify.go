package workqueue

import (
	"context"
	"time"
)

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

// Classify returns how Run treats a result of reconcile while the context has not ended. failed
// says that the result is a failure, not only a requeue request. retries says that Run retries the
// key for this failure.
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
