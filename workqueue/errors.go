package workqueue

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/kinform/kinform/internal/contain"
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

// callContained calls a user's function f, and then passes the error of f to the function then. A
// panic or a runtime.Goexit of f becomes an error as well.
func callContained(f func() error, then func(error)) {
	err := errGoexit
	defer func() {
		if value := recover(); value != nil {
			stack := debug.Stack()
			if panicErr, ok := value.(error); ok {
				value = contain.SafeError(panicErr)
			}
			err = &PanicError{Value: value, Stack: stack}
		}
		then(safeError(err))
	}()
	err = f()
}

// safeError returns a user's error, or a *PanicError if a method of that error panics.
func safeError(err error) error {
	err = contain.SafeError(err)
	if stack, panicked := contain.Panicked(err); panicked {
		return &PanicError{Value: err, Stack: stack}
	}
	return err
}

// errGoexit is the error of a function that did not return and did not panic.
var errGoexit = errors.New("the function ended its goroutine by runtime.Goexit")
