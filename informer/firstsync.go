package informer

import (
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/internal/invariant"
)

// firstSync is how far a handler is with its first sync. The handler's goroutine makes all
// transitions: at a mark, which is a letter that says that the handler has been told of the
// complete first list, and of every change through a version; and at an answer of its catchUp.
//
//	state        the handler has returned from        Synced   mark             catchUp answers
//	─────────────────────────────────────────────────────────────────────────────────────────────
//	listing      some of its initial adds, or none    open     finished (1)     -
//	                                                           catchingUp (2)
//	catchingUp   all of them                          open     catchingUp (2)   catchingUp, synced or finished
//	synced       and what could be found out besides  closed   synced (2)       synced or finished
//	finished     everything                           closed   finished         -
//
// (1) where there is no catchUp, and (2) where there is one, which is then asked. It is asked
// again, without a mark, after askAgain. No transition leads back.
type firstSync struct {
	// begins is the revision of the store with which the handler begins: a snapshot in its
	// mailbox has every change up to that, and the informer posts the later ones (G5).
	begins uint64
	// catchesUp says that there is a catchUp. It does not change once the handler is added.
	catchesUp bool

	state atomic.Uint32 // a syncState
	done  chan struct{} // closed from synced on
	wake  chan struct{} // wakes the handler's goroutine, to which what follows belongs

	version string      // that catchUp was asked with last
	asked   time.Time   // when that was
	again   *time.Timer // calls wake; nil until catchUp has answered
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

// askAgain is for how long catchUp waits for a mark until it is asked without one.
const askAgain = time.Minute

func (s *firstSync) now() syncState { return syncState(s.state.Load()) }

// has reports whether the handler began with a snapshot that has this revision of the store.
func (s *firstSync) has(revision uint64) bool { return revision <= s.begins }

// wantsMarks reports whether catchUp is to be asked each time that the informer is further.
// The first mark is for every handler.
func (s *firstSync) wantsMarks() bool { return s.catchesUp && s.now() != finished }

// marked is the transition of a mark. It reports whether catchUp is to be asked now, with
// that version.
func (s *firstSync) marked(version string) (ask bool) {
	switch {
	case s.now() == finished: // The mark lay in the mailbox before that.
		return false
	case !s.catchesUp:
		s.enter(finished)
		return false
	}
	s.enter(max(s.now(), catchingUp))
	s.version = version
	return true
}

// overdue reports whether catchUp is to be asked again, with the same version.
func (s *firstSync) overdue() bool {
	return s.again != nil && s.now() != finished && time.Since(s.asked) >= askAgain
}

// answered is the transition of what catchUp has answered. The answer of one that was
// interrupted, as the handler was removed, may lead back, and then changes nothing.
func (s *firstSync) answered(answer syncState) {
	legal := (s.now() == catchingUp || s.now() == synced) && answer >= catchingUp
	invariant.Check(legal, "catchUp answered %v to a handler that is %v", answer, s.now())
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

// stop ends the waiting for the next time that catchUp is asked.
func (s *firstSync) stop() {
	if s.again != nil {
		s.again.Stop()
	}
}
