package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/internal/checkpoint"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// settleTime is how long a watch must be silent. After that, all its old events have been read,
	// and its version has not expired. kube-apiserver responds with 200 to a watch from an expired
	// version, and reports the expiry at once in the first event.
	settleTime = 500 * time.Millisecond

	// firstEventLimit is the time limit for the first event, which repeats the last change of the
	// objects.
	firstEventLimit = 5 * time.Second
)

// historyResult is how much of the history since the save a server can report.
type historyResult uint8

const (
	historySame    historyResult = iota + 1 // all of it
	historyExpired                          // nothing, or not by a watch
	historyOther                            // the server has another history
)

// errNotAllowed is the error for a part of a source that the user may no longer watch or list.
var errNotAllowed = errors.New("the preloaded objects may no longer be read")

// history checks whether a server can report all changes since the version of some objects, and
// whether the objects come from the history of this server. In the same history, a watch from just
// before the objects' last change begins with this change. Up to the version of the objects, the
// watch then shows nothing else, except objects that were deleted again.
type history[T any] struct {
	sources  []listwatch.Source[T]
	entries  []indexer.Entry[T]
	version  string
	progress func()
}

// probeResult is the result of watching one source.
type probeResult struct {
	err               error
	sawLast, sawOther bool // the watch sent the objects' last change; another change
	expired           bool // the server cannot report the history
}

// probe watches all sources, several of them at the same time. The watches last until all old
// events are read. The reflector opens its own watches later, because the watches of probe must not
// outlive the reflector's list. After an error the caller may retry.
func (h *history[T]) probe(ctx context.Context) (historyResult, error) {
	last, stored := h.last()
	from := last.Before()
	if from == "" {
		return historyOther, nil // There is no last change.
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	const atOnce = 8
	slots, results := make(chan struct{}, atOnce), make(chan probeResult, len(h.sources))
	for _, source := range h.sources {
		go func() {
			slots <- struct{}{}
			var result probeResult
			defer func() {
				results <- result
				<-slots
			}()
			reportGoexit(func() {
				result = h.probeOne(ctx, source, from, last, stored)
				result.classify(func() error { _, err := versionOf(ctx, source); return err })
			}, func(err error) { result = probeResult{err: err} })
		}()
	}
	var seen, other, expired bool
	var err error
	for range h.sources {
		t := <-results
		h.progress()
		seen, other, expired = seen || t.sawLast, other || t.sawOther, expired || t.expired
		if t.err != nil && err == nil {
			err = t.err
			cancel() // The loop still waits for all sources.
		}
	}
	switch {
	case err != nil:
		return 0, err
	case other:
		return historyOther, nil
	case expired:
		return historyExpired, nil
	case !seen:
		return historyOther, nil
	}
	return historySame, nil
}

// classify decides whether a failed watch means that the version has expired, or that the source
// cannot be watched at all. If the server refuses the watch, it must permit a list: handlers must
// not get objects that the user may no longer read.
func (t *probeResult) classify(list func() error) {
	switch {
	case t.err == nil:
		return
	case reflector.IsExpired(t.err):
		t.expired, t.err = true, nil
	case reflector.IsRefused(t.err):
		t.expired = true
		if t.err = list(); t.err != nil && reflector.IsRefused(t.err) {
			t.err = fmt.Errorf("%w: %w", errNotAllowed, t.err)
		}
	}
}

// last returns the last change of the objects up to version, and the version of each object.
func (h *history[T]) last() (last checkpoint.Checkpoint, stored map[types.NamespacedName]string) {
	stored = make(map[types.NamespacedName]string, len(h.entries))
	var lastAhead checkpoint.Checkpoint
	for _, entry := range h.entries {
		stored[entry.Key] = entry.ResourceVersion
		switch ahead := checkpoint.Newer(entry.ResourceVersion, h.version); {
		case ahead && (lastAhead.Version == "" || checkpoint.Newer(entry.ResourceVersion, lastAhead.Version)):
			lastAhead = checkpoint.Checkpoint{Key: entry.Key, Version: entry.ResourceVersion}
		case !ahead && (last.Version == "" || checkpoint.Newer(entry.ResourceVersion, last.Version)):
			last = checkpoint.Checkpoint{Key: entry.Key, Version: entry.ResourceVersion}
		}
	}
	if last.Version == "" {
		last = lastAhead // All objects are newer than h.version.
	}
	return last, stored
}

// probeOne watches one source.
func (h *history[T]) probeOne(ctx context.Context, source listwatch.Source[T], from string, last checkpoint.Checkpoint, stored map[types.NamespacedName]string) (t probeResult) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var watch listwatch.WatchStream[T]
	if watch, t.err = source.Watch(ctx, listwatch.WatchOptions{ResourceVersion: from}); t.err != nil {
		return t
	}
	defer watch.Close()
	limit := settleTime
	if len(h.sources) == 1 {
		limit = firstEventLimit
	}
	silent := false // belongs to the timer until it has been stopped
	quiet := make(chan struct{})
	timer := time.AfterFunc(limit, func() {
		silent = true
		close(quiet)
		cancel()
	})
	added := map[types.NamespacedName]bool{} // keys that were added and have not been deleted since
	for {
		event, err := watch.Next()
		if !timer.Stop() {
			<-quiet
		}
		undecodable, skipped := errors.AsType[*listwatch.ObjectError](err)
		if skipped {
			event = listwatch.Event[T]{Type: undecodable.Type}
			event.Key, event.ResourceVersion = undecodable.Key, undecodable.ResourceVersion
		}
		isLastEvent := event.Key == last.Key && event.ResourceVersion == last.Version && event.Type != listwatch.Deleted
		switch {
		case !silent && isLastEvent && (err == nil || skipped):
			t.sawLast = true
		case silent || err == io.EOF, err == nil && checkpoint.Newer(event.ResourceVersion, h.version) && !event.Unordered:
			t.sawOther = t.sawOther || len(added) > 0
			return t
		case err != nil && !skipped:
			t.err = err
			return t
		case event.Type == listwatch.Bookmark, checkpoint.Newer(event.ResourceVersion, h.version),
			checkpoint.Newer(stored[event.Key], h.version):
			// This object was newer than the version.
		case event.Type != listwatch.Deleted:
			added[event.Key] = true
		case stored[event.Key] != "" && !added[event.Key]:
			t.sawOther = true // In the same history, the object would not be stored.
		default:
			delete(added, event.Key)
		}
		timer.Reset(settleTime)
	}
}

// leafSources returns the sources that a source combines, or the source itself.
func leafSources[T any](source listwatch.Source[T]) (all []listwatch.Source[T]) {
	if composite, ok := source.(interface{ components() []listwatch.Source[T] }); ok {
		for _, part := range composite.components() {
			all = append(all, leafSources(part)...)
		}
	}
	if all == nil {
		all = []listwatch.Source[T]{source}
	}
	return all
}
