package workqueue

import (
	"context"
	"sync"
	"time"
)

// drainIdleTimeout bounds how long a drain waits for a worker to take a queued item.
//
// client-go's drain considers only the items that workers have. So it returns too early if a worker
// is about to call Get. It also returns at once if all workers have ended while items are queued.
// Programs rely on this second case: a drain that waited for ended workers would never return.
const drainIdleTimeout = time.Second

// withIdleTimeout calls the function wait with a context. The context ends with ctx, or after a
// period of drainIdleTimeout in which no worker had an item or got an item.
func withIdleTimeout(ctx context.Context, progress func() (idle bool, gets uint64), wait func(context.Context)) {
	ctx, giveUp := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		tick := time.NewTicker(drainIdleTimeout)
		defer tick.Stop()
		_, before := progress()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			idle, gets := progress()
			if idle && gets == before {
				giveUp()
			}
			before = gets
		}
	})
	wait(ctx)
	giveUp()
	watcher.Wait()
}

// drainAborter ends waiting calls of ShutDownWithDrain when ShutDown is called.
type drainAborter struct {
	mu      sync.Mutex // guards following
	waiting map[*context.CancelFunc]struct{}
}

// context returns a context that ends at the next call of r.abort. The caller must call cancel.
func (r *drainAborter) context() (ctx context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancel(context.Background())
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == nil {
		r.waiting = make(map[*context.CancelFunc]struct{})
	}
	r.waiting[&end] = struct{}{}
	return ctx, func() {
		end()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.waiting, &end)
	}
}

func (r *drainAborter) abort() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for end := range r.waiting {
		(*end)()
	}
}
