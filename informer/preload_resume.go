package informer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// resumed is a source whose first list answers that everything in the store is
// unchanged, if the server can tell what has changed since. It belongs to one
// reflector.
type resumed[T any] struct {
	listwatch.Source[T]
	informer *Informer[T]
	describe bool // load wants to know what the source is
	load     func(map[string]string) ([]indexer.Entry[T], string, error)

	decided bool   // whether what is loaded is used
	version string // through which it is complete, or the version of the server
	// ahead has the versions of those preloaded objects that are newer than that: they
	// come from a source whose watch is Unordered. They do not go back.
	ahead map[types.NamespacedName]string
}

// String is the name of the source, for errors.
func (s *resumed[T]) String() string { return sourceName(s.Source) }

// List implements listwatch.Source.
func (s *resumed[T]) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[T], error) {
	if opts.VersionOnly {
		return s.Source.List(ctx, opts)
	}
	switch resumes, err := s.resumes(ctx, opts.Patience); {
	case err != nil:
		return nil, err
	case resumes:
		return &unchangedList[T]{items: s.unchanged(), version: s.version}, nil
	}
	if opts.ResourceVersion == "0" && s.version != "" {
		// No older than what the store has. A page of a limited list would be exactly
		// of that version.
		opts.ResourceVersion, opts.Limit = s.version, 0
	}
	s.ahead = nil
	return s.Source.List(ctx, opts)
}

// Watch implements listwatch.Source.
func (s *resumed[T]) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[T], error) {
	var initial []listwatch.Event[T]
	if opts.SendInitialEvents {
		resumes, err := s.resumes(ctx, opts.InitialPatience)
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
		} else {
			s.ahead = nil
		}
	}
	stream, err := s.Source.Watch(ctx, opts)
	if err == nil && (len(initial) > 0 || len(s.ahead) > 0) {
		stream = &resumedWatch[T]{WatchStream: stream, initial: initial, ahead: s.ahead}
	}
	return stream, err
}

// resumes reports, to the first who gets an answer, whether the server can tell
// what has changed since version, and false from then on. After an error it is
// worth while to ask again: nothing has been shown.
func (s *resumed[T]) resumes(ctx context.Context, patience listwatch.Patience) (bool, error) {
	if s.decided {
		return false, nil
	}
	progress := func() {
		if patience.Progress != nil {
			patience.Progress()
		}
	}
	var description map[string]string
	if source, ok := s.Source.(Describer); ok && s.describe {
		var err error
		if description, err = source.Describe(ctx); err != nil {
			return false, fmt.Errorf("what %s is: %w", s, err)
		}
		progress()
	}
	current, err := versionOf(ctx, s.Source) // It also says that we may read the resource.
	if err != nil {
		return false, err
	}
	progress()
	entries, version, err := s.load(description)
	if err == nil && (version == "" || version == "0") {
		err = errPreloadVersion
	}
	if err != nil {
		s.decided = true
		s.say(err)
		return false, nil
	}
	order, err := resourceversion.CompareResourceVersion(current, version)
	if err != nil || order < 0 {
		s.decided, s.version = true, current // A list is to be no older than that.
		s.say(fmt.Errorf("the server has version %s, and the objects version %s", current, version))
		return false, nil
	}
	found, err := (&history[T]{sources: componentsOf(s.Source), entries: entries, version: version, progress: progress}).probe(ctx)
	if err != nil {
		return false, err
	}
	s.decided, s.version = true, version
	if found == historyOther {
		s.version = current
		s.say(fmt.Errorf("the server has another history than the objects of version %s", version))
		return false, nil
	}
	if err := s.informer.fill(entries, version); err != nil {
		s.say(err)
		return false, nil
	}
	return found == historySame, nil
}

// say says why the informer begins with a list. That there is no file yet is how
// everything begins.
func (s *resumed[T]) say(err error) {
	level := slog.LevelWarn
	if errors.Is(err, fs.ErrNotExist) {
		level = slog.LevelInfo
	}
	s.informer.opts.Logger.Log(context.Background(), level, "nothing is preloaded, the informer begins with a list", "informer", s.informer.opts.Name, "err", err)
}

// unchanged are all objects of the store, without themselves.
func (s *resumed[T]) unchanged() []listwatch.Item[T] {
	store := s.informer.store
	items := make([]listwatch.Item[T], 0, store.Len())
	for entry := range store.Entries() {
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

// resumedWatch is a watch that goes on where the preloaded store was, or after that.
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
