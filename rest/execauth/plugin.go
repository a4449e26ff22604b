package execauth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/kinform/kinform/rest"
)

// A pause follows each unsuccessful run. The pauses double with each consecutive unsuccessful run.
// Without pauses, a failing plugin would cost a process for each request.
const (
	firstPause = time.Second
	maxPause   = 10 * time.Second
)

// maxMargin limits how long before its expiry a Plugin replaces a credential.
const maxMargin = 10 * time.Second

// Plugin is a command that prints credentials. It is safe for concurrent use, and needs no Close:
// between calls it has no process and no goroutine.
type Plugin struct {
	command    string
	opts       Options
	isTerminal func(*os.File) bool

	mu         sync.Mutex       // guards following
	lastToken  rest.Secret      // the last token
	current    *rest.Credential // nil if there is no usable credential
	expiry     time.Time        // expiry of the current credential; zero if unknown
	running    *run             // nil while no process runs
	failed     *Error           // of the last run; nil if that run returned a credential
	failures   int              // consecutive unsuccessful runs
	pauseUntil time.Time        // the end of the pause after the last run
}

// run is one process. Other goroutines may read its result once the channel done is closed.
type run struct {
	done       chan struct{}
	refused    bool // it replaces a credential that a server refused
	credential *rest.Credential
	err        error
	abandoned  bool // its caller's context has ended, so err is not an error of the plugin
}

// New returns a Plugin. command is a path, or a name that is looked up in PATH. New starts no
// process: if the command is missing, [Plugin.Credential] returns the error.
func New(command string, opts Options) (*Plugin, error) {
	if command == "" {
		return nil, errors.New("execauth: a command is required")
	}
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Plugin{
		command: command, opts: opts,
		isTerminal: func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) },
	}, nil
}

// Credential returns the current credential. If there is no credential, or it has expired, or it
// equals the argument refused, Credential runs the command. In the pause after an unsuccessful run,
// it returns the result of the last run instead. Errors are of type [*Error]. If ctx ends while
// Credential waits for the process of another call, the error is the error of ctx.
func (p *Plugin) Credential(ctx context.Context, refused *rest.Credential) (*rest.Credential, error) {
	for {
		mine, other, credential, err := p.next(refused)
		switch {
		case credential != nil || err != nil:
			return credential, err
		case mine != nil:
			p.finish(ctx, mine)
			return mine.credential, mine.err
		}
		select {
		case <-other.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !other.abandoned {
			return other.credential, other.err
		}
	}
}

// next returns a run that the caller must execute (mine), a run that it must wait for (other), or a
// result.
func (p *Plugin) next(refused *rest.Credential) (mine, other *run, credential *rest.Credential, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	expired := !p.expiry.IsZero() && !now.Before(p.expiry)
	switch {
	case p.running != nil:
		return nil, p.running, nil, nil
	case p.current != nil && (p.current != refused && !expired || now.Before(p.pauseUntil)):
		return nil, nil, p.current, nil // in a pause, the plugin must not run
	case p.failed != nil && now.Before(p.pauseUntil):
		return nil, nil, nil, p.repeatedError(p.pauseUntil.Sub(now))
	}
	p.running = &run{done: make(chan struct{}), refused: p.current != nil && p.current == refused}
	return p.running, nil, nil, nil
}

// repeatedError returns the error of the last run, for a call in the pause after this run. The
// argument left is the remaining pause.
func (p *Plugin) repeatedError(left time.Duration) error {
	return &Error{
		Command: p.command, Stderr: p.failed.Stderr,
		Err: fmt.Errorf("%w (at the last run; the next run is possible in %s)", p.failed.Err, left.Round(time.Millisecond)),
	}
}

// setPauseLocked sets the pause after a run. successful is false if the run failed, if its
// credential has expired already by this machine's clock, or if it replaced a refused credential.
// In the last case the server may refuse the new credential as well.
func (p *Plugin) setPauseLocked(now time.Time, successful bool) {
	if successful || now.Sub(p.pauseUntil) > maxPause {
		p.failures = 0
	}
	if p.pauseUntil = now; !successful {
		p.pauseUntil = now.Add(min(firstPause<<min(p.failures, 10), maxPause))
		p.failures++
	}
}

// finish executes a run and publishes its result. It publishes the result even if the run panics,
// because other callers wait for the result.
func (p *Plugin) finish(ctx context.Context, r *run) {
	var end time.Time
	r.err = &Error{Command: p.command, Err: errors.New("the run has not ended")}
	defer func() { p.publish(ctx, r, end) }()
	r.credential, end, r.err = p.execute(ctx)
}

// publish publishes the result of a run.
func (p *Plugin) publish(ctx context.Context, r *run, end time.Time) {
	r.abandoned = r.err != nil && ctx.Err() != nil

	p.mu.Lock()
	p.running, p.current, p.expiry = nil, r.credential, end
	if r.credential != nil {
		p.lastToken = r.credential.Token
	}
	now := time.Now()
	if !end.IsZero() {
		p.expiry = end.Add(-min(maxMargin, max(0, end.Sub(now))/10))
	}
	if !r.abandoned {
		p.failed, _ = errors.AsType[*Error](r.err)
		p.setPauseLocked(now, r.err == nil && !r.refused && (end.IsZero() || now.Before(end)))
	}
	p.mu.Unlock()
	close(r.done)
}
