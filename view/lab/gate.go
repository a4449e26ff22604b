package lab

import (
	"context"
	"sync"
)

// gate blocks a stage while the stage is paused. The zero value is open.
type gate struct {
	mu    sync.Mutex // guards following
	shut  chan struct{}
	steps chan struct{}
}

// maxSteps is the maximum number of saved steps. A step is saved until a caller passes.
const maxSteps = 1000

func (g *gate) pause() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut, g.steps = make(chan struct{}), make(chan struct{}, maxSteps)
	}
}

func (g *gate) resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}

// step lets one caller pass: a caller that waits now, or else the next caller. If the gate is open,
// step also pauses the stage.
func (g *gate) step() {
	g.pause()
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case g.steps <- struct{}{}:
	default:
	}
}

func (g *gate) paused() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut != nil
}

// pass waits until the gate opens or ctx ends.
func (g *gate) pass(ctx context.Context) {
	g.mu.Lock()
	shut, steps := g.shut, g.steps
	g.mu.Unlock()
	if shut == nil {
		return
	}
	select {
	case <-shut:
	case <-steps:
	case <-ctx.Done():
	}
}
