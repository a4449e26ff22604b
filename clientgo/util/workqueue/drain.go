package workqueue

import (
	"context"
	"sync"
	"time"
)

// drainPatience is how long a drain waits for somebody to take an item that waits.
//
// client-go's drain looks at the items that workers have, and at no others. So it returns too early for a worker
// that is about to call Get, and at once where the workers have ended and left items behind. Programs rely on the
// second: a drain that waited for workers that have ended would never return.
const drainPatience = time.Second

// patiently runs wait, whose context ends when no worker has had an item for drainPatience and none was handed out
// in that time, or when ctx ends.
func patiently(ctx context.Context, look func() (idle bool, gets uint64), wait func(context.Context)) {
	ctx, giveUp := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		tick := time.NewTicker(drainPatience)
		defer tick.Stop()
		_, before := look()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			idle, gets := look()
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

// releases ends the drains that wait when ShutDown is called.
type releases struct {
	mu      sync.Mutex // guards following
	waiting map[*context.CancelFunc]struct{}
}

// context returns one that ends at the next call of now. The caller must call cancel.
func (r *releases) context() (ctx context.Context, cancel context.CancelFunc) {
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

func (r *releases) now() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for end := range r.waiting {
		(*end)()
	}
}
