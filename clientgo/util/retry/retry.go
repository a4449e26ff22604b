// Package retry calls a function again that has failed for a reason which may pass.
package retry

import (
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
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
// An error of fn that is not retriable is returned whatever it is. client-go takes the end of a context for the end
// of its own waiting, and returns nil for it, or an older error.
func OnError(backoff wait.Backoff, retriable func(error) bool, fn func() error) error {
	var err error
	for backoff.Steps > 0 {
		if err = fn(); err == nil || !retriable(err) {
			return err
		}
		if backoff.Steps == 1 {
			return err
		}
		time.Sleep(backoff.Step())
	}
	return err
}

// RetryOnConflict is OnError for updates: an error that says the object has been changed meanwhile is retriable. fn
// gets the object anew, changes it, updates it, and returns the error of the update.
func RetryOnConflict(backoff wait.Backoff, fn func() error) error {
	return OnError(backoff, errors.IsConflict, fn)
}
