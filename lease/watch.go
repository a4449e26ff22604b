package lease

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/listwatch"
)

// A candidate that watches decides nothing by what it sees: an event that says that the lease is
// free makes it look now and not later. What it then reads, and when, is what it would have read
// without a watch. So a watch that is late, that tells things twice or of the past, or that tells
// nothing any more, costs a look or time, and never a fence.

const (
	// watchTime is how long one watch lasts, and half of it at least.
	watchTime = 10 * time.Minute
	// watchPause is the longest time from a watch that failed to the next.
	watchPause = time.Minute
)

// bell returns a channel that says when it is worth a look, and a function that ends what
// watches, and waits for that. Without Options.Watch, the channel says nothing.
func (e *Elector) bell(ctx context.Context) (rings <-chan struct{}, end func()) {
	if !e.opts.Watch {
		return nil, func() {}
	}
	ring := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.watch(ctx, ring)
	}()
	return ring, func() {
		cancel()
		<-ended
	}
}

// watch watches the Lease until ctx ends, again and again.
func (e *Elector) watch(ctx context.Context, ring chan<- struct{}) {
	pause := e.opts.RetryPeriod
	for ctx.Err() == nil {
		told, err := e.watchOnce(ctx, ring)
		e.setWatching(false)
		if ctx.Err() != nil {
			return
		}
		if told {
			pause, err = e.opts.RetryPeriod, nil // It breaks now and then, as the server is updated.
		}
		e.noteWatch(err)
		sleep(ctx, pause/2+rand.N(pause/2+1))
		pause = min(2*pause, max(watchPause, e.opts.RetryPeriod))
	}
}

// watchOnce opens a watch and reads it to its end, and reports whether it has told anything.
func (e *Elector) watchOnce(ctx context.Context, ring chan<- struct{}) (told bool, err error) {
	// Without a version, it begins with the Lease as it is: nothing is missed in between.
	stream, err := e.watched.Watch(ctx, listwatch.WatchOptions{Timeout: watchTime/2 + rand.N(watchTime/2)})
	if err != nil {
		return false, err
	}
	defer stream.Close()
	e.setWatching(true)
	for {
		event, err := stream.Next()
		switch _, unreadable := errors.AsType[*listwatch.ObjectError](err); {
		case errors.Is(err, io.EOF):
			return told, nil
		case unreadable:
			continue
		case err != nil:
			return told, err
		}
		told = true
		if event.Type != listwatch.Added && event.Type != listwatch.Modified || recordOf(event.Item.Object).holder != "" {
			continue // A Lease that was deleted is waited for as if it were there.
		}
		select {
		case ring <- struct{}{}:
		default: // It rings already.
		}
	}
}

func (e *Elector) setWatching(watching bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.Watching = watching
}

// noteWatch tells why a watch has failed. nil is that it has not.
func (e *Elector) noteWatch(err error) {
	e.mu.Lock()
	var unsaid uint64
	var due bool
	if err == nil {
		e.blind.Over()
	} else {
		unsaid, due = e.blind.Due(len(apierrors.ReasonForError(err)), time.Now())
	}
	e.mu.Unlock()
	if due {
		e.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, "the lease cannot be watched, and is looked at every RetryPeriod, as without Options.Watch",
			slog.String("lease", e.key.String()), slog.Any("err", err), slog.Uint64("others", unsaid))
	}
}
