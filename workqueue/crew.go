package workqueue

import (
	"context"
	"errors"
	"sync"
)

// crew is the workers of one Run after the other. The zero value has none.
type crew struct {
	mu      sync.Mutex // guards following
	work    func(hired context.Context)
	dismiss []context.CancelFunc // one for each worker
	workers *sync.WaitGroup
}

var (
	errRunning    = errors.New("a Run is going on already")
	errNotRunning = errors.New("no Run is going on")
)

// begin starts workers, each calling work, which is to return when its context
// ends.
func (c *crew) begin(n int, work func(hired context.Context)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work != nil {
		return errRunning
	}
	c.work = work
	c.workers = new(sync.WaitGroup)
	c.resizeLocked(n)
	return nil
}

// resize starts workers, or dismisses some.
func (c *crew) resize(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work == nil {
		return errNotRunning
	}
	c.resizeLocked(n)
	return nil
}

func (c *crew) resizeLocked(n int) {
	for len(c.dismiss) < n {
		hired, dismiss := context.WithCancel(context.Background())
		c.dismiss = append(c.dismiss, dismiss)
		work := c.work
		c.workers.Go(func() { work(hired) })
	}
	for len(c.dismiss) > n {
		last := len(c.dismiss) - 1
		c.dismiss[last]()
		c.dismiss = c.dismiss[:last]
	}
}

// end dismisses all workers and waits for them.
func (c *crew) end() {
	c.mu.Lock()
	c.resizeLocked(0)
	workers := c.workers
	c.mu.Unlock()

	workers.Wait()

	c.mu.Lock()
	defer c.mu.Unlock()
	c.work = nil
}
