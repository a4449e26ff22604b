package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"k8s.io/client-go/util/watchlist"

	"github.com/kinform/kinform/listwatch"
	core "github.com/kinform/kinform/reflector"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/klog/v2"
)

// feed is one run of a Reflector. It moves objects from the source into the store. It sends the
// same requests as client-go, in the same order, and returns the same errors.
type feed struct {
	*Reflector
	from    *source
	to      *storeSink
	streams bool // the run uses streaming lists
}

func (r *Reflector) feed(ctx context.Context) *feed {
	metrics := newReflectorMetrics(reflectorMetricsProvider(), r.name)
	from := &source{lw: r.lw, description: r.description, expectedType: r.expectedType, expectedGVK: r.expectedGVK, metrics: metrics, store: r.store}
	to := &storeSink{reflector: r, store: r.store, metrics: metrics, ctx: ctx, from: from}
	to.bookmarks, _ = r.store.(ReflectorBookmarkStore)
	to.versions, _ = r.store.(ResourceVersionUpdater)
	to.itemStore, _ = r.store.(itemStore)
	// A client may report that it does not support streaming lists. Fakes do.
	return &feed{Reflector: r, from: from, to: to, streams: watchListEnabled() && !watchlist.DoesClientNotSupportWatchListSemantics(r.lw)}
}

const (
	// shortWatch is the minimal duration of an orderly watch without events (RC-25).
	shortWatch = time.Second

	// maxWatchErrors is the number of consecutive streaming lists that may end before their end
	// marker. After them the reflector uses a normal list. maxWatchErrors is also the number of
	// consecutive very short watches after which the reflector waits.
	maxWatchErrors = 10
)

var errNoMarker = errors.New("the streaming list ended before its end marker")

// listAndWatch does the work of ListAndWatchWithContext.
func (f *feed) listAndWatch(ctx context.Context) error {
	f.logger.V(3).Info("Listing and watching", "type", f.description)
	defer f.from.close() // closes the open watch, also after a panic
	var open listwatch.WatchStream[any]
	done := false
	if f.streams {
		var err error
		open, err = f.streamList(ctx)
		done = err == nil
		if err != nil && ctx.Err() == nil {
			f.logger.V(4).Info("The streaming list failed, listing", "type", f.description, "err", err)
		}
	}
	if !done && ctx.Err() == nil {
		if err := f.list(ctx); err != nil {
			return err
		}
	}
	return f.watch(ctx, open)
}

// pause waits for a period of the reflector's Backoff. It returns false if the context ends.
func (f *feed) pause(ctx context.Context) bool {
	timer := f.clock.NewTimer(f.delay())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	}
}

// isRetriable reports whether the server is busy or refuses the connection. Then the request itself
// is correct, and may be sent again (RC-22).
func isRetriable(err error) bool {
	return utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)
}

// isUnavailable reports whether the server no longer has a version, or does not have it yet.
func isUnavailable(err error) bool {
	return core.IsExpired(err) || core.IsTooLarge(err)
}

// watchOptions returns the options of a watch from the last version.
func (f *feed) watchOptions() listwatch.WatchOptions {
	return listwatch.WatchOptions{
		ResourceVersion: f.LastSyncResourceVersion(),
		Timeout:         f.watchTimeout + rand.N(f.watchTimeout), // RC-20
	}
}

// watch opens one watch after another and applies their events, until a list is needed. If the
// argument open is not nil, it is the first of these watches, and continues a streaming list.
func (f *feed) watch(ctx context.Context, open listwatch.WatchStream[any]) error {
	retry := NewRetryWithDeadline(f.MaxInternalErrorRetryDuration, time.Minute, apierrors.IsInternalError, f.clock)
	short := 0 // consecutive very short watches
	for first := true; ctx.Err() == nil; first = false {
		if !first && !f.canResume() {
			f.logger.V(4).Info("The next watch could not show what is gone, listing", "type", f.description)
			return nil
		}
		// before the request: some proxies send no headers before the first event
		begun := time.Now()
		if open == nil {
			var err error
			open, err = f.from.Watch(ctx, f.watchOptions())
			switch {
			case ctx.Err() != nil:
				continue
			case isRetriable(err):
				f.logger.V(4).Info("The watch was refused, trying again after a wait", "type", f.description, "err", err)
				f.pause(ctx)
				continue
			case err != nil:
				return err
			}
		}
		err := f.follow(ctx, open, begun)
		open = nil
		retry.After(err)
		if short++; time.Since(begun) >= shortWatch {
			short = 0
		}
		switch {
		case ctx.Err() != nil, err == nil && short < maxWatchErrors:
		case err == nil, apierrors.IsTooManyRequests(err):
			f.logger.V(2).Info("The watch has ended, opening the next one after a wait", "type", f.description, "err", err)
			f.pause(ctx)
		case apierrors.IsInternalError(err) && retry.ShouldRetry():
			f.logger.V(2).Info("The watch has ended, opening the next one", "type", f.description, "err", err)
		case core.IsExpired(err):
			f.logger.V(4).Info("The watch has ended, listing", "type", f.description, "err", err)
			return nil
		default:
			f.logger.Info("Warning: the watch has ended with an error, listing", "type", f.description, "err", err)
			return nil
		}
	}
	return nil
}

