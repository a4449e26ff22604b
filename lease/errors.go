package lease

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// LostError says that a leader has lost the lease. A *LostError is the cause of the leader's
// context, and the error of Run.
type LostError struct {
	// Lease and Identity name the lease, and the candidate that lost it.
	Lease    types.NamespacedName
	Identity string

	// Holder is the new holder if another candidate took the lease, and "" otherwise.
	Holder string

	// Unrenewed is the time since the last successful renewal.
	Unrenewed time.Duration

	// Err is the error of the last renewal. Err is nil if no renewal failed, for instance after a
	// stop of the process.
	Err error
}

// Error says how the lease was lost, and the probable reason.
func (e *LostError) Error() string {
	if e == nil {
		return "<nil>"
	}
	text := fmt.Sprintf("lease %s: %s no longer leads", e.Lease, e.Identity)
	switch {
	case e.Holder == e.Identity:
		return text + ": another candidate has the same identity: give each candidate its own Options.Identity"
	case e.Holder != "":
		return text + ": " + e.Holder + " has taken the lease, which this candidate had not released"
	case errors.Is(e.Err, errReleased):
		return text + ": " + e.Err.Error()
	case e.Err != nil:
		return fmt.Sprintf("%s: no renewal has succeeded for %v: %v", text, e.Unrenewed.Round(time.Millisecond), e.Err)
	}
	return fmt.Sprintf("%s: the lease was not renewed for %v, although no attempt failed: the process or the machine may have been stopped, or short of CPU",
		text, e.Unrenewed.Round(time.Millisecond))
}

// Unwrap returns Err, so that the predicates of apierrors work.
func (e *LostError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

var (
	// ErrEnded is the cause of a leader's context once its function has returned.
	ErrEnded = errors.New("lease: the function of the leader has returned")

	// errReleased says that the Lease has no holder, although this Elector has not released it.
	errReleased = errors.New("another client has removed the holder from the Lease")

	errOtherResponse = errors.New("the API server responded with another Lease than the one written")
)

// otherHolderError says that a renewal found another holder in the Lease.
type otherHolderError struct{ holder string }

func (e *otherHolderError) Error() string { return "the Lease is held by " + e.holder }
