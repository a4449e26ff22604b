// Package retry retries functions that failed for a temporary reason.
package retry

import (
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
)

// DefaultRetry is for conflicts between clients that change the same object.
var DefaultRetry = wait.Backoff{
	Steps:    5,
	Duration: 10 * time.Millisecond,
	Factor:   1.0,
	Jitter:   0.1,
}

// DefaultBackoff is for conflicts with controllers that work on the object.
var DefaultBackoff = wait.Backoff{
	Steps:    4,
	Duration: 10 * time.Millisecond,
	Factor:   5.0,
	Jitter:   0.1,
}

// OnError calls fn, at most backoff.Steps times, until fn returns nil or an error that is not
// retriable. It then returns this result of fn. After the last step it returns the last retriable
// error. The backoff determines the waits between the calls. If backoff.Steps is 0, it does not
// call fn, and returns wait.ErrWaitTimeout.
//
// The error of fn may be a timeout or the end of a context inside fn (see wait.Interrupted). Then
// OnError returns the last retriable error, if there was one, because this error shows the cause.
func OnError(backoff wait.Backoff, retriable func(error) bool, fn func() error) error {
	var last error // the last retriable error
	try := func() (over bool, err error) {
		defer utilruntime.HandleCrash() // if HandleCrash returns, the call is retried
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

// RetryOnConflict is OnError for updates: a conflict error is retriable. fn must read the object
// anew, change it, update it, and return the error of the update.
func RetryOnConflict(backoff wait.Backoff, fn func() error) error {
	return OnError(backoff, errors.IsConflict, fn)
}
