package lab

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/listwatch"
)

// source wraps the source that reads from the server. The events of its watches take a path on
// which they can be paused, delayed or dropped.
type source[T any] struct {
	listwatch.Source[T]
	path *watchPath
}

// watchPath delays or drops the events of watches.
type watchPath struct {
	gate     gate
	delay    atomic.Int64 // delay of each event
	dropNext atomic.Int64 // how many of the next events to drop
	dropped  atomic.Int64
}

func (s source[T]) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[T], error) {
	stream, err := s.Source.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return watch[T]{stream, s.path, ctx}, nil
}

type watch[T any] struct {
	listwatch.WatchStream[T]
	path *watchPath
	ctx  context.Context // context of the stream; when it ends, Next returns
}

// Next returns the next event that the path does not drop.
func (w watch[T]) Next() (listwatch.Event[T], error) {
	for {
		event, err := w.WatchStream.Next()
		if err != nil {
			return event, err
		}
		w.path.gate.pass(w.ctx)
		if d := time.Duration(w.path.delay.Load()); d > 0 {
			sleep(w.ctx, d)
		}
		if w.ctx.Err() != nil {
			return listwatch.Event[T]{}, w.ctx.Err()
		}
		if event.Type == listwatch.Bookmark || !w.path.drops() {
			return event, nil
		}
	}
}

// drops reports whether the path drops this event.
func (p *watchPath) drops() bool {
	for {
		n := p.dropNext.Load()
		if n == 0 {
			return false
		}
		if p.dropNext.CompareAndSwap(n, n-1) {
			p.dropped.Add(1)
			return true
		}
	}
}

// waitFor waits for the duration long, or until ctx ends. The duration may change during the wait.
func waitFor(ctx context.Context, long *atomic.Int64) {
	const look = 50 * time.Millisecond
	for began := time.Now(); ctx.Err() == nil; {
		left := time.Duration(long.Load()) - time.Since(began)
		if left <= 0 {
			return
		}
		sleep(ctx, min(left, look))
	}
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
