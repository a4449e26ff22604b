package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/listwatch"
	core "github.com/kinform/kinform/reflector"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// pageSize is the default number of objects per page (RC-7).
const pageSize = 500

// listSilenceTimeout bounds how long a list, or the initial events of a streaming list, may send
// nothing. An API server gives up after a minute.
const listSilenceTimeout = 10 * time.Minute

var errSilentList = fmt.Errorf("the list brought nothing for %v", listSilenceTimeout)

// snapshotBuilder is the content of a list, or the part of a streaming list that has arrived.
type snapshotBuilder struct {
	items []listwatch.Item[any]
	// the undecodable objects; all objects without a known name share one entry
	undecodable map[types.NamespacedName]*listwatch.ObjectError
	// index in items by key, for a streaming list
	index   map[types.NamespacedName]int
	version string
	paged   bool
}

// list replaces the store's content with a list from the server.
func (f *feed) list(ctx context.Context) error {
	version := f.LastSyncResourceVersion()
	switch {
	case f.unavailable:
		version = "" // RC-6
	case version == "":
		version = "0" // the server may return any state from its cache (RC-4)
	}
	limit := f.WatchListPageSize
	if limit == 0 && (f.paged || version == "" || version == "0") {
		limit = pageSize // RC-7
	}
	got, err := f.pages(ctx, version, limit)
	if isUnavailable(err) || version != "" && version != "0" && core.RefusesVersion(err) {
		f.unavailable = true // RC-5
		got, err = f.pages(ctx, "", limit)
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("failed to list %s: %w", f.description, err)
	}
	f.paged = f.paged || version == "0" && got.paged
	return f.replace(ctx, got)
}

// replace makes a snapshot the content of the store.
func (f *feed) replace(ctx context.Context, got *snapshotBuilder) error {
	f.unavailable = false
	for _, undecodable := range got.undecodable {
		if f.version.Load() == nil {
			// An object missing in the first list would look like a deleted object to the program.
			return fmt.Errorf("failed to list %s: %w", f.description, undecodable)
		}
		f.reportUndecodable(ctx, "failed to list %s: %w", undecodable)
	}
	nameless := got.undecodable[types.NamespacedName{}] != nil
	if err := f.to.Replace(listwatch.Snapshot[any]{Items: got.items, ResourceVersion: got.version, NamesMissing: nameless}); err != nil {
		return fmt.Errorf("unable to sync list result: %w", err)
	}
	f.undecodableUnnamed = nameless
	return nil
}

// pages reads a list, page by page. The result has the version of the first page.
func (f *feed) pages(ctx context.Context, version string, limit int64) (*snapshotBuilder, error) {
	var bytes atomic.Int64
	opts := listwatch.ListOptions{ResourceVersion: version, Limit: limit, Known: f.to.HasVersion, Bytes: &bytes}
	got := &snapshotBuilder{}
	for {
		meta, err := f.page(ctx, opts, got)
		switch {
		case apierrors.IsResourceExpired(err) && opts.Continue != "":
			// Further pages would be of a later state than the pages before. So list once more,
			// without pages (RC-8).
			got = &snapshotBuilder{paged: true}
			bytes.Store(0)
			opts.ResourceVersion, opts.Limit, opts.Continue = version, 0, ""
			meta, err = f.page(ctx, opts, got)
			got.version = meta.ResourceVersion
			return got, err
		case err != nil:
			return nil, err
		case opts.Continue == "":
			got.version = meta.ResourceVersion
		}
		switch meta.Continue {
		case "":
			return got, nil
		case opts.Continue:
			return nil, core.ErrPageRepeated
		}
		// The token contains the version. A request with both is an error.
		got.paged, opts.Continue, opts.ResourceVersion = true, meta.Continue, ""
	}
}

// page adds the items of one page to a snapshot.
func (f *feed) page(ctx context.Context, opts listwatch.ListOptions, got *snapshotBuilder) (listwatch.ListMeta, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The time of a program's own list function is not limited.
	if streams(f.lw, f.expectedType) {
		silence := time.AfterFunc(listSilenceTimeout, func() { cancel(errSilentList) })
		defer silence.Stop()
		opts.IdleTimeout.Progress = func() { silence.Reset(listSilenceTimeout) }
	}
	stream, err := f.from.List(ctx, opts)
	if err != nil {
		return listwatch.ListMeta{}, err
	}
	for {
		item, err := stream.Next()
		if err == io.EOF { //nolint:errorlint // the orderly end of the list
			return stream.Meta(), nil
		}
		if undecodable, ok := errors.AsType[*listwatch.ObjectError](err); ok {
			got.addUndecodable(undecodable)
			if undecodable.Key.Name == "" {
				continue
			}
			item = undecodableItem(undecodable)
		} else if err != nil {
			return listwatch.ListMeta{}, err
		}
		got.items = append(got.items, item)
	}
}

