// Package retry calls a function again that has failed for a reason which may pass.
package retry

import (
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
)

// DefaultRetry is for a conflict between clients that change the same object.
var DefaultRetry = wait.Backoff{
	Steps:    5,
	Duration: 10 * time.Millisecond,
	Factor:   1.0,
	Jitter:   0.1,
}

// DefaultBackoff is for a conflict with controllers that work on the object.
var DefaultBackoff = wait.Backoff{
	Steps:    4,
	Duration: 10 * time.Millisecond,
	Factor:   5.0,
	Jitter:   0.1,
}

// OnError calls fn until it returns nil or an error that is not retriable, which OnError returns, and
// backoff.Steps times at most. After these it returns the last error. Between two calls it waits as backoff says.
//
// An error that is not retriable and says that a wait is over, such as the end of a context, gives way to the
// retriable error before it, if there was one: that is why there was a wait. Without steps, fn is not called, and the
// error is wait.ErrWaitTimeout.
func OnError(backoff wait.Backoff, retriable func(error) bool, fn func() error) error {
	var last error // that was retriable
	for backoff.Steps > 0 {
		panicked, err := call(fn)
		switch {
		case panicked: // in a program that goes on then
		case err == nil:
			return nil
		case retriable(err):
			last = err
		case last != nil && wait.Interrupted(err):
			return last
		default:
			return err
		}
		if backoff.Steps == 1 {
			return last
		}
		time.Sleep(backoff.Step())
	}
	//lint:ignore SA1019 programs compare with it
	return wait.ErrWaitTimeout
}

// call calls fn. A panic is logged, and ends the program if it is one that panics end.
func call(fn func() error) (panicked bool, err error) {
	defer utilruntime.HandleCrash()
	panicked = true
	err = fn()
	return false, err
}

// RetryOnConflict is OnError for updates: an error that says the object has been changed meanwhile is retriable. fn
// gets the object anew, changes it, updates it, and returns the error of the update.
func RetryOnConflict(backoff wait.Backoff, fn func() error) error {
	return OnError(backoff, errors.IsConflict, fn)
}
