package transport

import (
	"context"
	"sync"
	"time"
)

// FileLifetime is how long the contents of a file are used before the file is read
// again. The kubelet replaces a token long before it expires, and an authority is
// replaced days before.
const FileLifetime = time.Minute

// A disk may not answer any more. Patience is how long an attempt to read files holds
// up a request that could go on with what was read before, and FirstPatience how long
// it holds up a client that has read nothing yet.
const (
	Patience      = time.Second
	FirstPatience = 10 * time.Second
)

// MaxFileBytes bounds what is read of a file: tokens and bundles of authorities are
// much smaller.
const MaxFileBytes = 4 << 20

// Files has files read again when their contents are too old, in a goroutine, which
// nobody can end where a disk does not answer: there is at most one. No lock is held
// meanwhile, as functions of the user parse the contents. With the zero value, the
// files are due.
type Files struct {
	mu      sync.Mutex // guards following
	at      time.Time  // of the last attempt; zero where it should be repeated
	running *attempt   // nil without one
}

// attempt is a running attempt to read the files. done is closed at its end.
type attempt struct {
	began time.Time
	done  chan struct{}
}

// Ensure calls read if the files are due. It returns when nothing is due any more, or
// when the attempt has taken longer than patience, or with the error of ctx if that ends
// before. It is safe for concurrent use.
func (f *Files) Ensure(ctx context.Context, patience time.Duration, read func()) error {
	f.mu.Lock()
	if f.running == nil && time.Since(f.at) >= FileLifetime {
		f.at, f.running = time.Now(), &attempt{began: time.Now(), done: make(chan struct{})}
		go f.run(f.running, read)
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

// Expire makes the files due.
func (f *Files) Expire() {
	f.mu.Lock()
	f.at = time.Time{}
	f.mu.Unlock()
}
