package transport

import (
	"context"
	"sync"
	"time"
)

// ReloadInterval is how long the contents of a file are used before the file is read again. A
// minute is enough: the kubelet replaces a token long before it expires, and a CA bundle days
// before.
const ReloadInterval = time.Minute

// Patience is how long reading files may delay a request that could use the earlier contents.
// FirstLoadTimeout is how long it may delay a client that has read nothing yet. There are limits,
// because a disk may stop responding.
const (
	ReloadTimeout    = time.Second
	FirstLoadTimeout = 10 * time.Second
)

// MaxFileBytes limits the size of a file. Tokens and CA bundles are much smaller.
const MaxFileBytes = 4 << 20

// Reloader lets requests reload files when their contents are too old. One goroutine at a time
// reads files: it cannot be ended if a disk does not respond. No lock is held while it reads,
// because users' functions parse the contents. With the zero value, files are read at the first
// request.
type Reloader struct {
	mu       sync.Mutex // guards following
	lastRead time.Time  // guards following
	running  *attempt   // nil if no goroutine reads
}

// attempt is an attempt to read the files. done is closed at its end.
type attempt struct {
	began time.Time
	done  chan struct{}
}

// ReloadIfDue calls the function read if the files are due. It returns nil when the call has
// returned or has taken longer than patience. If the files are not due, it returns nil at once. If
// ctx ends first, it returns the error of ctx. It is safe for concurrent use.
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

// Expire makes the files due, so that the next Ensure reads them.
func (f *Reloader) Expire() {
	f.mu.Lock()
	f.lastRead = time.Time{}
	f.mu.Unlock()
}
