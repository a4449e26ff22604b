package versions

import (
	"sync"
	"sync/atomic"
)

// turn is the lock of writers. A reader that unpins an old view can request that the view's
// versions are collected, without waiting for the lock. If a writer has the lock, the writer
// collects before it unlocks. If nobody has the lock, the reader takes it and collects.
//
// plain/store.go has an RWMutex. A mutex and a flag for the request would not work, because a
// TryLock that fails synchronizes with nothing in Go's memory model. The reader could fail to lock
// and set the flag, and the writer could unlock without having seen the flag. Here the request and
// the lock are bits of one word.
//
// The holder hands the lock over to waiting goroutines. Under contention this takes longer than a
// sync.Mutex, but a store usually has one writer.
type turn struct {
	state atomic.Uint32

	// handed is locked, except while the lock is handed over: the holder unlocks handed, and one of
	// the waiting goroutines locks it. It is not a channel, because the runtime releases
	// unreachable snapshots in a goroutine of its own, which must not use a channel of a bubble of
	// testing/synctest.
	handed sync.Mutex
}

// These are the bits of a turn's state.
const (
	held     = 1 << iota // somebody has the lock
	asked                // the holder must collect before it releases the lock
	oneWaits             // is added for each goroutine that waits for the lock
)

// init initialises the lock as free. The lock must not be copied.
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

// release releases the lock and returns true, unless a reader has requested a collection or a
// goroutine waits.
func (t *turn) release() bool { return t.state.CompareAndSwap(held, 0) }

// pass returns true if the holder must collect and then call pass again. Otherwise it hands over or
// releases the lock.
func (t *turn) pass() (collect bool) {
	for {
		s := t.state.Load()
		switch {
		case s&asked != 0:
			if t.state.CompareAndSwap(s, s&^asked) {
				return true
			}
		case s >= oneWaits:
			if t.state.CompareAndSwap(s, s-oneWaits) { // the lock stays held
				t.handed.Unlock()
				return false
			}
		case t.release():
			return false
		}
	}
}

// ask makes sure that a collection starts after the call. If it returns true, the caller has got
// the lock, and must collect. It never waits.
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
