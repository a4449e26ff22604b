package sources

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/checkpoint"
	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// Watch implements listwatch.Source. It returns when the first part has been opened, or all parts
// have failed.
func (m *merged[T]) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[T], error) {
	if opts.SendInitialEvents && opts.Known != nil && m.hasOtherHistory() {
		return nil, errOtherHistory
	}
	state, fresh := m.stateAt(opts.ResourceVersion)
	w := &mergedWatch[T]{
		merged: m, opts: opts, state: state,
		incoming: make(chan partMessage[T]), initial: make([]bool, len(m.parts)), down: make([]bool, len(m.parts)),
		slots: make(chan struct{}, m.opts.AtOnce),
	}
	if opts.SendInitialEvents {
		w.state = m.newState()
		w.listAllDue = false // All parts are listed now.
	}
	w.oldest, _ = oldest(w.state.versions)
	if opts.Timeout > 0 {
		w.until = time.Now().Add(opts.Timeout)
	}
	w.ctx, w.cancel = context.WithCancel(ctx)
	for part, source := range m.parts {
		p := &partWatch[T]{mergedWatch: w, part: part, source: source, state: &m.states[part], version: w.state.versions[part],
			listing: opts.SendInitialEvents, watchedBefore: !fresh && !opts.SendInitialEvents, missing: w.state.missing[part]}
		w.initial[part] = opts.SendInitialEvents
		if opts.SendInitialEvents {
			p.version = opts.ResourceVersion
			p.state.unlisted = false
		}
		if checkpoint.Newer(p.state.checkpoint.Version, p.version) {
			// The checkpoint's event was not delivered.
			p.state.checkpoint = checkpoint.Checkpoint{}
		}
		w.down[part] = p.state.unlisted
		w.readers.Go(func() {
			reportGoexit(p.run, func(err error) { p.send(partMessage[T]{kind: partEnds, err: err}) })
		})
	}
	for opened := len(m.parts) == 0; !opened && w.err == nil; {
		select {
		case a := <-w.incoming:
			opened = a.kind == partUp
			_, _, _ = w.receive(a) // A part sends no event before it is up.
		case <-w.ctx.Done():
			w.err = w.ctx.Err()
		}
	}
	if w.err != nil {
		_ = w.Close() // The watch is not needed any more.
		return nil, w.err
	}
	return w, nil
}

// stateAt returns the delivered state at a version. fresh says that this is the state of the list
// that was just read: the reflector watches from its version, so it has received the whole list.
func (m *merged[T]) stateAt(version string) (state *mergedState, fresh bool) {
	fresh = m.listed != nil && m.listed.version == version
	if fresh {
		m.delivered = m.listed
	}
	m.listed = nil
	if m.delivered != nil && m.delivered.version == version {
		return m.delivered, fresh
	}
	// The caller knows that all parts are at this version, for instance after a preload.
	m.delivered = &mergedState{version: version, versions: slices.Repeat([]string{version}, len(m.parts)), missing: make([]bool, len(m.parts)), undecodable: make([]partUndecodable, len(m.parts))}
	clear(m.states)
	return m.delivered, false
}

// mergedWatch is a watch of all parts. Each part is read by a goroutine of its own, which holds one
// event at most.
type mergedWatch[T any] struct {
	*merged[T]
	opts     listwatch.WatchOptions
	until    time.Time // when it must end; zero for never
	ctx      context.Context
	cancel   context.CancelFunc
	slots    chan struct{} // one for each request in progress
	readers  sync.WaitGroup
	incoming chan partMessage[T]

	// The other fields belong to Next.

	state    *mergedState
	oldest   string // oldest version in state.versions
	initial  []bool // parts whose initial events have not ended
	down     []bool // parts that cannot be watched now
	last     lastResult
	bookmark string // the bookmark that is due
	err      error  // the final error
}

// lastResult is the last result of Next. It counts as delivered when Next is called again: a watch
// that was opened as a probe and closed has delivered nothing.
type lastResult struct {
	due           bool
	kind          listwatch.EventType
	key           types.NamespacedName
	part          int
	version       string // of the object
	uid           uint64
	through       string // the part's position after this result, "" if unknown
	mergedVersion string // the position of all parts after it
	complete      bool   // the initial events have ended

	undecodable *listwatch.ObjectError // replaces all fields above except part
}

// partMessage is a message from the goroutine of a part.
type partMessage[T any] struct {
	part  int
	kind  messageKind
	event listwatch.Event[T]
	err   error
}

type messageKind uint8

const (
	partEvent messageKind = iota // an event, or an undecodable object
	partUp                       // the part's watch is open
	partDown                     // the part's watch has failed, and will be opened again
	partLate                     // an event or an undecodable deletion, after later events
	partEnds                     // all watches end with this error
)

