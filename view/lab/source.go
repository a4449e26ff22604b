package lab

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/listwatch"
)

// source wraps the server's source. Its watches pass through a path where events can wait, come
// late, or get lost.
type source[T any] struct {
	listwatch.Source[T]
	path *path
}

// path delays or drops the events of watches.
type path struct {
	gate  gate
	delay atomic.Int64 // of each event
	lose  atomic.Int64 // number of next events to drop
	lost  atomic.Int64
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
	path *path
	ctx  context.Context // of the stream: Next ends with it
}

// Next returns the next event that has passed the path.
func (w watch[T]) Next() (listwatch.Event[T], error) {
	for {
		event, err := w.WatchStream.Next()
		if err != nil {
			return event, err
		}
		w.path.gate.pass(w.ctx)
		if d := time.Duration(w.path.delay.Load()); d > 0 {
			pause(w.ctx, d)
		}
		if w.ctx.Err() != nil {
			return listwatch.Event[T]{}, w.ctx.Err()
		}
		if event.Type == listwatch.Bookmark || !w.path.loses() {
			return event, nil
		}
	}
}

// loses reports whether this event is to be dropped.
func (p *path) loses() bool {
	for {
		n := p.lose.Load()
		if n == 0 {
			return false
		}
		if p.lose.CompareAndSwap(n, n-1) {
			p.lost.Add(1)
			return true
		}
	}
}

// takes waits for the duration in long, which may change meanwhile, or until ctx ends.
func takes(ctx context.Context, long *atomic.Int64) {
	const look = 50 * time.Millisecond
	for began := time.Now(); ctx.Err() == nil; {
		left := time.Duration(long.Load()) - time.Since(began)
		if left <= 0 {
			return
		}
		pause(ctx, min(left, look))
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
