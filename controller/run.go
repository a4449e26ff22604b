package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/kinform/kinform/informer"
)

// Run runs everything until ctx ends, and returns when everything has ended. A manager runs once.
// The package comment documents the order.
//
// Run returns nil if everything ended because ctx ended. Otherwise the error names each cause:
// errors in the wiring, before anything starts; a cache that gave up; a lost lease; a failed part
// that is not optional.
func (m *Manager) Run(ctx context.Context) error {
	if err := m.begin(); err != nil {
		return err
	}
	stop, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	all := &group{fail: fail}
	// The parts of stage Always outlive all code that may need them.
	always, endAlways := context.WithCancel(context.WithoutCancel(ctx))
	defer endAlways()
	alwaysParts := &group{fail: fail}
	m.startParts(alwaysParts, always, Always)
	if m.opts.Serve != "" {
		alwaysParts.run(func() error { return m.serve(always) })
	}

	var caches []informer.Cache
	for _, c := range m.clusters {
		caches = append(caches, &c.factory)
	}
	all.run(func() error {
		return informer.RunUntil(context.WithoutCancel(ctx), stop, func(working context.Context) error {
			return m.runSynced(working, stop, fail)
		}, caches...)
	})
	err := all.wait()
	for _, c := range m.controllers {
		c.end()
	}
	m.setStage(Always, true)
	endAlways()
	return errors.Join(err, alwaysParts.wait())
}

// begin starts Run, or returns the errors in the wiring.
func (m *Manager) begin() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running {
		return errors.New("controller: Run was called twice; make a new manager")
	}
	m.running = true
	return errors.Join(m.wiringErrs...)
}

// setStage records the stage of Run.
func (m *Manager) setStage(stage Stage, stopping bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stage, m.stopping = stage, stopping
}

// startParts starts the parts of a stage.
func (m *Manager) startParts(g *group, ctx context.Context, stage Stage) {
	for _, p := range m.parts {
		if p.opts.Stage == stage {
			g.run(func() error { return m.runPart(ctx, p) })
		}
	}
}

// runSynced runs while the caches are complete. Its context ends when a cache gives up. When the
// context stop ends, the controllers drain their queues.
func (m *Manager) runSynced(working, stop context.Context, fail func(error)) error {
	m.setStage(Synced, false)
	synced, endSynced := context.WithCancel(working)
	defer endSynced()
	syncedParts := &group{fail: fail}
	m.startParts(syncedParts, synced, Synced)
	err := m.elect(working, stop, func(leading context.Context) error {
		m.setStage(Leading, false)
		defer m.setStage(Synced, true)
		parts, endParts := context.WithCancel(leading)
		defer endParts()
		defer context.AfterFunc(stop, endParts)()
		workers := &group{fail: fail}
		m.startParts(workers, parts, Leading)
		for _, c := range m.controllers {
			workers.run(func() error {
				if err := c.run(leading, stop); err != nil {
					return fmt.Errorf("controller %s: %w", c.name(), err)
				}
				return nil
			})
		}
		workers.run(func() error { <-parts.Done(); return nil })
		return workers.wait()
	})
	endSynced()
	return errors.Join(err, syncedParts.wait())
}

// elect runs the function lead while this process is the leader.
func (m *Manager) elect(working, stop context.Context, lead func(context.Context) error) error {
	if m.opts.Elector == nil {
		return lead(working)
	}
	led := false
	return m.opts.Elector.RunUntil(working, stop, func(ctx context.Context) error {
		if led {
			return errLedTwice
		}
		led = true
		return lead(ctx)
	})
}

// errLedTwice is the error for an Elector that leads a second time.
var errLedTwice = errors.New("controller: the manager has led before, and leads only once: leave lease.Options.StandAgain unset, so that the process ends when the lease is lost, and a new process starts without half-done work")

// group runs functions, each in a goroutine, and collects their errors.
type group struct {
	fail    func(error) // called with the error of each function that fails
	running sync.WaitGroup

	mu   sync.Mutex // guards following
	errs []error
}

func (g *group) run(f func() error) {
	g.running.Go(func() {
		if err := f(); err != nil {
			g.mu.Lock()
			g.errs = append(g.errs, err)
			g.mu.Unlock()
			g.fail(err)
		}
	})
}

// wait waits for all functions.
func (g *group) wait() error {
	g.running.Wait()
	return errors.Join(g.errs...)
}
