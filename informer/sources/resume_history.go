package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/internal/mark"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// settle is how long a watch must be silent. After that, all its old events have been read, and
	// its version has not expired. kube-apiserver answers 200 to a watch from an expired version,
	// and reports the expiry at once in the first event.
	settle = 500 * time.Millisecond

	// firstWord is the time limit for the first event, which repeats the last change of the
	// objects.
	firstWord = 5 * time.Second
)

// found is how much of the history since the save a server can report.
type found uint8

const (
	historySame      found = iota + 1 // all of it
	historyForgotten                  // nothing, or not by a watch
	historyOther                      // the server has another history
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

// testimony is the result of watching one source.
type testimony struct {
	err         error
	last, other bool // the watch had the objects' last change; another change
	forgotten   bool // the server cannot report the history
}

// probe watches all sources, several of them at the same time. The watches last until all old
// events are read. The reflector opens its own watches later, because the watches of probe must not
// outlive the reflector's list. After an error the caller may retry.
func (h *history[T]) probe(ctx context.Context) (found, error) {
	last, stored := h.last()
	from := last.Before()
	if from == "" {
		return historyOther, nil // There is no last change.
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	const atOnce = 8
	slots, answers := make(chan struct{}, atOnce), make(chan testimony, len(h.sources))
	for _, source := range h.sources {
		go func() {
			slots <- struct{}{}
			var answer testimony
			defer func() {
				answers <- answer
				<-slots
			}()
			toldAnyway(func() {
				answer = h.ask(ctx, source, from, last, stored)
				answer.judge(func() error { _, err := versionOf(ctx, source); return err })
			}, func(err error) { answer = testimony{err: err} })
		}()
	}
	var seen, other, forgotten bool
	var err error
	for range h.sources {
		t := <-answers
		h.progress()
		seen, other, forgotten = seen || t.last, other || t.other, forgotten || t.forgotten
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
	case forgotten:
		return historyForgotten, nil
	case !seen:
		return historyOther, nil
	}
	return historySame, nil
}

// judge decides whether a failed watch means that the version has expired, or that the source
// cannot be watched at all. If the server refuses the watch, it must permit a list: handlers must
// not get objects that the user may no longer read.
func (t *testimony) judge(list func() error) {
	switch {
	case t.err == nil:
		return
	case reflector.IsExpired(t.err):
		t.forgotten, t.err = true, nil
	case reflector.IsRefused(t.err):
		t.forgotten = true
		if t.err = list(); t.err != nil && reflector.IsRefused(t.err) {
			t.err = fmt.Errorf("%w: %w", errNotAllowed, t.err)
		}
	}
}

// last returns the last change of the objects up to version, and the version of each object.
func (h *history[T]) last() (last mark.Mark, stored map[types.NamespacedName]string) {
	stored = make(map[types.NamespacedName]string, len(h.entries))
	var further mark.Mark
	for _, entry := range h.entries {
		stored[entry.Key] = entry.ResourceVersion
		switch ahead := mark.Newer(entry.ResourceVersion, h.version); {
		case ahead && (further.Version == "" || mark.Newer(entry.ResourceVersion, further.Version)):
			further = mark.Mark{Key: entry.Key, Version: entry.ResourceVersion}
		case !ahead && (last.Version == "" || mark.Newer(entry.ResourceVersion, last.Version)):
			last = mark.Mark{Key: entry.Key, Version: entry.ResourceVersion}
		}
	}
	if last.Version == "" {
		last = further // All objects are newer than the version of the whole.
	}
	return last, stored
}

// ask watches one source.
func (h *history[T]) ask(ctx context.Context, source listwatch.Source[T], from string, last mark.Mark, stored map[types.NamespacedName]string) (t testimony) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var watch listwatch.WatchStream[T]
	if watch, t.err = source.Watch(ctx, listwatch.WatchOptions{ResourceVersion: from}); t.err != nil {
		return t
	}
	defer watch.Close()
	patience := settle
	if len(h.sources) == 1 {
		patience = firstWord
	}
	silent := false // belongs to the timer until it has been stopped
	quiet := make(chan struct{})
	timer := time.AfterFunc(patience, func() {
		silent = true
		close(quiet)
		cancel()
	})
	came := map[types.NamespacedName]bool{} // keys that were added and have not been deleted since
	for {
		event, err := watch.Next()
		if !timer.Stop() {
			<-quiet
		}
		unread, skipped := errors.AsType[*listwatch.ObjectError](err)
		if skipped {
			event = listwatch.Event[T]{Type: unread.Type}
			event.Key, event.ResourceVersion = unread.Key, unread.ResourceVersion
		}
		again := event.Key == last.Key && event.ResourceVersion == last.Version && event.Type != listwatch.Deleted
		switch {
		case !silent && again && (err == nil || skipped):
			t.last = true
		case silent || err == io.EOF, err == nil && mark.Newer(event.ResourceVersion, h.version) && !event.Unordered:
			t.other = t.other || len(came) > 0
			return t
		case err != nil && !skipped:
			t.err = err
			return t
		case event.Type == listwatch.Bookmark, mark.Newer(event.ResourceVersion, h.version),
			mark.Newer(stored[event.Key], h.version): // This object was newer than the version.
		case event.Type != listwatch.Deleted:
			came[event.Key] = true
		case stored[event.Key] != "" && !came[event.Key]:
			t.other = true // In the same history, the object would not be stored.
		default:
			delete(came, event.Key)
		}
		timer.Reset(settle)
	}
}

// parts returns the sources that a source combines, or the source itself.
func parts[T any](source listwatch.Source[T]) (all []listwatch.Source[T]) {
	if together, ok := source.(interface{ components() []listwatch.Source[T] }); ok {
		for _, part := range together.components() {
			all = append(all, parts(part)...)
		}
	}
	if all == nil {
		all = []listwatch.Source[T]{source}
	}
	return all
}
