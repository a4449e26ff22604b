package informer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kinform/kinform/listwatch"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Merge makes one source of several parts, such as the namespaces that somebody may
// look at, so that one informer has them in one store: one list, one watch, one set
// of handlers. No object may be in two parts. All parts must be of one server, whose
// resourceVersions can be compared (KEP-5504). The source belongs to one informer:
// it remembers how far each part is. A single part is returned as it is. A part may
// be merged itself. Merge panics if one of several is nil.
//
// All guarantees of an informer hold, with these consequences:
//
//   - The version of a list is the oldest of the versions of its parts, and that of
//     the store is the one through which all parts are complete, so that G8 holds.
//     It rises when the slowest part has an event or a bookmark: where a part is
//     quiet, WaitRV may take as long as the server's bookmarks do, which is about a
//     minute. To read one's own write, wait for the object (package await) instead.
//   - Changes of different parts are told in the order of their arrival. For a key
//     it is the server's (G1).
//   - A part that cannot be listed holds up all of them, and the error names it.
//   - When one watch ends, all of them do, and are opened again, each where it was.
//
// A watch costs one goroutine and one request for each part.
func Merge[T any](parts ...listwatch.Source[T]) listwatch.Source[T] {
	if len(parts) == 1 {
		return parts[0] // New says so if it is nil.
	}
	if i := slices.Index(parts, nil); i >= 0 {
		panic(fmt.Sprintf("informer: Merge needs sources, and part %d of %d is nil", i+1, len(parts)))
	}
	return &merged[T]{parts: parts}
}

// merged is several sources as one. List, Watch and Next are called by one
// goroutine, the reflector's.
type merged[T any] struct {
	parts []listwatch.Source[T]

	// at is the version through which each part has been told, and given the one
	// version that stands for all of these outside.
	at    []string
	given string

	// The list in the making.
	asked    listwatch.ListOptions // for its first page
	versions []string              // of the parts that have been listed, or begun
}

var errMergeVersions = errors.New("informer: Merge needs parts whose resourceVersions can be compared")

// String names the parts, for errors.
func (m *merged[T]) String() string {
	if len(m.parts) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s and %d more", sourceName(m.parts[0]), len(m.parts)-1)
}

// List implements listwatch.Source. A page ends where a page of a part does.
func (m *merged[T]) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[T], error) {
	l := &mergedList[T]{merged: m, ctx: ctx, known: opts.Known, limit: opts.Limit, before: opts.BytesBefore}
	if opts.Continue == "" {
		m.asked, m.versions = opts, nil
		l.first = true
	} else {
		part, token, _ := strings.Cut(opts.Continue, " ")
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n >= len(m.parts) {
			return nil, fmt.Errorf("informer: %q continues no list of merged sources", opts.Continue)
		}
		l.part, l.token = n, token
	}
	return l, l.open()
}

// mergedList is a page of a list of all parts.
type mergedList[T any] struct {
	*merged[T]
	ctx    context.Context
	known  func(types.NamespacedName, string) bool
	limit  int64
	before int64 // bytes of earlier pages
	first  bool  // page

	part   int
	token  string // of the part
	stream listwatch.ListStream[T]
	meta   listwatch.ListMeta
	err    error // the end
}

// open opens the list of the part. Where a version is asked for, the newest that any
// part has told takes its place, for all of them: none may go back.
func (l *mergedList[T]) open() (err error) {
	if l.part >= len(l.parts) {
		return nil
	}
	opts := listwatch.ListOptions{Known: l.known, Limit: l.limit, Continue: l.token, BytesBefore: l.before + l.meta.Bytes}
	if l.token == "" {
		opts.ResourceVersion, opts.ResourceVersionMatch = l.asked.ResourceVersion, l.asked.ResourceVersionMatch
		if v := opts.ResourceVersion; v != "" && v != "0" {
			for _, at := range l.at {
				if newer(at, opts.ResourceVersion) {
					opts.ResourceVersion = at
				}
			}
		}
	}
	l.stream, err = l.parts[l.part].List(l.ctx, opts)
	return err
}

func (l *mergedList[T]) Next() (item listwatch.Item[T], err error) {
	for l.err == nil && l.stream != nil {
		item, err = l.stream.Next()
		if _, skipped := errors.AsType[*listwatch.ObjectError](err); err == nil || skipped {
			return item, err
		}
		l.err = err
		if err == io.EOF {
			l.err = l.partRead()
		}
	}
	if l.err == nil {
		l.err = io.EOF // There is no part.
	}
	return item, l.err
}

// partRead goes on with the next part, or ends the page or the list.
func (l *mergedList[T]) partRead() error {
	meta := l.stream.Meta()
	if err := l.stream.Close(); err != nil {
		return err
	}
	l.stream = nil
	l.meta.Bytes += meta.Bytes
	if l.token == "" {
		l.versions = append(l.versions, meta.ResourceVersion)
	}
	switch {
	case meta.Continue != "":
		l.meta.Continue = fmt.Sprintf("%d %s", l.part, meta.Continue)
		l.meta.RemainingItemCount = meta.RemainingItemCount
	case l.part+1 < len(l.parts):
		l.part, l.token = l.part+1, ""
		return l.open()
	}
	oldest, ok := oldest(l.versions)
	switch {
	case !ok:
		return errMergeVersions
	case l.first:
		l.given = oldest
	case newer(l.given, oldest):
		// All pages are of one version, which the first one has told. Without pages it
		// will do.
		return apierrors.NewResourceExpired(fmt.Sprintf("the list of %s is older than what was listed before it", sourceName(l.parts[l.part])))
	}
	l.meta.ResourceVersion = l.given
	if l.meta.Continue == "" {
		l.at = l.versions
	}
	return io.EOF
}

