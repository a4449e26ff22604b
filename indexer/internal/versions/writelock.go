package versions

import (
	"sync"
	"sync/atomic"
)

// writeLock is the lock of writers. A reader that unpins an old view can request that the view's
// versions are collected, without waiting for the lock. If a writer has the lock, the writer
// collects before it unlocks. If nobody has the lock, the reader takes it and collects.
//
// plain/store.go has an RWMutex. A mutex and a flag for the request would not work, because a
// TryLock that fails synchronizes with nothing in Go's memory model. The reader could fail to lock
// and set the flag, and the writer could unlock without having seen the flag. Here the request and
// the lock are bits of one word, which both change atomically.
//
// The holder hands the lock over to waiting goroutines. Under contention this takes longer than a
// sync.Mutex, but a store usually has one writer.
type writeLock struct {
	state atomic.Uint32

	// handoff is locked, except while the lock is handed over: the holder unlocks handoff, and one
	// of the waiting goroutines locks it. It is not a channel, because a goroutine of the runtime
	// releases unreachable snapshots, and must not use a channel of a bubble of testing/synctest.
	handoff sync.Mutex
}

// These are the bits of a writeLock's state.
const (
	held             = 1 << iota // somebody has the lock
	collectRequested             // the holder must collect before it releases the lock
	oneWaiter                    // the count of waiting goroutines is in multiples of this bit
)

// init initialises the lock as free. The lock must not be copied.
func (l *writeLock) init() { l.handoff.Lock() }

// lock waits for the lock.
func (l *writeLock) lock() {
	if !l.state.CompareAndSwap(0, held) {
		l.lockSlow()
	}
}

//go:noinline
func (l *writeLock) lockSlow() {
	for {
		s := l.state.Load()
		switch {
		case s&held == 0:
			if l.state.CompareAndSwap(s, s|held) {
				return
			}
		case l.state.CompareAndSwap(s, s+oneWaiter):
			l.handoff.Lock()
			return
		}
	}
}

// release releases the lock and returns true, unless a reader has requested a collection or a
// goroutine waits.
func (l *writeLock) release() bool { return l.state.CompareAndSwap(held, 0) }

// handOver returns true if the holder must collect and then call handOver again. Otherwise it hands
// over or releases the lock.
func (l *writeLock) handOver() (collect bool) {
	for {
		s := l.state.Load()
		switch {
		case s&collectRequested != 0:
			if l.state.CompareAndSwap(s, s&^collectRequested) {
				return true
			}
		case s >= oneWaiter:
			if l.state.CompareAndSwap(s, s-oneWaiter) { // the lock stays held
				l.handoff.Unlock()
				return false
			}
		case l.release():
			return false
		}
	}
}

// requestCollect makes sure that a collection starts after the call. If it returns true, the caller
// has got the lock, and must collect. It never waits.
func (l *writeLock) requestCollect() (acquired bool) {
	for {
		s := l.state.Load()
		switch {
		case s&held == 0:
			if l.state.CompareAndSwap(s, s|held) {
				return true
			}
		case s&collectRequested != 0 || l.state.CompareAndSwap(s, s|collectRequested):
			return false
		}
	}
}