// canResume reports whether another watch can continue where the last watch ended. A watch from no
// version, or from "0", begins with the existing objects and does not show the deletions since the
// last watch. After an undecodable object without a known name, only a list shows which object it
// was.
func (f *feed) canResume() bool {
	version := f.LastSyncResourceVersion()
	return version != "" && version != "0" && !f.undecodableUnnamed
}

// follow applies the events of an open watch to the store, and closes the watch. It returns nil if
// the server has ended the watch in an orderly way.
func (f *feed) follow(ctx context.Context, open listwatch.WatchStream[any], begun time.Time) error {
	defer func() { _ = open.Close() }()
	for n := 0; ctx.Err() == nil; n++ {
		event, err := open.Next()
		if err != nil && ctx.Err() != nil {
			return nil // but an event that came before the end is applied
		}
		undecodable, isUndecodable := errors.AsType[*listwatch.ObjectError](err)
		switch {
		case err == errSilentWatch: //nolint:errorlint // it is never wrapped
			f.logger.V(2).Info("The watch brought nothing for long, opening the next one", "type", f.description)
			return nil
		case err == io.EOF: //nolint:errorlint // the orderly end of the watch
			if n == 0 && time.Since(begun) < shortWatch {
				return &VeryShortWatchError{Name: f.name}
			}
			return nil
		case isUndecodable:
			err = f.applyUndecodable(ctx, undecodable)
		case err == nil && event.State == listwatch.Unchanged:
			// HasVersion is meant for initial events only. A stream that reads ahead may have
			// called it for a later event too.
			if !f.to.HasVersion(event.Key, event.ResourceVersion, event.UIDHash) {
				err = fmt.Errorf("the event %v %v came without its object", event.Type, event.Key)
			}
		case err == nil:
			err = f.to.Apply(event)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// applyUndecodable handles an event whose object could not be decoded. If the name of a deleted
// object is unknown, or the store belongs to the program, it returns an error, and a list follows.
func (f *feed) applyUndecodable(ctx context.Context, undecodable *listwatch.ObjectError) error {
	f.reportUndecodable(ctx, "failed to watch %s: %w", undecodable)
	if undecodable.Key.Name == "" {
		f.undecodableUnnamed = true
		if undecodable.Type == listwatch.Deleted {
			return undecodable
		}
		return nil
	}
	event := listwatch.Event[any]{Type: undecodable.Type, Item: undecodableItem(undecodable)}
	event.ResourceVersion = undecodable.ResourceVersion
	if undecodable.Type != listwatch.Deleted {
		event.Type = listwatch.Modified // the object exists
	}
	return f.to.Apply(event)
}

// reportUndecodable calls the error handler for an undecodable object. The store has an older state
// of the object, or does not have the object.
func (f *feed) reportUndecodable(ctx context.Context, format string, undecodable *listwatch.ObjectError) {
	f.onError(klog.NewContext(ctx, f.logger), f.Reflector, fmt.Errorf(format, f.description, undecodable))
}

// undecodableItem returns the item for an undecodable object. The item means that the object
// exists, and that the store keeps its earlier state.
func undecodableItem(undecodable *listwatch.ObjectError) listwatch.Item[any] {
	return listwatch.Item[any]{Key: undecodable.Key, UIDHash: undecodable.UIDHash, State: listwatch.Undecodable}
}
