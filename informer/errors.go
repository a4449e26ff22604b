package informer

import (
	"errors"
	"fmt"
)

// ErrStopped is the error of adding a handler to an informer that has stopped,
// and of waiting for the sync of one that stopped before it got there.
var ErrStopped = errors.New("informer: stopped")

// ErrAlreadyRun is the error of a second Run. An informer runs once: make a new
// one.
var ErrAlreadyRun = errors.New("informer: Run was called twice; make a new informer instead")

// SyncError says why an informer, or a handler, is not synced yet. It unwraps to
// the reason for giving up waiting (a context's error or [ErrStopped]) and to the
// last error of the reflector, so that errors.Is and the predicates of
// apimachinery's api/errors find both.
type SyncError struct {
	// Status is the state of the informer at the time.
	Status Status

	// Err is why the wait ended.
	Err error
}

// Error says what is missing, since when and, where the reflector failed, why.
func (e *SyncError) Error() string {
	r := e.Status.Reflector
	text := fmt.Sprintf("informer %s is not synced (%v since %s", e.Status.Name, r.Phase, r.Since.Format("15:04:05.000"))
	if r.Items > 0 {
		text += fmt.Sprintf(", %d objects so far", r.Items)
	}
	text += ")"
	if r.LastError != nil {
		text += fmt.Sprintf(": last error: %v", r.LastError)
	}
	return fmt.Sprintf("%s: %v", text, e.Err)
}

// Unwrap returns the reason for giving up and the reflector's last error.
func (e *SyncError) Unwrap() []error {
	if last := e.Status.Reflector.LastError; last != nil {
		return []error{e.Err, last}
	}
	return []error{e.Err}
}
