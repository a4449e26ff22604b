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

// A candidate decides nothing by events of its watch. An event that shows a free lease only makes
// the candidate read the Lease earlier. So a watch that is late, repeats events or is silent costs
// a read or some time, but breaks no guarantee.

const (
	// watchTime is the longest duration of one watch. The shortest is half of it.
	watchTime = 10 * time.Minute
	// watchPause is the longest wait after a failed watch.
	watchPause = time.Minute
)

// bell returns a channel that gets a value when the candidate should read the Lease, and a function
// that ends the watch and waits for its goroutine. Without Options.Watch, the channel never has a
// value.
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

// watch watches the Lease again and again until ctx ends.
func (e *Elector) watch(ctx context.Context, ring chan<- struct{}) {
	pause := e.opts.RetryPeriod
	for ctx.Err() == nil {
		told, err := e.watchOnce(ctx, ring)
		e.setWatching(false)
		if ctx.Err() != nil {
			return
		}
		if told {
			// Watches break now and then, for instance when the server is updated.
			pause, err = e.opts.RetryPeriod, nil
		}
		e.noteWatch(err)
		sleep(ctx, pause/2+rand.N(pause/2+1))
		pause = min(2*pause, max(watchPause, e.opts.RetryPeriod))
	}
}

// watchOnce opens a watch, and reads it to its end. told says that the watch had an event.
func (e *Elector) watchOnce(ctx context.Context, ring chan<- struct{}) (told bool, err error) {
	// Without a version, the watch begins with the current Lease: nothing is missed in between.
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
			continue // A candidate waits for a deleted Lease as if it were still there.
		}
		select {
		case ring <- struct{}{}:
		default: // The channel has a value already.
		}
	}
}

func (e *Elector) setWatching(watching bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.Watching = watching
}

// noteWatch logs why a watch failed. A nil error means that the watch did not fail.
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
		e.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, "the lease cannot be watched, and is read every RetryPeriod, as without Options.Watch",
			slog.String("lease", e.key.String()), slog.Any("err", err), slog.Uint64("unlogged", unsaid))
	}
}
