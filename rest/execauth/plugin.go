package execauth

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/kinform/kinform/rest"
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
	current *rest.Credential // nil where there is none that could be used
	until   time.Time        // zero where current is not known to end
	running *run             // nil where no process is running
}

// run is one process, with its result once done is closed.
type run struct {
	done       chan struct{}
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
// none, where it has expired, and where it is the one that was refused. Errors are
// of type [*Error], or ctx's where that ends while another call's process runs.
func (p *Plugin) Credential(ctx context.Context, refused *rest.Credential) (*rest.Credential, error) {
	for {
		mine, other, credential := p.next(refused)
		switch {
		case credential != nil:
			return credential, nil
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

// next returns a run that the caller has to do, or one to wait for, or a
// credential that can be used.
func (p *Plugin) next(refused *rest.Credential) (mine, other *run, credential *rest.Credential) {
	p.mu.Lock()
	defer p.mu.Unlock()
	expired := !p.until.IsZero() && !time.Now().Before(p.until)
	switch {
	case p.running != nil:
		return nil, p.running, nil
	case p.current != nil && p.current != refused && !expired:
		return nil, nil, p.current
	}
	p.running = &run{done: make(chan struct{})}
	return p.running, nil, nil
}

// finish does a run and publishes its result.
func (p *Plugin) finish(ctx context.Context, r *run) {
	var end time.Time
	r.credential, end, r.err = p.execute(ctx)
	r.abandoned = r.err != nil && ctx.Err() != nil

	p.mu.Lock()
	p.running, p.current, p.until = nil, r.credential, end
	if !end.IsZero() {
		p.until = end.Add(-min(maxMargin, max(0, time.Until(end))/10))
	}
	p.mu.Unlock()
	close(r.done)
}