func (l *mergedList[T]) Meta() listwatch.ListMeta { return l.meta }

func (l *mergedList[T]) Close() error {
	if l.stream == nil {
		return nil
	}
	return l.stream.Close()
}

// Watch implements listwatch.Source.
func (m *merged[T]) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[T], error) {
	w := &mergedWatch[T]{merged: m, incoming: make(chan arrival[T]), initial: make([]bool, len(m.parts))}
	if m.at == nil || m.given != opts.ResourceVersion {
		m.at = make([]string, len(m.parts))
		for part := range m.at {
			m.at[part] = opts.ResourceVersion
		}
		m.given = opts.ResourceVersion
	}
	w.ctx, w.cancel = context.WithCancel(ctx)
	for part, source := range m.parts {
		opts.ResourceVersion = m.at[part]
		stream, err := source.Watch(w.ctx, opts)
		if err != nil {
			_ = w.Close() // The watch is not wanted any more.
			return nil, err
		}
		w.streams = append(w.streams, stream)
		w.initial[part] = opts.SendInitialEvents
		w.readers.Go(func() { w.read(part, stream) })
	}
	return w, nil
}

// mergedWatch is a watch of all parts. Each is read by a goroutine of its own,
// which holds one event at most.
type mergedWatch[T any] struct {
	*merged[T]
	ctx      context.Context
	cancel   context.CancelFunc
	streams  []listwatch.WatchStream[T]
	readers  sync.WaitGroup
	incoming chan arrival[T]

	// The rest belongs to Next.

	initial  []bool // parts whose initial events have not ended
	told     func() // takes note that what Next returned last has been told
	bookmark string // is due
	err      error  // the end
}

// arrival is what a part has answered.
type arrival[T any] struct {
	part  int
	event listwatch.Event[T]
	err   error
}

func (w *mergedWatch[T]) read(part int, stream listwatch.WatchStream[T]) {
	for {
		event, err := stream.Next()
		select {
		case w.incoming <- arrival[T]{part, event, err}:
		case <-w.ctx.Done():
			return
		}
		if _, skipped := errors.AsType[*listwatch.ObjectError](err); err != nil && !skipped {
			return
		}
	}
}

// Next returns the next event of any part. One that Next has returned counts as
// told when Next is called again: a watch that was opened to look and then closed
// has told nothing.
func (w *mergedWatch[T]) Next() (event listwatch.Event[T], err error) {
	if w.told != nil {
		w.told()
		w.told = nil
	}
	for w.err == nil {
		if w.bookmark != "" {
			return w.takeBookmark(false), nil
		}
		select {
		case a := <-w.incoming:
			if event, done, err := w.receive(a); done {
				return event, err
			}
		case <-w.ctx.Done():
			w.err = w.ctx.Err()
		}
	}
	return event, w.err
}

// receive decides whether Next has something to return.
func (w *mergedWatch[T]) receive(a arrival[T]) (event listwatch.Event[T], done bool, err error) {
	skipped, isSkipped := errors.AsType[*listwatch.ObjectError](a.err)
	version := a.event.ResourceVersion
	switch {
	case isSkipped:
		version = skipped.ResourceVersion
	case a.err != nil:
		w.err = a.err
		return event, true, a.err
	}
	if a.event.InitialEventsEnd {
		w.initial[a.part] = false
	}
	// A part that is put together itself is in order only in its bookmarks.
	ordered := !w.initial[a.part] && !a.event.Unordered
	if ordered && newer(w.at[a.part], version) {
		return event, false, nil // Sent again by something broken, it may have been overtaken.
	}
	if ordered && !isSkipped && version != "" {
		w.told = func() { w.advance(a.part, version) }
	}
	switch {
	case isSkipped:
		return event, true, a.err
	case a.event.Type != listwatch.Bookmark:
		a.event.Unordered = true
		return a.event, true, nil
	}
	w.advance(a.part, version)
	if w.listing() {
		return event, false, nil
	}
	var ok bool
	if w.bookmark, ok = oldest(w.at); !ok {
		w.err = errMergeVersions
		return event, true, w.err
	}
	return w.takeBookmark(a.event.InitialEventsEnd), true, nil
}

// advance takes note of how far a part is. If that brings all of them forward, a
// bookmark is due.
func (w *mergedWatch[T]) advance(part int, version string) {
	w.at[part] = version
	if now, ok := oldest(w.at); ok && newer(now, w.given) && !w.listing() {
		w.bookmark = now
	}
}

// listing says that some part has not ended its initial events.
func (w *mergedWatch[T]) listing() bool { return slices.Contains(w.initial, true) }

// takeBookmark returns the bookmark that is due. That its version stands for all
// parts counts when it has been told.
func (w *mergedWatch[T]) takeBookmark(initialEventsEnd bool) listwatch.Event[T] {
	event := listwatch.Event[T]{Type: listwatch.Bookmark, InitialEventsEnd: initialEventsEnd}
	event.ResourceVersion, w.bookmark = w.bookmark, ""
	w.told = func() { w.given = event.ResourceVersion }
	return event
}

// Close ends all watches.
func (w *mergedWatch[T]) Close() error {
	w.cancel()
	w.readers.Wait()
	var err error
	for _, stream := range w.streams {
		err = errors.Join(err, stream.Close())
	}
	return err
}

// oldest returns the oldest of some versions, if they can be compared.
func oldest(versions []string) (string, bool) {
	if len(versions) == 0 {
		return "", true
	}
	first := versions[0]
	for _, version := range versions[1:] {
		order, err := resourceversion.CompareResourceVersion(version, first)
		if err != nil {
			return "", false
		}
		if order < 0 {
			first = version
		}
	}
	return first, true
}
