package reflector

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrRunning is returned by Run when the reflector is running already.
	ErrRunning = errors.New("reflector: Run was called while the reflector is running; use one goroutine per reflector")

	// ErrTimeTravel is reported when a snapshot is older than the sink's version, whether the
	// reflector refuses or accepts the snapshot; see [Options].AllowTimeTravel.
	ErrTimeTravel = errors.New("the snapshot is older than the known version")

	// ErrOtherHistory is reported when the server has another history than the sink, as after a
	// restore of the cluster from a backup. The reflector then takes a snapshot as if the sink were
	// empty.
	ErrOtherHistory = errors.New("the server's history differs from the known history")

	// ErrLate is reported when an event of a watch is older than the last event of this watch, and
	// is not a repetition. A snapshot follows, at most every five minutes. If more late events come
	// in between, the sink gets them.
	ErrLate = errors.New("the event is older than an earlier event of the same watch")

	// ErrNoProgress is reported when a list falls silent before its end, or when a streaming list
	// comes no nearer to its end marker; see [Options].ListProgressTimeout.
	ErrNoProgress = errors.New("the list has made no progress for too long")

	// ErrPageRepeated is reported when the continue token of a page is the token of an earlier
	// page, so that the list would never end. The reflector requests the next list without pages.
	ErrPageRepeated = errors.New("the list would not end: the server's continue token is the token of an earlier page")

	// ErrVeryShortWatch is reported when a server ends a watch in less than a
	// second without having sent anything.
	ErrVeryShortWatch = errors.New("the server ended the watch at once, without any event")

	// ErrIdle is reported when nothing has come on a watch for too long, not even a
	// bookmark; see [Options].WatchIdleTimeout.
	ErrIdle = errors.New("the watch fell silent: not even a bookmark came")

	// ErrOverdue is reported when a server sends no response to a watch before the timeout of that
	// watch.
	ErrOverdue = errors.New("the watch outlived its timeout")
)

// Error reports one failed attempt, or one undecodable object. It unwraps, so that the predicates
// of apimachinery's api/errors, errors.Is and errors.As work on it.
type Error struct {
	// Phase is the phase of the reflector when the attempt failed.
	Phase Phase

	// Err is the cause. If Err is a *listwatch.ObjectError, it concerns one object only, and the
	// attempt goes on, unless the event was a deletion.
	Err error

	// Failures is the number of consecutive failed attempts of this kind (to take a snapshot, or to
	// watch), including this one. It is 0 if the attempt goes on. It is also 0 if Err is ErrIdle on
	// a watch that had begun, because this is not a failure.
	Failures int

	// RetryIn is the wait that follows. 0 means that the reflector goes on at once, unless
	// Final is set.
	RetryIn time.Duration

	// Final is true if no attempt follows: Run returns this error; see
	// [Options].GiveUpAfter.
	Final bool
}

// Error returns a text with the phase, the cause and the next step of the reflector.
func (e Error) Error() string {
	switch {
	case e.Failures == 0:
		return fmt.Sprintf("reflector: %v: %v", e.Phase, e.Err)
	case e.Final:
		return fmt.Sprintf("reflector: %v: %v (failure %d in a row, giving up)", e.Phase, e.Err, e.Failures)
	case e.RetryIn == 0:
		return fmt.Sprintf("reflector: %v: %v (failure %d in a row, going on at once)", e.Phase, e.Err, e.Failures)
	default:
		requested := ""
		if d := retryAfterOf(e.Err); d > e.RetryIn {
			requested = fmt.Sprintf(", although the server asks for %v", d)
		}
		return fmt.Sprintf("reflector: %v: %v (failure %d in a row, next attempt in %v%s)",
			e.Phase, e.Err, e.Failures, e.RetryIn.Round(time.Millisecond), requested)
	}
}

// Unwrap returns the cause.
func (e Error) Unwrap() error { return e.Err }
