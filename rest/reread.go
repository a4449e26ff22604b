package rest

import (
	"context"
	"sync"
	"time"
)

// fileLifetime is how long what was read from a file is used before the file is
// read again. The kubelet replaces a token long before it expires, and an
// authority is replaced days before.
const fileLifetime = time.Minute

// patience is how long an attempt to read files holds up those who could go on with
// what was read before: a disk may not answer any more. firstPatience is that of who
// has nothing yet.
const (
	patience      = time.Second
	firstPatience = 10 * time.Second
)

// rereading has files read again when what was read of them is too old, in a goroutine,
// which nobody can end where a disk does not answer: there is at most one. No lock is
// held meanwhile, as functions of the user parse what is in the files.
type rereading struct {
	mu      sync.Mutex // guards following
	at      time.Time  // of the last attempt; zero where it should be repeated
	running *reading   // nil without one
}

// reading is an attempt that is running. done is closed at its end.
type reading struct {
	began time.Time
	done  chan struct{}
}

// ensure returns when nothing is due any more, or when the attempt has taken longer than
// patience, or with the error of ctx if that ends before.
func (r *rereading) ensure(ctx context.Context, patience time.Duration, read func()) error {
	r.mu.Lock()
	if r.running == nil && time.Since(r.at) >= fileLifetime {
		r.at, r.running = time.Now(), &reading{began: time.Now(), done: make(chan struct{})}
		go r.run(r.running, read)
	}
	running := r.running
	r.mu.Unlock()
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

func (r *rereading) run(running *reading, read func()) {
	defer func() {
		r.mu.Lock()
		r.running = nil
		r.mu.Unlock()
		close(running.done)
	}()
	read()
}

// maxFileBytes bounds what is read of a file: tokens and bundles of authorities are
// much smaller.
const maxFileBytes = 4 << 20

// expire makes the next who needs them read the files.
func (r *rereading) expire() {
	r.mu.Lock()
	r.at = time.Time{}
	r.mu.Unlock()
}