// Next implements listwatch.WatchStream.
func (w *mergedWatch[T]) Next() (event listwatch.Event[T], err error) {
	w.commitLast()
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

// commitLast records that the last result was delivered.
func (w *mergedWatch[T]) commitLast() {
	l := &w.last
	if !l.due {
		return
	}
	l.due = false
	if l.undecodable != nil {
		w.state.reportedUndecodable(l.part, l.undecodable)
		return
	}
	delete(w.state.undecodable[l.part].named, l.key)
	switch objects := w.state.objects; {
	case objects == nil || l.kind == 0 || l.kind == listwatch.Bookmark:
	case l.kind == listwatch.Deleted:
		delete(objects, l.key)
	default:
		objects[l.key] = deliveredObject{l.part, l.version, l.uid}
	}
	if l.through != "" {
		w.advance(l.part, l.through)
	}
	if l.mergedVersion != "" {
		w.state.version = l.mergedVersion
	}
	if l.complete {
		w.delivered = w.state
	}
}

// receive handles a message, and decides whether Next returns something.
func (w *mergedWatch[T]) receive(a partMessage[T]) (event listwatch.Event[T], done bool, err error) {
	switch {
	case a.kind != partLate:
	case a.err != nil:
		// Only a list shows whether the object is gone. See Reflector.handleLateUndecodable.
		w.listAllDue = true
	case w.isNewState(a):
		// The list that follows contains the late objects. A server that counts versions for each
		// object separately continues to send late events. All of them are delivered, and there is
		// at most one list in each pace.HistoryCheckInterval. See Reflector.handleLate.
		w.listAllDue, a.kind, a.event.Unordered = true, partEvent, true
	}
	if w.listAllDue && time.Since(w.lateListedAt) >= pace.HistoryCheckInterval {
		w.lateListedAt = time.Now()
		w.err = apierrors.NewResourceExpired("all parts are listed again, because a watch sent an event of an older version than an earlier event")
		return event, false, nil
	}
	switch a.kind {
	case partLate:
		return event, false, nil
	case partUp:
		w.down[a.part] = false
		return event, false, nil
	case partDown:
		w.down[a.part] = true
		if !slices.Contains(w.down, false) {
			w.err = a.err
		}
		return event, false, nil
	case partEnds:
		w.err = a.err
		return event, false, nil
	}
	if undecodable, skipped := errors.AsType[*listwatch.ObjectError](a.err); skipped {
		w.last = lastResult{due: true, part: a.part, undecodable: undecodable}
		return event, true, a.err
	}
	version := a.event.ResourceVersion
	if a.event.Type != listwatch.Bookmark {
		w.last = lastResult{due: true, kind: a.event.Type, key: a.event.Key, part: a.part, version: version, uid: a.event.UIDHash}
		// In a part that is a merged source itself, only bookmarks are in order.
		if !w.initial[a.part] && !a.event.Unordered {
			w.last.through = version
		}
		a.event.Unordered = true
		return a.event, true, nil
	}
	if a.event.InitialEventsEnd {
		w.initial[a.part] = false
	}
	w.advance(a.part, version)
	if w.listing() {
		return event, false, nil
	}
	var ok bool
	if w.bookmark, ok = oldest(w.state.versions); !ok {
		w.err = errMergeVersions
		return event, false, nil
	}
	w.oldest = w.bookmark
	return w.takeBookmark(a.event.InitialEventsEnd), true, nil
}

// isNewState reports whether a late event is about a state that was not delivered, perhaps of an
// object that became visible only now.
func (w *mergedWatch[T]) isNewState(a partMessage[T]) bool {
	delivered, exists := w.state.objects[a.event.Key]
	if a.event.Type == listwatch.Deleted && w.state.objects != nil {
		return exists && !checkpoint.Newer(delivered.version, a.event.ResourceVersion)
	}
	return !exists || delivered.version != a.event.ResourceVersion || listwatch.OtherUID(delivered.uid, a.event.UIDHash)
}

// advance records the position of a part. If the position of all parts advances with it, a bookmark
// is due.
func (w *mergedWatch[T]) advance(part int, version string) {
	if !checkpoint.Resumes(version) {
		return
	}
	before := w.state.versions[part]
	w.state.versions[part] = version
	if before != "" && before != w.oldest {
		return // Another part is the oldest.
	}
	now, ok := oldest(w.state.versions)
	if !ok {
		return
	}
	if w.oldest = now; checkpoint.Newer(now, w.state.version) && !w.listing() {
		w.bookmark = now
	}
}

// listing reports whether some part has not ended its initial events.
func (w *mergedWatch[T]) listing() bool { return slices.Contains(w.initial, true) }

// takeBookmark returns the bookmark that is due. Its version counts for all parts once it has been
// delivered.
func (w *mergedWatch[T]) takeBookmark(initialEventsEnd bool) listwatch.Event[T] {
	event := listwatch.Event[T]{Type: listwatch.Bookmark, InitialEventsEnd: initialEventsEnd}
	event.ResourceVersion, w.bookmark = w.bookmark, ""
	w.last = lastResult{due: true, kind: listwatch.Bookmark, mergedVersion: event.ResourceVersion, complete: initialEventsEnd}
	return event
}

// Close ends all watches.
func (w *mergedWatch[T]) Close() error {
	w.cancel()
	w.readers.Wait()
	return nil
}
