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

// A run that did not help is followed by a pause, which doubles with each of them in a
// row, so that a plugin that fails does not cost a process for each request.
const (
	firstPause = time.Second
	maxPause   = 10 * time.Second
)

// maxMargin is how long before its end a credential is replaced at most.
const maxMargin = 10 * time.Second

// Plugin is a command that prints credentials. It is safe for concurrent use,
// holds nothing that would need closing, and has no process or goroutine outside
// of calls.
type Plugin struct {
	command    string
	opts       Options
	isTerminal func(*os.File) bool

	mu      sync.Mutex       // guards following
	last    rest.Secret      // the last token that there was
	current *rest.Credential // nil where there is none that could be used
	until   time.Time        // zero where current is not known to end
	running *run             // nil where no process is running
	failed  *Error           // what the last run ended with, nil where that is a credential
	row     int              // runs in a row that did not help
	pause   time.Time        // its end
}

// run is one process, with its result once done is closed.
type run struct {
	done       chan struct{}
	refused    bool // it replaces a credential that was refused
	credential *rest.Credential
	err        error
	abandoned  bool // the context of who started it has ended: err says nothing about the plugin
}

// New returns the plugin that a command is: a name that is looked for in PATH, or
// a path. It starts nothing, so that a command that is missing is an error of
// [Plugin.Credential].
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

// Credential returns the current credential, or runs the command where there is
// none, where it has expired, and where it is the one that was refused. After a run
// that did not help, the next one has to wait, and the answer is that of the last one.
// Errors are of type [*Error], or ctx's where that ends while another call's process
// runs.
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

// next returns a run that the caller has to do, or one to wait for, or what there is
// to answer without one.
func (p *Plugin) next(refused *rest.Credential) (mine, other *run, credential *rest.Credential, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	expired := !p.until.IsZero() && !now.Before(p.until)
	switch {
	case p.running != nil:
		return nil, p.running, nil, nil
	case p.current != nil && (p.current != refused && !expired || now.Before(p.pause)):
		return nil, nil, p.current, nil // in a pause, it is the best that there is
	case p.failed != nil && now.Before(p.pause):
		return nil, nil, nil, p.again(p.pause.Sub(now))
	}
	p.running = &run{done: make(chan struct{}), refused: p.current != nil && p.current == refused}
	return p.running, nil, nil, nil
}

// again is the error of the last run, for who comes in the pause after it.
func (p *Plugin) again(left time.Duration) error {
	return &Error{
		Command: p.command, Stderr: p.failed.Stderr,
		Err: fmt.Errorf("%w (when it ran last; it is not run again for %s)", p.failed.Err, left.Round(time.Millisecond)),
	}
}

// rateLocked sets the pause after a run, which has helped or not: it has not where it
// failed, where its credential has expired already, by our clock, and where the one
// before was refused, which the next may be, too.
func (p *Plugin) rateLocked(now time.Time, helped bool) {
	if helped || now.Sub(p.pause) > maxPause {
		p.row = 0
	}
	if p.pause = now; !helped {
		p.pause = now.Add(min(firstPause<<min(p.row, 10), maxPause))
		p.row++
	}
}

// finish does a run and publishes its result, also where it panics: others wait for it.
func (p *Plugin) finish(ctx context.Context, r *run) {
	var end time.Time
	r.err = &Error{Command: p.command, Err: errors.New("its run has not come to an end")}
	defer func() { p.publish(ctx, r, end) }()
	r.credential, end, r.err = p.execute(ctx)
}

// publish publishes the result of a run.
func (p *Plugin) publish(ctx context.Context, r *run, end time.Time) {
	r.abandoned = r.err != nil && ctx.Err() != nil

	p.mu.Lock()
	p.running, p.current, p.until = nil, r.credential, end
	if r.credential != nil {
		p.last = r.credential.Token
	}
	now := time.Now()
	if !end.IsZero() {
		p.until = end.Add(-min(maxMargin, max(0, end.Sub(now))/10))
	}
	if !r.abandoned {
		p.failed, _ = errors.AsType[*Error](r.err)
		p.rateLocked(now, r.err == nil && !r.refused && (end.IsZero() || now.Before(end)))
	}
	p.mu.Unlock()
	close(r.done)
}
