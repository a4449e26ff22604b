package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/contain"
)

// credentialSource calls Config.Credentials (the source), one call at a time, in a context of its
// own. A call may last longer than the request that started it, for example if a user has to log in
// with a browser. Then the next request uses the result.
type credentialSource struct {
	fetch   func(ctx context.Context, refused *Credential) (*Credential, error)
	timeout time.Duration

	mu      sync.Mutex      // guards following
	refused *Credential     // the last credential that a server refused with 401
	running *credentialCall // nil while no call runs
	closed  bool
}

// credentialCall is one call of the source. The fields credential and err may be read after done is
// closed.
type credentialCall struct {
	ctx        context.Context // of the call
	cancel     context.CancelFunc
	refused    *Credential // the credential to replace
	done       chan struct{}
	credential *Credential
	err        error
}

// get returns a credential to use instead of the last refused one. If ctx ends first, get returns
// the error of ctx, and the call of the source goes on.
func (a *credentialSource) get(ctx context.Context) (*Credential, error) {
	for {
		call, current, err := a.join(ctx)
		if err != nil {
			return nil, err
		}
		select {
		case <-call.done:
			if current {
				return call.credential, call.err
			}
		case <-call.ctx.Done():
			// The source may ignore its context, so get does not wait for its result.
			select {
			case <-call.done:
				if current {
					return call.credential, call.err
				}
			default:
				return nil, context.Cause(call.ctx)
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// join returns the running call of the source, or starts a call. current is true unless a server
// has refused a credential since the call started.
func (a *credentialSource) join(ctx context.Context) (call *credentialCall, current bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return nil, false, ErrClosed
	case a.running != nil:
		return a.running, a.running.refused == a.refused, nil
	}
	timeoutErr := fmt.Errorf("the function Credentials returned no credential within %s (rest.Config.CredentialTimeout): %w", a.timeout, os.ErrDeadlineExceeded)
	begun := &credentialCall{refused: a.refused, done: make(chan struct{})}
	begun.ctx, begun.cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), a.timeout, timeoutErr)
	a.running = begun
	go func() { a.run(begun) }()
	return begun, true, nil
}

// run calls the source. It completes the argument call even if the source panics or calls
// runtime.Goexit.
func (a *credentialSource) run(call *credentialCall) {
	credential, err := (*Credential)(nil), errors.New("the function Credentials called runtime.Goexit")
	defer func() {
		if p := recover(); p != nil {
			credential, err = nil, fmt.Errorf("the function Credentials panicked: %v", p)
		}
		if err == nil && credential == nil {
			err = errors.New("the function Credentials returned neither a credential nor an error")
		}
		call.credential, call.err = credential, contain.SafeError(err)
		a.mu.Lock()
		a.running = nil
		a.mu.Unlock()
		close(call.done)
		call.cancel()
	}()
	credential, err = a.fetch(call.ctx, call.refused)
}

// setRefused records a credential that a server refused with 401.
func (a *credentialSource) setRefused(credential *Credential) {
	a.mu.Lock()
	a.refused = credential
	a.mu.Unlock()
}

// close cancels the running call of the source, if any, and waits for it.
func (a *credentialSource) close() {
	a.mu.Lock()
	call := a.running
	a.closed = true
	a.mu.Unlock()
	if call != nil {
		call.cancel()
		<-call.done
	}
}

// Prepare waits until the client has the credential that a request needs, or until ctx ends. It
// returns at once if [Config].Credentials is not set. A caller that sets deadlines for requests
// calls Prepare first, with a context that leaves enough time to log in. Requests also get a
// credential by themselves.
func (c *Client) Prepare(ctx context.Context) error {
	return c.prepare(ctx, c.base.String())
}

// Prepare implements [listwatch.Preparer]; see [Client.Prepare].
func (r *Resource[T]) Prepare(ctx context.Context) error {
	return r.client.prepare(ctx, r.String())
}

func (c *Client) prepare(ctx context.Context, text string) error {
	if c.credentials.source == nil {
		return nil
	}
	if _, err := c.credentials.acquire(ctx); err != nil {
		x := &exchange{config: &c.decodeConfig, method: http.MethodGet, ctx: ctx}
		if address, parseErr := url.Parse(text); parseErr == nil {
			x.address = *address
		}
		return x.wrapError(err)
	}
	return nil
}
