package lease

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// LostError says that a leader no longer leads, though nobody asked it to end. It is the
// cause of its context, and what Run returns.
type LostError struct {
	// Lease and Identity say what was lost, and by whom.
	Lease    types.NamespacedName
	Identity string

	// Holder is who has the lease, where another took it, and "" otherwise.
	Holder string

	// Unrenewed is for how long no renewal had succeeded.
	Unrenewed time.Duration

	// Err is why the last attempt at a renewal failed; nil if none failed, as after the
	// process had been stopped.
	Err error
}

// Error says what happened, and what may have been the reason.
func (e *LostError) Error() string {
	text := fmt.Sprintf("lease %s: %s no longer leads", e.Lease, e.Identity)
	switch {
	case e.Holder == e.Identity:
		return text + ": another candidate has the same identity; see that Options.Identity is of one alone"
	case e.Holder != "":
		return text + ": " + e.Holder + " has taken the lease, which this one had not given up"
	case errors.Is(e.Err, errReleased):
		return text + ": " + e.Err.Error()
	case e.Err != nil:
		return fmt.Sprintf("%s: no renewal has succeeded for %v: %v", text, e.Unrenewed.Round(time.Millisecond), e.Err)
	}
	return fmt.Sprintf("%s: nothing was renewed for %v, and no attempt has failed: the process or the machine may have been stopped, or short of CPU",
		text, e.Unrenewed.Round(time.Millisecond))
}

// Unwrap returns Err, so that the predicates of apierrors work.
func (e *LostError) Unwrap() error { return e.Err }

var (
	// ErrEnded is the cause of a leader's context once its function has returned.
	ErrEnded = errors.New("lease: the function of the leader has returned")

	// errReleased is that a Lease names nobody any more, by another's doing.
	errReleased = errors.New("somebody else has emptied the Lease")

	errForeign = errors.New("the API server answered with a Lease that is not the one that was written")
)

// takenError is that a renewal found another in the Lease.
type takenError struct{ holder string }

func (e *takenError) Error() string { return "the Lease is held by " + e.holder }