// streamList replaces the store's content with a streaming list. The stream continues as a watch
// (RC-14 to RC-18). An error means that a normal list must follow.
func (f *feed) streamList(ctx context.Context) (listwatch.WatchStream[any], error) {
	ended := 0
	for ctx.Err() == nil {
		opts := f.watchOptions()
		opts.SendInitialEvents, opts.Known, opts.Bytes = true, f.to.HasVersion, new(atomic.Int64)
		if f.unavailable {
			opts.ResourceVersion = ""
		}
		begun := time.Now()
		var got *snapshotBuilder
		open, err := f.from.Watch(ctx, opts)
		if err == nil {
			got, err = f.collect(open, begun)
			if err == nil {
				err = f.replace(ctx, got)
			}
			if err == nil {
				return open, nil
			}
			_ = open.Close()
		}
		switch {
		case ctx.Err() != nil:
		case isRetriable(err):
			f.logger.V(2).Info("The streaming list failed, trying again after a wait", "type", f.description, "err", err)
			f.pause(ctx)
		case isUnavailable(err) && opts.ResourceVersion != "":
			f.unavailable = true
		case errors.Is(err, errNoMarker) && ended+1 < maxWatchErrors:
			ended++
		default:
			return nil, err
		}
	}
	return nil, ctx.Err()
}

// collect takes the events of a streaming list up to its end marker.
func (f *feed) collect(open listwatch.WatchStream[any], begun time.Time) (*snapshotBuilder, error) {
	got := &snapshotBuilder{index: map[types.NamespacedName]int{}}
	for n := 0; ; n++ {
		event, err := open.Next()
		if undecodable, ok := errors.AsType[*listwatch.ObjectError](err); ok {
			if undecodable.Key.Name == "" && undecodable.Type == listwatch.Deleted {
				return nil, err // the name of the deleted object is unknown: list again
			}
			got.applyUndecodable(undecodable)
			continue
		}
		switch {
		case err == io.EOF && n == 0 && time.Since(begun) < shortWatch: //nolint:errorlint // the orderly end
			return nil, &VeryShortWatchError{Name: f.name}
		case err == io.EOF: //nolint:errorlint // the orderly end of the stream
			return nil, errNoMarker
		case err != nil:
			return nil, err
		}
		switch event.Type {
		case listwatch.Added, listwatch.Modified:
			got.put(event.Item)
		case listwatch.Deleted:
			got.remove(event.Key)
		case listwatch.Bookmark:
			if event.InitialEventsEnd {
				got.version = event.ResourceVersion
				return got, nil
			}
		}
	}
}

// addUndecodable records an undecodable object.
func (s *snapshotBuilder) addUndecodable(undecodable *listwatch.ObjectError) {
	if s.undecodable == nil {
		s.undecodable = map[types.NamespacedName]*listwatch.ObjectError{}
	}
	key := undecodable.Key
	if key.Name == "" {
		key = types.NamespacedName{}
	}
	s.undecodable[key] = undecodable
}

// put adds an item, or replaces the item with the same key.
func (s *snapshotBuilder) put(item listwatch.Item[any]) {
	delete(s.undecodable, item.Key)
	if i, ok := s.index[item.Key]; ok {
		s.items[i] = item
		return
	}
	s.index[item.Key] = len(s.items)
	s.items = append(s.items, item)
}

// remove removes the item with this key. The last item moves to its place.
func (s *snapshotBuilder) remove(key types.NamespacedName) {
	delete(s.undecodable, key)
	i, ok := s.index[key]
	if !ok {
		return
	}
	last := len(s.items) - 1
	s.items[i] = s.items[last]
	s.index[s.items[i].Key] = i
	s.items[last] = listwatch.Item[any]{}
	s.items = s.items[:last]
	delete(s.index, key)
}

// applyUndecodable handles an event with an undecodable object. It removes a deleted object. For
// any other object, the last decoded state stays in the list.
func (s *snapshotBuilder) applyUndecodable(undecodable *listwatch.ObjectError) {
	if undecodable.Type == listwatch.Deleted {
		s.remove(undecodable.Key)
		return
	}
	if _, ok := s.index[undecodable.Key]; !ok && undecodable.Key.Name != "" {
		s.put(undecodableItem(undecodable))
	}
	s.addUndecodable(undecodable)
}
