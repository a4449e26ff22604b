package workqueue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrShutDown is returned by Get when the queue has been shut down and no key is ready: the worker
// can end.
var ErrShutDown = errors.New("workqueue: shut down, and nothing is queued")

// DrainError says that a drain ended before the queue was empty.
type DrainError struct {
	// Queue is the Name of the queue, from its Options.
	Queue string

	// Left is the number of keys that were queued or processing when the drain ended early. Left is
	// 0 if only a hook called by a timer, or a function passed to Park, was still running.
	Left int

	// Err is the cause of the end of the context that limited the drain.
	Err error
}

// Error has the queue's name, the number of keys left, and the reason.
func (e *DrainError) Error() string {
	if e == nil {
		return "<nil>"
	}
	return fmt.Sprintf("workqueue %q: drain ended with %d keys left: %v", e.Queue, e.Left, e.Err)
}

// Unwrap returns the reason.
func (e *DrainError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// PanicError is the error for a panic in a user's function: in a reconcile, whose error Run reports
// to Observer.OnError, or in a function passed to Park.
type PanicError struct {
	// Value is the argument of the panic.
	Value any

	// Stack is the stack of the goroutine at the panic, as runtime/debug.Stack
	// formats it.
	Stack []byte
}

// Error returns the value, without the stack.
func (e *PanicError) Error() string {
	if e == nil {
		return "<nil>"
	}
	return fmt.Sprintf("panicked: %v", e.Value)
}

// Unwrap returns the value if it is an error, such as a runtime.Error.
func (e *PanicError) Unwrap() error {
	if e == nil {
		return nil
	}
	err, _ := e.Value.(error)
	return err
}

// RequeueAfter is the result of a reconcile function that succeeded and requests another run of its
// key after d. Run forgets the key's failures, and adds the key after d. The result is not a
// failure. Run finds it however deeply it is wrapped, and does not report errors around it. If the
// result is joined with an error, Run ignores it, reports the error and retries, rate-limited. The
// package comment has the rules for several results in one.
func RequeueAfter(d time.Duration) error { return &requeueAfter{after: d} }

// RequeueWhen is the result of a reconcile function that succeeded and requests another run of its
// key when the function until has returned. Run forgets the key's failures, parks it with until,
// and adds it. See Park. The result is not a failure. If it is wrapped or joined, it is treated
// like RequeueAfter.
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
