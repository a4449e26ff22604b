package transport

import (
	"context"
	"sync"
	"time"
)

// FileLifetime is how long the contents of a file are used before the file is read again. A minute
// is enough: the kubelet replaces a token long before it expires, and a CA bundle days before.
const FileLifetime = time.Minute

// Patience is how long reading files may delay a request that could use the earlier contents.
// FirstPatience is how long it may delay a client that has read nothing yet. There are limits,
// because a disk may stop responding.
const (
	Patience      = time.Second
	FirstPatience = 10 * time.Second
)

// MaxFileBytes limits the size of a file. Tokens and CA bundles are much smaller.
const MaxFileBytes = 4 << 20

// Files lets requests reload files when their contents are too old. One goroutine at a time reads
// files: it cannot be ended if a disk does not respond. No lock is held while it reads, because
// users' functions parse the contents. With the zero value, files are read at the first request.
type Files struct {
	mu      sync.Mutex // guards following
	at      time.Time  // guards following
	running *attempt   // nil if no goroutine reads
}

// attempt is an attempt to read the files. done is closed at its end.
type attempt struct {
	began time.Time
	done  chan struct{}
}

// Ensure calls the function read if the files are due. It returns nil when the call has returned or
// has taken longer than patience. If the files are not due, it returns nil at once. If ctx ends
// first, it returns the error of ctx. It is safe for concurrent use.
func (f *Files) Ensure(ctx context.Context, patience time.Duration, read func()) error {
	f.mu.Lock()
	if f.running == nil && time.Since(f.at) >= FileLifetime {
		begun := &attempt{began: time.Now(), done: make(chan struct{})}
		f.at, f.running = time.Now(), begun
		go func() { f.run(begun, read) }()
	}
	running := f.running
	f.mu.Unlock()
	if running == nil {
		return nil
	}
	left := time.NewTimer(patience - time.Since(running.began))
	defer left.Stop()
	select {
	case <-running.done:
	case <-left.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

func (f *Files) run(running *attempt, read func()) {
	defer func() {
		f.mu.Lock()
		f.running = nil
		f.mu.Unlock()
		close(running.done)
	}()
	read()
}

// Expire makes the files due, so that the next Ensure reads them.
func (f *Files) Expire() {
	f.mu.Lock()
	f.at = time.Time{}
	f.mu.Unlock()
}
