package informer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/listwatch"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// settle is how long a watch must stay without an error to be taken for one that
// the server can serve. kube-apiserver answers 200 to a watch from a version that
// it has forgotten, and says so in the first event, at once.
const settle = 500 * time.Millisecond

// resumed is a source whose first list answers that everything in the store is
// unchanged, if the server can tell what has changed since. It belongs to one
// reflector.
type resumed[T any] struct {
	listwatch.Source[T]
	store   *indexer.Reader[T] // as it was preloaded, as long as asked is false
	version string             // through which it is complete

	asked bool // whether the server can tell
	// ahead has the versions of those preloaded objects that are newer than the
	// store: it comes from a source whose watch is Unordered.
	ahead map[types.NamespacedName]string
}

// String is the name of the source, for errors.
func (s *resumed[T]) String() string { return sourceName(s.Source) }

// List implements listwatch.Source.
func (s *resumed[T]) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[T], error) {
	switch resumes, err := s.resumes(ctx); {
	case err != nil:
		return nil, err
	case resumes:
		return &unchangedList[T]{items: s.unchanged(), version: s.version}, nil
	}
	if opts.ResourceVersion == "0" {
		// No older than what the store has. A page of a limited list would be exactly
		// of that version.
		opts.ResourceVersion, opts.Limit = s.version, 0
	}
	return s.Source.List(ctx, opts)
}

// Watch implements listwatch.Source.
func (s *resumed[T]) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[T], error) {
	var initial []listwatch.Event[T]
	if opts.SendInitialEvents {
		resumes, err := s.resumes(ctx)
		if err != nil {
			return nil, err
		}
		if resumes {
			for _, item := range s.unchanged() {
				initial = append(initial, listwatch.Event[T]{Type: listwatch.Added, Item: item})
			}
			end := listwatch.Event[T]{Type: listwatch.Bookmark, InitialEventsEnd: true}
			end.ResourceVersion = s.version
			initial = append(initial, end)
			opts.SendInitialEvents, opts.ResourceVersion = false, s.version
		}
	}
	stream, err := s.Source.Watch(ctx, opts)
	if err == nil && opts.ResourceVersion == s.version {
		stream = &resumedWatch[T]{WatchStream: stream, initial: initial, ahead: s.ahead}
	}
	return stream, err
}

// resumes reports, to the first who gets an answer, whether the server can tell
// what has changed since version, and false from then on. After an error it is
// worth while to ask again.
func (s *resumed[T]) resumes(ctx context.Context) (bool, error) {
	if s.asked {
		return false, nil
	}
	err := s.probe(ctx)
	switch {
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err), apierrors.IsBadRequest(err), apierrors.IsInvalid(err):
		s.asked = true
		return false, nil
	case err != nil:
		return false, err
	}
	current, err := s.current(ctx)
	if err != nil {
		return false, err
	}
	s.asked = true
	order, err := resourceversion.CompareResourceVersion(current, s.version)
	if err != nil || order < 0 {
		s.version = current // A list is to be no older than that; the store's version means nothing here.
		return false, nil
	}
	return true, nil
}

// probe opens a watch from version for as long as it takes to see an error. The
// watch itself is opened later, when the reflector asks for it: the request of a
// list must not outlive the list.
func (s *resumed[T]) probe(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.Source.Watch(ctx, listwatch.WatchOptions{ResourceVersion: s.version})
	if err != nil {
		return err
	}
	defer stream.Close()
	first := make(chan error, 1)
	go func() {
		_, err := stream.Next()
		first <- err
	}()
	select {
	case err = <-first:
	case <-time.After(settle):
		cancel()
		<-first
	}
	if _, skipped := errors.AsType[*listwatch.ObjectError](err); skipped || err == io.EOF {
		return nil
	}
	return err
}

// current is the version of the server, which it tells with a list of one object.
// A server whose versions are behind would be watched in silence for ever.
func (s *resumed[T]) current(ctx context.Context) (string, error) {
	undecoded := func(types.NamespacedName, string, uint64) bool { return true }
	stream, err := s.Source.List(ctx, listwatch.ListOptions{VersionOnly: true, Limit: 1, Known: undecoded})
	if err != nil {
		return "", err
	}
	defer stream.Close()
	for {
		_, err := stream.Next()
		_, skipped := errors.AsType[*listwatch.ObjectError](err)
		switch {
		case err == io.EOF:
			return stream.Meta().ResourceVersion, nil
		case err != nil && !skipped:
			return "", err
		}
	}
}

// unchanged are all objects of the store, without themselves.
func (s *resumed[T]) unchanged() []listwatch.Item[T] {
	items := make([]listwatch.Item[T], 0, s.store.Len())
	for entry := range s.store.Entries() {
		items = append(items, listwatch.Item[T]{Key: entry.Key, ResourceVersion: entry.ResourceVersion, UIDHash: entry.UIDHash, Unchanged: true})
		if newer(entry.ResourceVersion, s.version) {
			if s.ahead == nil {
				s.ahead = make(map[types.NamespacedName]string)
			}
			s.ahead[entry.Key] = entry.ResourceVersion
		}
	}
	return items
}

// unchangedList is a list that has been taken already.
type unchangedList[T any] struct {
	items   []listwatch.Item[T]
	version string
}

func (l *unchangedList[T]) Next() (item listwatch.Item[T], err error) {
	if len(l.items) == 0 {
		return item, io.EOF
	}
	item, l.items = l.items[0], l.items[1:]
	return item, nil
}

func (l *unchangedList[T]) Meta() listwatch.ListMeta {
	return listwatch.ListMeta{ResourceVersion: l.version}
}

func (l *unchangedList[T]) Close() error { return nil }

// resumedWatch is a watch that goes on where the preloaded store was.
type resumedWatch[T any] struct {
	listwatch.WatchStream[T]
	initial []listwatch.Event[T] // come first
	ahead   map[types.NamespacedName]string
}

func (w *resumedWatch[T]) Next() (event listwatch.Event[T], err error) {
	if len(w.initial) > 0 {
		event, w.initial = w.initial[0], w.initial[1:]
		return event, nil
	}
	for {
		event, err = w.WatchStream.Next()
		version, isAhead := w.ahead[event.Key]
		if err != nil || !isAhead || newer(event.ResourceVersion, version) {
			return event, err
		}
	}
}

// sourceName names a source in errors.
func sourceName[T any](source listwatch.Source[T]) string {
	if named, ok := source.(fmt.Stringer); ok {
		return named.String()
	}
	return "source"
}

// newer reports whether a is newer than b, as far as they can be compared.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}
