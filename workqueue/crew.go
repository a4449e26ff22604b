package workqueue

import (
	"context"
	"errors"
	"sync"
)

// plain/worker.go has a fixed number of workers, which end with the queue. Here SetWorkers changes
// the number, and a worker that a reconcile ends by runtime.Goexit is replaced. The cost of these
// features is not measurable beside a reconcile.

// crew has the workers of the current Run; it is used again by the next Run. The zero value has no
// workers.
type crew struct {
	mu      sync.Mutex // guards following
	run     context.Context
	work    func(hired context.Context) // nil while there is no Run
	ending  bool
	dismiss []context.CancelFunc // one for each worker
	workers *sync.WaitGroup
}

var (
	errRunning    = errors.New("another Run is in progress")
	errNotRunning = errors.New("no Run is in progress")
)

// begin starts workers. Each of them calls the function work, which must return when its context
// ends. The worker's context ends when the worker is dismissed, or when the context run ends.
func (c *crew) begin(run context.Context, n int, work func(hired context.Context)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work != nil {
		return errRunning
	}
	c.run, c.work = run, work
	c.workers = new(sync.WaitGroup)
	c.resizeLocked(n)
	return nil
}

// resize starts or dismisses workers.
func (c *crew) resize(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work == nil || c.ending {
		return errNotRunning
	}
	c.resizeLocked(n)
	return nil
}

func (c *crew) resizeLocked(n int) {
	for len(c.dismiss) < n {
		hired, dismiss := context.WithCancel(c.run)
		c.dismiss = append(c.dismiss, dismiss)
		employ(c.workers, hired, c.work)
	}
	for len(c.dismiss) > n {
		last := len(c.dismiss) - 1
		c.dismiss[last]()
		c.dismiss = c.dismiss[:last]
	}
}

// employ starts a worker. If the function work ends its goroutine by runtime.Goexit, another worker
// replaces it.
func employ(workers *sync.WaitGroup, hired context.Context, work func(context.Context)) {
	workers.Go(func() {
		left := false
		defer func() {
			if !left {
				employ(workers, hired, work)
			}
		}()
		work(hired)
		left = true
	})
}

// size is the number of workers that are not dismissed.
func (c *crew) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.dismiss)
}

// end dismisses all workers and waits for them.
func (c *crew) end() {
	c.mu.Lock()
	c.ending = true // so that no worker starts while it waits
	c.resizeLocked(0)
	workers := c.workers
	c.mu.Unlock()

	workers.Wait()

	c.mu.Lock()
	defer c.mu.Unlock()
	c.run, c.work, c.ending, c.workers = nil, nil, false, nil
}
