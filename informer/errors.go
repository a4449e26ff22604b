package informer

import (
	"errors"
	"fmt"

	"github.com/kinform/kinform/reflector"
)

// ErrStopped is returned when a handler is added to a stopped informer. A wait for the sync of an
// informer also returns ErrStopped, if the informer stops before it is synced.
var ErrStopped = errors.New("informer: stopped")

// ErrRemoved is the error of a wait for the sync of a handler that was removed before it was
// synced.
var ErrRemoved = errors.New("informer: handler removed")

// ErrAlreadyRun is the error of a second Run. An informer runs once: make a new
// one.
var ErrAlreadyRun = errors.New("informer: Run was called twice; make a new informer instead")

// SyncError says why an informer or a handler is not synced yet. It unwraps to the reason why the
// wait ended: a context's error, [ErrStopped] or [ErrRemoved]. While the reflector is failing, it
// unwraps to the reflector's last error as well. So errors.Is and the predicates of apimachinery's
// api/errors find both.
type SyncError struct {
	// Handler is the name of the handler that is not synced, or "" for the informer.
	Handler string

	// Status is the state of the informer when the wait ended.
	Status Status

	// Err is why the wait ended.
	Err error
}

// Error names the phase of the reflector, the start of that phase, and the last error; or it says
// that Run has not been called. If only the handler is not synced, Error says how many events the
// handler has received.
func (e *SyncError) Error() string {
	if e == nil {
		return "<nil>"
	}
	if e.Handler != "" && e.Status.Synced {
		return fmt.Sprintf("handler %s is not synced, but informer %s is (%d events delivered): %v", e.Handler, e.Status.Name, e.delivered(), e.Err)
	}
	r := e.Status.Reflector
	if r.Phase == reflector.Idle {
		return fmt.Sprintf("informer %s is not synced, because its Run has not been called: %v", e.Status.Name, e.Err)
	}
	text := fmt.Sprintf("informer %s is not synced (%v since %s", e.Status.Name, r.Phase, r.Since.Format("15:04:05.000"))
	if r.Items > 0 {
		text += fmt.Sprintf(", %d objects so far", r.Items)
	}
	text += ")"
	if last := e.lastError(); last != nil {
		text += fmt.Sprintf(": last error: %v", last)
	}
	return fmt.Sprintf("%s: %v", text, e.Err)
}

// delivered returns the number of the handler's calls that have ended.
func (e *SyncError) delivered() uint64 {
	for _, h := range e.Status.Handlers {
		if h.Name == e.Handler {
			return h.Delivered
		}
	}
	return 0
}

// Unwrap returns the reason why the wait ended, and the reflector's current error.
func (e *SyncError) Unwrap() []error {
	if e == nil {
		return nil
	}
	if last := e.lastError(); last != nil {
		return []error{e.Err, last}
	}
	return []error{e.Err}
}

// lastError returns the reflector's last error, unless the reflector has recovered. If the informer
// lacks only objects that cannot be decoded or stored, lastError returns the error of these
// objects.
func (e *SyncError) lastError() error {
	if e.Status.Reflector.Failures == 0 {
		if e.Status.Synced || !e.Status.Reflector.Synced {
			return nil
		}
		return e.Status.Undecodable.Err()
	}
	return e.Status.Reflector.LastError
}

// errGoexit is the error of Run if the goroutine of its reflector ended by runtime.Goexit.
var errGoexit = errors.New("informer: a hook, an observer or a source called runtime.Goexit, which ended the reflector: in tests, call FailNow of package testing only in the test's own goroutine")
