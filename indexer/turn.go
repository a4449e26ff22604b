package indexer

import (
	"sync"
	"sync/atomic"
)

// turn is whose turn it is to write: a lock that can also be asked for a collection
// without waiting for it. Either there is a holder, who is asked in the same word in
// which it gives up the lock, and so cannot overlook it, or there is none, and who asks
// has the lock.
//
// A sync.Mutex and a flag beside it do not give that. Who finds with TryLock that the
// lock is held, and leaves a flag for the holder, must know that the holder will look at
// the flag later: but a TryLock that fails synchronizes with nothing. It may have read
// the state of the lock before others see the flag, on a processor that lets a load pass
// a store, and it may fail without any holder, as the memory model of Go has it.
//
// Whoever waits is given the lock by whoever has it, in turn. That takes longer under
// contention than a Mutex does, and a store has one writer as a rule.
type turn struct {
	state atomic.Uint32

	// handed is locked, but for a moment: whoever waits locks it, and whoever gives the
	// turn to one of them unlocks it. It is no channel, for one that is made in a bubble of
	// testing/synctest must not be used from outside, where the runtime lets go of
	// snapshots that nobody has any more.
	handed sync.Mutex
}

// The state of a turn.
const (
	held     = 1 << iota // somebody has the lock
	asked                // the holder is to collect before it gives up the lock
	oneWaits             // times how many wait for the lock
)

// init makes a turn that nobody has. It must not be copied.
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

// release gives up the lock, if nothing else is to be done with it.
func (t *turn) release() bool { return t.state.CompareAndSwap(held, 0) }

// pass does the next thing that is to be done with the lock: it tells the holder to
// collect, or gives up the lock.
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

// ask sees to it that a collection begins after the call, and reports whether the
// caller, who has the lock then, is to do it. It never waits.
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
