package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/internal/checkpoint"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// ResumeOptions is what [Resume] needs from an informer.
type ResumeOptions[T any] struct {
	// Load returns the objects of an earlier process, and the version through which they are
	// complete. Resume calls it with the description of the source when the server has responded;
	// see Describe. Resume calls it again only if the description changes before the server has
	// agreed.
	Load func(description map[string]string) (entries []indexer.Entry[T], resourceVersion string, err error)

	// Describe says that Load needs a description, if the source is a listwatch.Describer.
	// Otherwise Load gets nil.
	Describe bool

	// Fill puts the loaded objects into the store. After an error, a list follows.
	Fill func(entries []indexer.Entry[T], resourceVersion string) error

	// Store is the store that Fill fills.
	Store *indexer.Reader[T]

	// Refused receives the reason why the objects are not used, or why a list follows.
	Refused func(error)
}

// Resume returns a source that begins with the state of an earlier process. If the server can
// report all changes since then, its first list returns every object in the store as unchanged. The
// source belongs to one reflector. informer.Preload uses it, and documents when the objects are
// used.
func Resume[T any](source listwatch.Source[T], opts ResumeOptions[T]) listwatch.Source[T] {
	return &resumed[T]{Source: source, ResumeOptions: opts}
}

type resumed[T any] struct {
	listwatch.Source[T]
	ResumeOptions[T]

	loaded  *loaded[T] // nil before Load was called, and after the decision
	decided bool       // the loaded objects have been accepted or refused
	version string     // the version through which the accepted objects are complete
	// Version of the newest accepted object; after a refusal, the server's.
	newest         string
	historyUnknown bool // the server has expired that version: it may have another history
	// ahead has the versions of preloaded objects that are newer than version: they come from a
	// source whose watch is Unordered. Older events of these objects are dropped.
	ahead map[types.NamespacedName]string
}

// loaded has the objects that were loaded for a source with this description.
type loaded[T any] struct {
	description map[string]string
	entries     []indexer.Entry[T]
	version     string
}

// String is the name of the source, for errors.
func (s *resumed[T]) String() string { return sourceName(s.Source) }

// Prepare implements listwatch.Preparer.
func (s *resumed[T]) Prepare(ctx context.Context) error { return listwatch.Prepare(ctx, s.Source) }

// List implements listwatch.Source.
func (s *resumed[T]) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[T], error) {
	if opts.VersionOnly {
		return s.Source.List(ctx, opts)
	}
	switch canResume, err := s.canResume(ctx, opts.IdleTimeout); {
	case err != nil:
		return nil, err
	case canResume:
		return &unchangedList[T]{items: s.unchanged(), version: s.version}, nil
	}
	if opts.ResourceVersion == "0" && s.newest != "" {
		// The list must be at least as new as the store. With a limit, the list would have exactly
		// that version.
		opts.ResourceVersion, opts.Limit = s.newest, 0
	}
	s.ahead = nil
	stream, err := s.Source.List(ctx, opts)
	if err == nil && s.historyUnknown {
		stream = &checkedList[T]{stream, s}
	}
	return stream, err
}

// Watch implements listwatch.Source.
func (s *resumed[T]) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[T], error) {
	var initial []listwatch.Event[T]
	if opts.SendInitialEvents {
		canResume, err := s.canResume(ctx, opts.InitialIdleTimeout)
		if err != nil {
			return nil, err
		}
		if canResume {
			for _, item := range s.unchanged() {
				initial = append(initial, listwatch.Event[T]{Type: listwatch.Added, Item: item})
			}
			end := listwatch.Event[T]{Type: listwatch.Bookmark, InitialEventsEnd: true}
			end.ResourceVersion = s.version
			initial = append(initial, end)
			opts.SendInitialEvents, opts.ResourceVersion = false, s.version
		} else {
			s.ahead = nil
		}
	}
	stream, err := s.Source.Watch(ctx, opts)
	switch {
	case err != nil:
	case s.historyUnknown && opts.SendInitialEvents:
		stream = &checkedWatch[T]{stream, s}
	case len(initial) > 0 || len(s.ahead) > 0:
		stream = &resumedWatch[T]{WatchStream: stream, initial: initial, ahead: s.ahead}
	}
	return stream, err
}

