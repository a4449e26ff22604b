package transport

import (
	"context"
	"sync"
	"time"
)

// ReloadInterval is the age of the contents at which a request reloads the files. A minute is short
// enough: the kubelet replaces a token long before it expires, and a CA bundle days before.
const ReloadInterval = time.Minute

// ReloadTimeout is how long reading files may delay a request that could use the earlier contents.
// FirstLoadTimeout is how long reading files may delay a client that has no contents yet. Both
// exist because a disk may stop responding.
const (
	ReloadTimeout    = time.Second
	FirstLoadTimeout = 10 * time.Second
)

// MaxFileBytes limits the size of a file. Tokens and CA bundles are much smaller.
const MaxFileBytes = 4 << 20

// Reloader reloads files before a request if their contents are older than ReloadInterval. One
// goroutine at a time reads files, because a goroutine cannot be ended if a disk does not respond.
// It holds no lock while it reads, because users' functions parse the contents. With the zero
// value, the first request reads the files.
type Reloader struct {
	mu       sync.Mutex // guards following
	lastRead time.Time  // when the last read began
	running  *attempt   // nil if no goroutine reads
}

// attempt is one attempt to read the files. The channel done is closed at its end.
type attempt struct {
	began time.Time
	done  chan struct{}
}

// ReloadIfDue calls the function read, in a goroutine, if ReloadInterval has passed since the last
// call. It waits for the call, or for the running call of another caller. It returns nil when this
// call has returned, or has taken longer than timeout. If ctx ends first, it returns the error of
// ctx. ReloadIfDue is safe for concurrent use.
func (f *Reloader) ReloadIfDue(ctx context.Context, timeout time.Duration, read func()) error {
	f.mu.Lock()
	if f.running == nil && time.Since(f.lastRead) >= ReloadInterval {
		begun := &attempt{began: time.Now(), done: make(chan struct{})}
		f.lastRead, f.running = time.Now(), begun
		go func() { f.run(begun, read) }()
	}
	running := f.running
	f.mu.Unlock()
	if running == nil {
		return nil
	}
	left := time.NewTimer(timeout - time.Since(running.began))
	defer left.Stop()
	select {
	case <-running.done:
	case <-left.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

func (f *Reloader) run(running *attempt, read func()) {
	defer func() {
		f.mu.Lock()
		f.running = nil
		f.mu.Unlock()
		close(running.done)
	}()
	read()
}

// Expire makes the next ReloadIfDue read the files.
func (f *Reloader) Expire() {
	f.mu.Lock()
	f.lastRead = time.Time{}
	f.mu.Unlock()
}
