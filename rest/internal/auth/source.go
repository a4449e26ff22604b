package auth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/rest/internal/transport"
)

// Source calls a function that provides credentials of type C, one call at a time, in a context of
// its own. A call may last longer than the request that started it, for example if a user has to
// log in with a browser. Then the next request uses the result.
type Source[C any] struct {
	fetch   func(ctx context.Context, refused *C) (*C, error)
	timeout time.Duration

	mu      sync.Mutex // guards following
	refused *C         // the last credential that a server refused with 401
	running *call[C]   // nil while no call runs
	closed  bool
}

// NewSource returns a Source that calls the function fetch. Its argument refused is described at
// SetRefused. timeout limits each call.
func NewSource[C any](fetch func(ctx context.Context, refused *C) (*C, error), timeout time.Duration) *Source[C] {
	return &Source[C]{fetch: fetch, timeout: timeout}
}

// call is one call of fetch. The fields credential and err may be read after the channel done is
// closed.
type call[C any] struct {
	ctx        context.Context // of the call
	cancel     context.CancelFunc
	refused    *C // the credential to replace
	done       chan struct{}
	credential *C
	err        error
}

// Get returns a credential to use instead of the last refused one. If ctx ends first, Get returns
// the error of ctx, and the call of fetch goes on.
func (a *Source[C]) Get(ctx context.Context) (*C, error) {
	for {
		joined, current, err := a.join(ctx)
		if err != nil {
			return nil, err
		}
		select {
		case <-joined.done:
			if current {
				return joined.credential, joined.err
			}
		case <-joined.ctx.Done():
			// The function fetch may ignore its context, so Get does not wait for its result.
			select {
			case <-joined.done:
				if current {
					return joined.credential, joined.err
				}
			default:
				return nil, context.Cause(joined.ctx)
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// join returns the running call of fetch, or starts a call. The result current is true unless a
// server has refused a credential since the call started.
func (a *Source[C]) join(ctx context.Context) (joined *call[C], current bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return nil, false, transport.ErrClosed
	case a.running != nil:
		return a.running, a.running.refused == a.refused, nil
	}
	timeoutErr := fmt.Errorf("the function Credentials returned no credential within %s (rest.Config.CredentialTimeout): %w", a.timeout, os.ErrDeadlineExceeded)
	begun := &call[C]{refused: a.refused, done: make(chan struct{})}
	begun.ctx, begun.cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), a.timeout, timeoutErr)
	a.running = begun
	go func() { a.run(begun) }()
	return begun, true, nil
}

// run calls fetch. It completes the argument begun even if fetch panics or calls runtime.Goexit.
func (a *Source[C]) run(begun *call[C]) {
	credential, err := (*C)(nil), errors.New("the function Credentials called runtime.Goexit")
	defer func() {
		if p := recover(); p != nil {
			credential, err = nil, fmt.Errorf("the function Credentials panicked: %v", p)
		}
		if err == nil && credential == nil {
			err = errors.New("the function Credentials returned neither a credential nor an error")
		}
		begun.credential, begun.err = credential, contain.SafeError(err)
		a.mu.Lock()
		a.running = nil
		a.mu.Unlock()
		close(begun.done)
		begun.cancel()
	}()
	credential, err = a.fetch(begun.ctx, begun.refused)
}

// SetRefused records a credential that a server refused with 401.
func (a *Source[C]) SetRefused(credential *C) {
	a.mu.Lock()
	a.refused = credential
	a.mu.Unlock()
}

// Close cancels the running call of fetch, if any, and waits for it. Later calls of Get fail with
// [transport.ErrClosed].
func (a *Source[C]) Close() {
	a.mu.Lock()
	running := a.running
	a.closed = true
	a.mu.Unlock()
	if running != nil {
		running.cancel()
		<-running.done
	}
}
