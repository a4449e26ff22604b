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

// rereading has files read again when what was read of them is too old: by one of
// those who need it, while the others wait. No lock is held meanwhile, for a file may
// be on a disk that does not answer, and what is in it is parsed by functions of the
// user.
type rereading struct {
	mu      sync.Mutex    // guards following
	at      time.Time     // of the last attempt; zero where it should be repeated
	running chan struct{} // closed at the end of the attempt that is running, nil without one
}

// ensure returns when nothing is due any more, or with the error of ctx, if that ends
// while somebody else reads.
func (r *rereading) ensure(ctx context.Context, read func()) error {
	r.mu.Lock()
	running, due := r.running, time.Since(r.at) >= fileLifetime
	if due && running == nil {
		r.at, r.running = time.Now(), make(chan struct{})
	}
	r.mu.Unlock()
	switch {
	case running != nil:
		select {
		case <-running:
		case <-ctx.Done():
			return ctx.Err()
		}
	case due:
		defer r.done()
		read()
	}
	return nil
}

func (r *rereading) done() {
	r.mu.Lock()
	close(r.running)
	r.running = nil
	r.mu.Unlock()
}

// expire makes the next who needs them read the files.
func (r *rereading) expire() {
	r.mu.Lock()
	r.at = time.Time{}
	r.mu.Unlock()
}
