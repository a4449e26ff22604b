package workqueue

import (
	"context"
	"time"
)

// outcome is the judgement of a result of reconcile. An error that wraps
// others is judged by these, so that it is a wish only if it wraps nothing but wishes.
type outcome struct {
	failed  bool // with something that is tried again
	dropped bool // with something that is not
	after   *time.Duration
	when    []func(context.Context) error
}

// outcomeOf judges a result of reconcile.
func outcomeOf(err error) (o outcome) {
	o.add(err, false)
	return o
}

// Judge says what Run makes of a result of reconcile, while the context has not ended: whether
// it is a failure, and not only a wish; and whether the key is tried again for that.
func Judge(result error) (failed, again bool) {
	if result == nil {
		return false, false
	}
	o := outcomeOf(harmless(result))
	return o.failed || o.dropped, o.failed
}

// add judges an error, below a Drop or not.
func (o *outcome) add(err error, drop bool) {
	switch e := err.(type) {
	case nil: // as one of several
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
