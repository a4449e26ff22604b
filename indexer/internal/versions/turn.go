package versions

import (
	"sync"
	"sync/atomic"
)

// turn is the lock of writers. A reader that lets go of an old view can ask for a collection
// of what the view kept, without waiting for the lock: if a writer has the lock, that writer
// collects before it unlocks, and if nobody has it, the reader gets it and collects.
//
// plain/store.go has an RWMutex. A mutex with a flag for the request would not do, because a
// TryLock that fails synchronizes with nothing in Go's memory model: the reader could fail
// to lock and set the flag, and the writer could unlock without having seen it. Here the
// request and the lock are bits of one word.
//
// The holder hands the lock over to goroutines that wait for it. That takes longer under
// contention than a sync.Mutex does. A store has one writer as a rule.
type turn struct {
	state atomic.Uint32

	// handed is locked, except while the lock is handed over: the holder unlocks it, and one
	// of the waiting goroutines locks it. A channel would not do: the runtime releases
	// unreachable snapshots in a goroutine of its own, which must not use a channel of a
	// bubble of testing/synctest.
	handed sync.Mutex
}

// The state of a turn.
const (
	held     = 1 << iota // somebody has the lock
	asked                // the holder must collect before it gives up the lock
	oneWaits             // is added for each goroutine that waits for the lock
)

// init makes a lock that nobody has. It must not be copied.
func (t *turn) init() { t.handed.Lock() }

// lock waits for the lock.
func (t *turn) lock() {
	if !t.state.CompareAndSwap(0, held) {
		t.lockSlow()
	}
}

//go:noinline
func (t *turn) lockSlow() {
	for {
		s := t.state.Load()
		switch {
		case s&held == 0:
			if t.state.CompareAndSwap(s, s|held) {
				return
			}
		case t.state.CompareAndSwap(s, s+oneWaits):
			t.handed.Lock()
			return
		}
	}
}

// release gives up the lock, unless a reader has asked for a collection or a goroutine waits. It
// reports whether it did.
func (t *turn) release() bool { return t.state.CompareAndSwap(held, 0) }

// pass tells the holder to collect, if somebody has asked for that, or else hands the lock
// over or gives it up.
func (t *turn) pass() (collect bool) {
	for {
		s := t.state.Load()
		switch {
		case s&asked != 0:
			if t.state.CompareAndSwap(s, s&^asked) {
				return true
			}
		case s >= oneWaits:
			if t.state.CompareAndSwap(s, s-oneWaits) { // It stays held.
				t.handed.Unlock()
				return false
			}
		case t.release():
			return false
		}
	}
}

// ask makes sure that a collection begins after the call. It returns true if the caller
// must do that: the caller has got the lock. It never waits.
func (t *turn) ask() (yours bool) {
	for {
		s := t.state.Load()
		switch {
		case s&held == 0:
			if t.state.CompareAndSwap(s, s|held) {
				return true
			}
		case s&asked != 0 || t.state.CompareAndSwap(s, s|asked):
			return false
		}
	}
}
