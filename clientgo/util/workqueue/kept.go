package workqueue

import (
	"context"
	"time"

	core "github.com/kinform/kinform/workqueue"
)

// kept implements items with kinform's queue.
type kept[T comparable] core.Queue[T]

func (k *kept[T]) queue() *core.Queue[T] { return (*core.Queue[T])(k) }

func (k *kept[T]) add(item T)  { k.queue().Add(item) }
func (k *kept[T]) done(item T) { k.queue().Done(item) }
func (k *kept[T]) len() int    { return k.queue().Len() }
func (k *kept[T]) shutDown()   { k.queue().ShutDown() }

func (k *kept[T]) get() (item T, shutdown bool) {
	item, err := k.queue().Get(context.Background())
	return item, err != nil
}

func (k *kept[T]) drain(ctx context.Context) {
	patiently(ctx, func() (idle bool, gets uint64) {
		s := k.queue().Stats()
		return s.Processing == 0, s.Gets
	}, func(ctx context.Context) {
		// the error means that ctx ended before the queue was empty, which client-go does not
		// report
		_ = k.queue().Drain(ctx)
	})
}

func (k *kept[T]) running() (total, longest time.Duration) {
	s := k.queue().Stats()
	return s.Unfinished, s.LongestRunning
}
