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

// listSilence bounds how long a list, or the initial events of a streaming list, may send nothing.
// An API server gives up after a minute.
const listSilence = 10 * time.Minute

var errSilentList = fmt.Errorf("the list brought nothing for %v", listSilence)

// listed is the content of a list, or the part of a streaming list that has arrived.
type listed struct {
	items []listwatch.Item[any]
	// the undecodable objects; all objects without a known name share one entry
	unread map[types.NamespacedName]*listwatch.ObjectError
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
		return fmt.Errorf("failed to list %s: %w", f.about, err)
	}
	f.paged = f.paged || version == "0" && got.paged
	return f.replace(ctx, got)
}

// replace makes a snapshot the content of the store.
func (f *feed) replace(ctx context.Context, got *listed) error {
	f.unavailable = false
	for _, unread := range got.unread {
		if f.version.Load() == nil {
			// An object missing in the first list would look like a deleted object to the program.
			return fmt.Errorf("failed to list %s: %w", f.about, unread)
		}
		f.report(ctx, "failed to list %s: %w", unread)
	}
	nameless := got.unread[types.NamespacedName{}] != nil
	items := got.items
	if nameless {
		// the undecodable object may be any object of the store
		items = append(items, listwatch.Item[any]{Unchanged: true})
	}
	if err := f.to.Replace(items, got.version); err != nil {
		return fmt.Errorf("unable to sync list result: %w", err)
	}
	f.nameless = nameless
	return nil
}

// pages reads a list, page by page. The result has the version of the first page.
func (f *feed) pages(ctx context.Context, version string, limit int64) (*listed, error) {
	var bytes atomic.Int64
	opts := listwatch.ListOptions{ResourceVersion: version, Limit: limit, Known: f.to.HasVersion, Bytes: &bytes}
	got := &listed{}
	for {
		meta, err := f.page(ctx, opts, got)
		switch {
		case apierrors.IsResourceExpired(err) && opts.Continue != "":
			// Further pages would be of a later state than the pages before. So list once more,
			// without pages (RC-8).
			got = &listed{paged: true}
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
func (f *feed) page(ctx context.Context, opts listwatch.ListOptions, got *listed) (listwatch.ListMeta, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The time of a program's own list function is not limited.
	if streams(f.lw, f.expectedType) {
		silence := time.AfterFunc(listSilence, func() { cancel(errSilentList) })
		defer silence.Stop()
		opts.Patience.Progress = func() { silence.Reset(listSilence) }
	}
	stream, err := f.from.List(ctx, opts)
	if err != nil {
		return listwatch.ListMeta{}, err
	}
	for {
		item, err := stream.Next()
		if err == io.EOF { //nolint:errorlint // that is the orderly end
			return stream.Meta(), nil
		}
		if unread, ok := errors.AsType[*listwatch.ObjectError](err); ok {
			got.note(unread)
			if unread.Key.Name == "" {
				continue
			}
			item = unchanged(unread)
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
		var got *listed
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
			f.logger.V(2).Info("The streaming list failed, trying again after a wait", "type", f.about, "err", err)
			f.pause(ctx)
		case isUnavailable(err) && opts.ResourceVersion != "":
			f.unavailable = true
		case errors.Is(err, errNoMarker) && ended+1 < patience:
			ended++
		default:
			return nil, err
		}
	}
	return nil, ctx.Err()
}

// collect takes the events of a streaming list up to its end marker.
func (f *feed) collect(open listwatch.WatchStream[any], begun time.Time) (*listed, error) {
	got := &listed{index: map[types.NamespacedName]int{}}
	for n := 0; ; n++ {
		event, err := open.Next()
		if unread, ok := errors.AsType[*listwatch.ObjectError](err); ok {
			if unread.Key.Name == "" && unread.Type == listwatch.Deleted {
				return nil, err // the name of the deleted object is unknown: list again
			}
			got.skip(unread)
			continue
		}
		switch {
		case err == io.EOF && n == 0 && time.Since(begun) < veryShort: //nolint:errorlint // that is the orderly end
			return nil, &VeryShortWatchError{Name: f.name}
		case err == io.EOF: //nolint:errorlint // likewise
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

// note records an undecodable object.
func (s *listed) note(unread *listwatch.ObjectError) {
	if s.unread == nil {
		s.unread = map[types.NamespacedName]*listwatch.ObjectError{}
	}
	key := unread.Key
	if key.Name == "" {
		key = types.NamespacedName{}
	}
	s.unread[key] = unread
}

// put adds an item, or replaces the item with the same key.
func (s *listed) put(item listwatch.Item[any]) {
	delete(s.unread, item.Key)
	if i, ok := s.index[item.Key]; ok {
		s.items[i] = item
		return
	}
	s.index[item.Key] = len(s.items)
	s.items = append(s.items, item)
}

// remove removes the item with this key. The last item moves to its place.
func (s *listed) remove(key types.NamespacedName) {
	delete(s.unread, key)
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

// skip handles an event with an undecodable object. It removes a deleted object. For any other
// object, the last decoded state stays in the list.
func (s *listed) skip(unread *listwatch.ObjectError) {
	if unread.Type == listwatch.Deleted {
		s.remove(unread.Key)
		return
	}
	if _, ok := s.index[unread.Key]; !ok && unread.Key.Name != "" {
		s.put(unchanged(unread))
	}
	s.note(unread)
}
