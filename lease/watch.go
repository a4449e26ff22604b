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

// A candidate decides nothing by the events of its watch. An event that shows a free lease only
// makes the candidate read the Lease earlier. So if a watch is late, repeats events or is silent,
// the candidate may read once more or lead later, but no guarantee is broken.

const (
	// maxWatchDuration is the longest duration of one watch. The shortest is half of it.
	maxWatchDuration = 10 * time.Minute
	// maxWatchDelay is the longest wait after a failed watch.
	maxWatchDelay = time.Minute
)

// startWatch returns a channel that gets a value when the candidate should read the Lease. The
// function end ends the watch and waits for its goroutine. Without Options.Watch, the channel never
// has a value.
func (e *Elector) startWatch(ctx context.Context) (wake <-chan struct{}, end func()) {
	if !e.opts.Watch {
		return nil, func() {}
	}
	wakes := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.watch(ctx, wakes)
	}()
	return wakes, func() {
		cancel()
		<-ended
	}
}

// watch watches the Lease again and again until ctx ends.
func (e *Elector) watch(ctx context.Context, wake chan<- struct{}) {
	delay := e.opts.RetryPeriod
	for ctx.Err() == nil {
		gotEvent, err := e.watchOnce(ctx, wake)
		e.setWatching(false)
		if ctx.Err() != nil {
			return
		}
		if gotEvent {
			// Watches break now and then, for instance when the server is updated.
			delay, err = e.opts.RetryPeriod, nil
		}
		e.logWatchError(err)
		sleep(ctx, delay/2+rand.N(delay/2+1))
		delay = min(2*delay, max(maxWatchDelay, e.opts.RetryPeriod))
	}
}

// watchOnce opens a watch, and reads it to its end. gotEvent says that the watch had an event.
func (e *Elector) watchOnce(ctx context.Context, wake chan<- struct{}) (gotEvent bool, err error) {
	// Without a version, the watch begins with the current Lease: nothing is missed in between.
	stream, err := e.watched.Watch(ctx, listwatch.WatchOptions{Timeout: maxWatchDuration/2 + rand.N(maxWatchDuration/2)})
	if err != nil {
		return false, err
	}
	defer stream.Close()
	e.setWatching(true)
	for {
		event, err := stream.Next()
		switch _, undecodable := errors.AsType[*listwatch.ObjectError](err); {
		case errors.Is(err, io.EOF):
			return gotEvent, nil
		case undecodable:
			continue
		case err != nil:
			return gotEvent, err
		}
		gotEvent = true
		if event.Type != listwatch.Added && event.Type != listwatch.Modified || recordOf(event.Item.Object).holder != "" {
			continue // A candidate waits for a deleted Lease as if it were still there.
		}
		select {
		case wake <- struct{}{}:
		default: // The channel has a value already.
		}
	}
}

func (e *Elector) setWatching(watching bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.Watching = watching
}

// logWatchError logs why a watch failed. A nil error means that the watch did not fail.
func (e *Elector) logWatchError(err error) {
	e.mu.Lock()
	var suppressed uint64
	var due bool
	if err == nil {
		e.watchLog.Recovered()
	} else {
		suppressed, due = e.watchLog.Due(len(apierrors.ReasonForError(err)), time.Now())
	}
	e.mu.Unlock()
	if due {
		e.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, "the lease cannot be watched, and is read every RetryPeriod, as without Options.Watch",
			slog.String("lease", e.key.String()), slog.Any("err", err), slog.Uint64("unlogged", suppressed))
	}
}
