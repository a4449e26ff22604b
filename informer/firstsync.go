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
// new mark, the goroutine calls catchUp again after askAgain. No transition leads back.
type firstSync struct {
	// begins is the store revision at which the handler begins. A snapshot in its mailbox has every
	// change up to that revision, and the informer posts later changes (G5).
	begins uint64
	// catchesUp says whether the handler has a catchUp. It does not change once the handler is
	// added.
	catchesUp bool

	state atomic.Uint32 // a syncState
	done  chan struct{} // closed in the states synced and finished
	wake  chan struct{} // wakes the handler's goroutine, which owns the fields below

	version string      // the version of the last call of catchUp
	asked   time.Time   // the time of that call
	again   *time.Timer // calls wake; nil until catchUp has returned
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

// askAgain is how long catchUp waits for a mark before it is called without one.
const askAgain = time.Minute

func (s *firstSync) now() syncState { return syncState(s.state.Load()) }

// has reports whether the handler began with a snapshot that contains this revision of the store.
func (s *firstSync) has(revision uint64) bool { return revision <= s.begins }

// wantsMarks reports whether the handler needs a mark each time the store advances, for its
// catchUp. Every handler gets the first mark.
func (s *firstSync) wantsMarks() bool { return s.catchesUp && s.now() != finished }

// marked makes the transition for a mark. It reports whether catchUp must be called now, with the
// version of the mark.
func (s *firstSync) marked(version string) (ask bool) {
	switch {
	case s.now() == finished: // The mark was posted before the state became finished.
		return false
	case !s.catchesUp:
		s.enter(finished)
		return false
	}
	s.enter(max(s.now(), catchingUp))
	s.version = version
	return true
}

// overdue reports whether catchUp must be called again with the same version, because no mark
// arrived in time.
func (s *firstSync) overdue() bool {
	return s.again != nil && s.now() != finished && time.Since(s.asked) >= askAgain
}

// answered makes the transition for a result of catchUp. If the handler was removed during the
// call, catchUp may return an earlier state, which changes nothing.
func (s *firstSync) answered(answer syncState) {
	legal := (s.now() == catchingUp || s.now() == synced) && answer >= catchingUp
	invariant.Check(legal, "catchUp returned %v for a handler that is %v", answer, s.now())
	if !legal {
		return
	}
	s.enter(max(s.now(), answer))
	s.asked = time.Now()
	switch {
	case s.now() == finished:
		s.stop()
	case s.again == nil:
		s.again = time.AfterFunc(askAgain, func() { signal(s.wake) })
	default:
		s.again.Reset(askAgain)
	}
}

func (s *firstSync) enter(state syncState) {
	before := s.now()
	s.state.Store(uint32(state))
	if before < synced && state >= synced {
		close(s.done)
	}
}

// stop cancels the timer for the next call of catchUp.
func (s *firstSync) stop() {
	if s.again != nil {
		s.again.Stop()
	}
}
