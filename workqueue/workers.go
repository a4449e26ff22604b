package workqueue

import (
	"context"
	"errors"
	"sync"
)

// plain/worker.go has a fixed number of workers, which end with the queue. Here SetWorkers changes
// the number, and a worker that a reconcile ends by runtime.Goexit is replaced. The cost of these
// features is not measurable beside a reconcile.

// workerSet has the workers of the current Run; it is used again by the next Run. The zero value
// has no workers.
type workerSet struct {
	mu       sync.Mutex // guards following
	runCtx   context.Context
	work     func(workerCtx context.Context) // nil while there is no Run
	stopping bool
	cancels  []context.CancelFunc // one for each worker
	wg       *sync.WaitGroup
}

var (
	errRunning    = errors.New("another Run is in progress")
	errNotRunning = errors.New("no Run is in progress")
)

// start starts n workers. Each worker calls the function work, which must return when workerCtx
// ends. workerCtx ends when the worker is stopped, or when ctx ends.
func (c *workerSet) start(ctx context.Context, n int, work func(workerCtx context.Context)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work != nil {
		return errRunning
	}
	c.runCtx, c.work = ctx, work
	c.wg = new(sync.WaitGroup)
	c.resizeLocked(n)
	return nil
}

// resize starts or stops workers.
func (c *workerSet) resize(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work == nil || c.stopping {
		return errNotRunning
	}
	c.resizeLocked(n)
	return nil
}

func (c *workerSet) resizeLocked(n int) {
	for len(c.cancels) < n {
		workerCtx, cancel := context.WithCancel(c.runCtx)
		c.cancels = append(c.cancels, cancel)
		startWorker(c.wg, workerCtx, c.work)
	}
	for len(c.cancels) > n {
		last := len(c.cancels) - 1
		c.cancels[last]()
		c.cancels = c.cancels[:last]
	}
}

// startWorker starts a worker. If the function work ends its goroutine by runtime.Goexit, another
// worker replaces it.
func startWorker(wg *sync.WaitGroup, workerCtx context.Context, work func(context.Context)) {
	wg.Go(func() {
		left := false
		defer func() {
			if !left {
				startWorker(wg, workerCtx, work)
			}
		}()
		work(workerCtx)
		left = true
	})
}

// size is the number of workers that have not been stopped.
func (c *workerSet) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.cancels)
}

// stop stops all workers and waits for them.
func (c *workerSet) stop() {
	c.mu.Lock()
	c.stopping = true // so that no worker starts while it waits
	c.resizeLocked(0)
	wg := c.wg
	c.mu.Unlock()

	wg.Wait()

	c.mu.Lock()
	defer c.mu.Unlock()
	c.runCtx, c.work, c.stopping, c.wg = nil, nil, false, nil
}
