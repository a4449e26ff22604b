package workqueue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrShutDown is returned by Get when the queue has been shut down and nothing
// is ready: the worker has no more to do.
var ErrShutDown = errors.New("workqueue: shut down, and nothing is queued")

// DrainError says that a drain ended before the queue was empty.
type DrainError struct {
	// Queue is the Name of the queue, from its Options.
	Queue string

	// Left is the number of keys that were still queued or being processed when
	// the drain was given up; 0 if only a hook was still running that a timer
	// had called, or a function that Park was given.
	Left int

	// Err is why: the cause of the end of the context that bounded the drain.
	Err error
}

// Error names the queue, the number of keys left, and the reason.
func (e *DrainError) Error() string {
	if e == nil {
		return "<nil>"
	}
	return fmt.Sprintf("workqueue %q: drain given up with %d keys not done: %v", e.Queue, e.Left, e.Err)
}

// Unwrap returns the reason.
func (e *DrainError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// PanicError is the error that a panic in a function of the user's becomes: in a
// reconcile, of which Run tells Observer.OnError, or in one that was given to Park.
type PanicError struct {
	// Value is the argument of the panic.
	Value any

	// Stack is the stack of the goroutine at the panic, as runtime/debug.Stack
	// formats it.
	Stack []byte
}

// Error gives the value, without the stack.
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

// RequeueAfter is the result of a reconcile function that succeeded and wants
// its key again after d: Run forgets the key's failures and adds it then. It is
// no failure. It is found however deeply it is wrapped, and errors around it are
// not reported. Joined with an error, it is not granted: Run reports that error and
// tries again, rate-limited. See Run for several results in one.
func RequeueAfter(d time.Duration) error { return &requeueAfter{after: d} }

// RequeueWhen is the result of a reconcile function that succeeded and wants
// its key again when the given function has returned: Run forgets the key's
// failures, parks it with that function, and adds it. See Park. It is no failure;
// wrapped or joined, it counts as RequeueAfter does.
func RequeueWhen(until func(context.Context) error) error { return &requeueWhen{until: until} }

// Drop is the result of a reconcile function for a failure that trying again would
// not mend, such as an object with a contradiction in it: Run reports the error and
// forgets the key, until it is added anew. Joined with an error that is not dropped,
// it is tried again with that one. Of nil, it is nil.
func Drop(err error) error {
	if err == nil {
		return nil
	}
	return &dropped{err: err}
}

// Wishes of a reconcile function, which returns them as errors.
type (
	requeueAfter struct{ after time.Duration }
	requeueWhen  struct{ until func(context.Context) error }
	dropped      struct{ err error }
)

func (r *requeueAfter) Error() string { return fmt.Sprintf("requeue after %v", r.after) }

func (r *requeueWhen) Error() string { return "requeue when a wait is over" }

func (d *dropped) Error() string { return "dropped: " + d.err.Error() }

func (d *dropped) Unwrap() error { return d.err }