// canResume reports whether the server can report the changes since version. Only the first call
// that succeeds can return true. After an error the caller may retry: nothing has been delivered.
func (s *resumed[T]) canResume(ctx context.Context, patience listwatch.IdleTimeout) (bool, error) {
	if s.decided {
		return false, nil
	}
	progress := func() {
		if patience.Progress != nil {
			patience.Progress()
		}
	}
	var description map[string]string
	if source, ok := s.Source.(listwatch.Describer); ok && s.Describe {
		var err error
		if description, err = source.Describe(ctx); err != nil {
			return false, fmt.Errorf("describing %s: %w", s, err)
		}
		progress()
	}
	current, err := versionOf(ctx, s.Source) // The request also checks that reading is permitted.
	if err != nil {
		return false, err
	}
	progress()
	if s.loaded == nil || !maps.Equal(s.loaded.description, description) {
		entries, version, err := s.Load(description)
		if err != nil {
			return false, s.decide("", err)
		}
		s.loaded = &loaded[T]{description, entries, version}
	}
	entries, version := s.loaded.entries, s.loaded.version
	order, err := resourceversion.CompareResourceVersion(current, version)
	if err != nil || order < 0 {
		return false, s.decide(current, fmt.Errorf("the server is at version %s, but the preloaded objects are at version %s", current, version))
	}
	found, err := (&history[T]{sources: leafSources(s.Source), entries: entries, version: version, progress: progress}).probe(ctx)
	switch {
	case errors.Is(err, errNotAllowed):
		return false, s.decide("", err)
	case err != nil:
		return false, err
	case found == historyOther:
		return false, s.decide(current, fmt.Errorf("the server has another history than the preloaded objects of version %s", version))
	}
	s.version, s.historyUnknown = version, found == historyExpired
	newest := version
	for _, entry := range entries {
		if checkpoint.Newer(entry.ResourceVersion, newest) {
			newest = entry.ResourceVersion
		}
	}
	err = s.Fill(entries, version)
	return err == nil && found == historySame, s.decide(newest, err)
}

// decide ends the probing, and returns nil. A list that follows must not be older than the version
// newest.
func (s *resumed[T]) decide(newest string, err error) error {
	s.decided, s.loaded, s.newest = true, nil, newest
	if err != nil {
		s.Refused(err)
	}
	return nil
}

// check returns an error if an object shows that the server has another history. The object's
// version is not newer than the store's, but the store does not have the object at that version.
func (s *resumed[T]) check(item listwatch.Item[T]) error {
	if !s.historyUnknown || checkpoint.Newer(item.ResourceVersion, s.version) {
		return nil
	}
	if entry, ok := s.Store.Entry(item.Key); ok && entry.ResourceVersion == item.ResourceVersion {
		return nil
	}
	s.historyUnknown = false // From now on no version counts as known.
	return fmt.Errorf("%w: %s at version %s is not among the preloaded objects of version %s", reflector.ErrOtherHistory, item.Key, item.ResourceVersion, s.version)
}

// unchanged returns all objects of the store as unchanged items, without the objects themselves.
func (s *resumed[T]) unchanged() []listwatch.Item[T] {
	store := s.Store
	items := make([]listwatch.Item[T], 0, store.Len())
	for entry := range store.Entries() {
		items = append(items, listwatch.Item[T]{Key: entry.Key, ResourceVersion: entry.ResourceVersion, UIDHash: entry.UIDHash, State: listwatch.Unchanged})
		if checkpoint.Newer(entry.ResourceVersion, s.version) {
			if s.ahead == nil {
				s.ahead = make(map[types.NamespacedName]string)
			}
			s.ahead[entry.Key] = entry.ResourceVersion
		}
	}
	return items
}

// unchangedList is a list that has only unchanged items.
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

// resumedWatch is a watch that continues from the preloaded store, or a later watch while the map
// ahead has objects.
type resumedWatch[T any] struct {
	listwatch.WatchStream[T]
	initial []listwatch.Event[T] // returned first by Next
	ahead   map[types.NamespacedName]string
}

func (w *resumedWatch[T]) Next() (event listwatch.Event[T], err error) {
	if len(w.initial) > 0 {
		event, w.initial = w.initial[0], w.initial[1:]
		return event, nil
	}
	for {
		event, err = w.WatchStream.Next()
		key, version := event.Key, event.ResourceVersion
		if undecodable, isUndecodable := errors.AsType[*listwatch.ObjectError](err); isUndecodable {
			key, version = undecodable.Key, undecodable.ResourceVersion
		} else if err != nil {
			return event, err
		}
		stored, isAhead := w.ahead[key]
		// An event without a version may be newer than the stored object.
		if !isAhead || version == "" || checkpoint.Newer(version, stored) {
			return event, err
		}
	}
}

// checkedList is a list from a server that may have another history.
type checkedList[T any] struct {
	listwatch.ListStream[T]
	*resumed[T]
}

func (l *checkedList[T]) Next() (item listwatch.Item[T], err error) {
	switch item, err = l.ListStream.Next(); {
	case err == nil:
		err = l.check(item)
	case err == io.EOF && l.Meta().Continue == "":
		l.historyUnknown = false
	}
	return item, err
}

// checkedWatch is a streaming list from a server that may have another history.
type checkedWatch[T any] struct {
	listwatch.WatchStream[T]
	*resumed[T]
}

func (w *checkedWatch[T]) Next() (event listwatch.Event[T], err error) {
	event, err = w.WatchStream.Next()
	switch {
	case err != nil || !w.historyUnknown:
	case event.InitialEventsEnd:
		w.historyUnknown = false
	case event.Type == listwatch.Added:
		err = w.check(event.Item)
	}
	return event, err
}
