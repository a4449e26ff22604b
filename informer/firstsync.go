package informer

import (
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/internal/invariant"
)

// firstSync is the progress of a handler's first sync. The handler's goroutine makes all
// transitions, on two occasions: when it takes a mark from the mailbox, and when catchUp returns. A
// mark is a letter (an entry of the mailbox) which says that the handler has received the complete
// first list, and every change through a version.
//
//	state       the handler has returned from   Synced  mark            catchUp returns
//	───────────────────────────────────────────────────────────────────────────────
//	listing     some initial adds, or none      open    finished (1)    -
//	                                                    catchingUp (2)
//	catchingUp  all initial adds                open    catchingUp (2)  catchingUp or later
//	synced      and all that catchUp has found  closed  synced (2)      synced or finished
//	finished    everything                      closed  finished        -
//
// (1) if the handler has no catchUp; (2) if it has one, which its goroutine then calls. Without a
// new mark, the goroutine calls catchUp again after catchUpInterval. No transition leads back.
type firstSync struct {
	// startRevision is the store revision at which the handler begins. A snapshot in its mailbox
	// has every change up to that revision, and the informer posts later changes (G5).
	startRevision uint64
	// catchesUp says whether the handler has a catchUp. It does not change once the handler is
	// added.
	catchesUp bool

	state atomic.Uint32 // a syncState
	done  chan struct{} // closed in the states synced and finished
	wake  chan struct{} // wakes the handler's goroutine, which owns the fields below

	version    string      // the version of the last call of catchUp
	lastCall   time.Time   // the time of that call
	retryTimer *time.Timer // calls wake; nil until catchUp has returned
}

// syncState is a state of a firstSync.
type syncState uint32

const (
	listing syncState = iota
	catchingUp
	synced
	finished
)

func (s syncState) String() string {
	return [...]string{"listing", "catchingUp", "synced", "finished"}[s]
}

// catchUpInterval is how long catchUp waits for a mark before it is called without one.
const catchUpInterval = time.Minute

func (s *firstSync) now() syncState { return syncState(s.state.Load()) }

// covers reports whether the handler began with a snapshot that contains this revision of the
// store.
func (s *firstSync) covers(revision uint64) bool { return revision <= s.startRevision }

// wantsSyncPoints reports whether the handler needs a mark each time the store advances, for its
// catchUp. Every handler gets the first mark.
func (s *firstSync) wantsSyncPoints() bool { return s.catchesUp && s.now() != finished }

// reachSyncPoint makes the transition for a mark. It reports whether catchUp must be called now,
// with the version of the mark.
func (s *firstSync) reachSyncPoint(version string) (callCatchUp bool) {
	switch {
	case s.now() == finished: // The mark was posted before the state became finished.
		return false
	case !s.catchesUp:
		s.setState(finished)
		return false
	}
	s.setState(max(s.now(), catchingUp))
	s.version = version
	return true
}

// catchUpDue reports whether catchUp must be called again with the same version, because no mark
// arrived in time.
func (s *firstSync) catchUpDue() bool {
	return s.retryTimer != nil && s.now() != finished && time.Since(s.lastCall) >= catchUpInterval
}

// catchUpReturned makes the transition for a result of catchUp. If the handler was removed during
// the call, catchUp may return an earlier state, which changes nothing.
func (s *firstSync) catchUpReturned(result syncState) {
	legal := (s.now() == catchingUp || s.now() == synced) && result >= catchingUp
	invariant.Check(legal, "catchUp returned %v for a handler that is %v", result, s.now())
	if !legal {
		return
	}
	s.setState(max(s.now(), result))
	s.lastCall = time.Now()
	switch {
	case s.now() == finished:
		s.stop()
	case s.retryTimer == nil:
		s.retryTimer = time.AfterFunc(catchUpInterval, func() { signal(s.wake) })
	default:
		s.retryTimer.Reset(catchUpInterval)
	}
}

func (s *firstSync) setState(state syncState) {
	before := s.now()
	s.state.Store(uint32(state))
	if before < synced && state >= synced {
		close(s.done)
	}
}

// stop cancels the timer for the next call of catchUp.
func (s *firstSync) stop() {
	if s.retryTimer != nil {
		s.retryTimer.Stop()
	}
}
