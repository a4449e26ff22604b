package workqueue

import (
	"context"
	"time"

	core "github.com/kinform/kinform/workqueue"
)

// coreQueue implements items with kinform's queue.
type coreQueue[T comparable] core.Queue[T]

func (k *coreQueue[T]) queue() *core.Queue[T] { return (*core.Queue[T])(k) }

func (k *coreQueue[T]) add(item T)  { k.queue().Add(item) }
func (k *coreQueue[T]) done(item T) { k.queue().Done(item) }
func (k *coreQueue[T]) len() int    { return k.queue().Len() }
func (k *coreQueue[T]) shutDown()   { k.queue().ShutDown() }

func (k *coreQueue[T]) get() (item T, shutdown bool) {
	item, err := k.queue().Get(context.Background())
	return item, err != nil
}

func (k *coreQueue[T]) drain(ctx context.Context) {
	withIdleTimeout(ctx, func() (idle bool, gets uint64) {
		s := k.queue().Stats()
		return s.Processing == 0, s.Gets
	}, func(ctx context.Context) {
		// the error means that ctx ended before the queue was empty, which client-go does not
		// report
		_ = k.queue().Drain(ctx)
	})
}

func (k *coreQueue[T]) running() (total, longest time.Duration) {
	s := k.queue().Stats()
	return s.Unfinished, s.LongestRunning
}
