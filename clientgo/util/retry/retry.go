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
// backoff.Steps times at most. After these it returns the last retriable error, or wait.ErrWaitTimeout if there was
// none. Between two calls it waits as backoff says.
//
// An error that is not retriable and says that a wait is over, such as the end of a context, gives way to the
// retriable error before it, if there was one: that is why there was a wait. Without steps, fn is not called.
func OnError(backoff wait.Backoff, retriable func(error) bool, fn func() error) error {
	var last error // that was retriable
	try := func() (over bool, err error) {
		defer utilruntime.HandleCrash() // in a program that goes on then, there is another call
		if err = fn(); err != nil && retriable(err) {
			last = err
			return false, nil
		}
		return true, err
	}
	for backoff.Steps > 0 {
		if over, err := try(); over {
			if last != nil && wait.Interrupted(err) {
				return last
			}
			return err
		}
		if backoff.Steps == 1 {
			break
		}
		time.Sleep(backoff.Step())
	}
	if last != nil {
		return last
	}
	//lint:ignore SA1019 programs compare with it
	return wait.ErrWaitTimeout
}

// RetryOnConflict is OnError for updates: an error that says the object has been changed meanwhile is retriable. fn
// gets the object anew, changes it, updates it, and returns the error of the update.
func RetryOnConflict(backoff wait.Backoff, fn func() error) error {
	return OnError(backoff, errors.IsConflict, fn)
}
