package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/workqueue"
)

// Stage says when a part runs, see [Manager.Add]. Stages begin in this order, and end in the
// opposite order.
type Stage int

const (
	// Always is the stage that lasts for all of Run: it begins before the caches and ends after
	// them. It is for an events.Recorder, which must send the events of the last reconcile.
	Always Stage = iota
	// Synced lasts while the caches are complete, whether or not this process leads.
	Synced
	// Leading lasts while the controllers run.
	Leading
)

// String returns the name of the stage.
func (s Stage) String() string {
	switch s {
	case Always:
		return "always"
	case Synced:
		return "synced"
	case Leading:
		return "leading"
	}
	return fmt.Sprintf("Stage(%d)", int(s))
}

// PartOptions are the options of a part. With the zero value, the part runs in stage Always and is
// not optional.
type PartOptions struct {
	// Stage is when the part runs. Defaults to Always.
	Stage Stage

	// Optional says that the part may fail. The manager then logs the failure, and restarts the
	// part with back-off, from one second to a minute. Meanwhile the manager is not ready. If a
	// part that is not optional fails, the manager ends.
	Optional bool
}

// part is a function of the program that runs beside the controllers.
type part struct {
	name string
	run  func(context.Context) error
	opts PartOptions

	err error // guarded by the manager's lock
}

// Add adds a function that runs beside the controllers until its context ends. When the context
// ends, the function must return; the manager waits for it. If the function returns nil earlier, it
// is not called again.
func (m *Manager) Add(name string, run func(ctx context.Context) error, opts PartOptions) {
	m.configure(func() error {
		switch {
		case run == nil || name == "":
			return fmt.Errorf("controller: part %q: a name and a function are required", name)
		case opts.Stage < Always || opts.Stage > Leading:
			return fmt.Errorf("controller: part %q: Stage is %v: choose Always, Synced or Leading", name, opts.Stage)
		case m.running:
			return fmt.Errorf("controller: part %q: %w", name, errRunning)
		}
		m.parts = append(m.parts, &part{name: name, run: run, opts: opts})
		return nil
	})
}

const (
	minRestartDelay = time.Second
	maxRestartDelay = time.Minute
)

// runPart runs a part until ctx ends or a part that is not optional fails.
func (m *Manager) runPart(ctx context.Context, p *part) error {
	for wait := minRestartDelay; ; wait = min(2*wait, maxRestartDelay) {
		m.setPartError(p, nil)
		begun := time.Now()
		err := callContained(ctx, p.run)
		switch {
		case err == nil || ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
			return nil
		case !p.opts.Optional || ctx.Err() != nil:
			return fmt.Errorf("part %s: %w", p.name, err)
		case time.Since(begun) > maxRestartDelay:
			wait = minRestartDelay
		}
		m.setPartError(p, err)
		m.opts.Logger.Error("a part failed and will be restarted", "part", p.name, "after", wait, "err", err)
		if sleep(ctx, wait) != nil {
			return nil
		}
	}
}

// setPartError records the error of an optional part. A nil error means that the part runs, or has
// ended without an error.
func (m *Manager) setPartError(p *part, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.err = err
}

// callContained returns a panic or runtime.Goexit of a part as an error, so that the error of Run
// can name the part.
func callContained(ctx context.Context, run func(context.Context) error) (err error) {
	ended := make(chan error, 1)
	go func() {
		result := error(errGoexit)
		defer func() {
			if v := recover(); v != nil {
				result = &workqueue.PanicError{Value: v, Stack: debug.Stack()}
			}
			ended <- contain.SafeError(result)
		}()
		result = run(ctx)
	}()
	return <-ended
}

var errGoexit = errors.New("the function called runtime.Goexit")
