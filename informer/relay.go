package informer

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/internal/mark"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// Relay lets a handler outlive its informer: when one informer takes the place of
// another (with another selector, another client, or because the first one has
// been stopped), the handler goes on as if nothing had happened.
//
//	relay := informer.NewRelay(handle)
//	registration, err := relay.MoveTo(ctx, first, informer.HandlerOptions{})
//	...
//	registration, err = relay.MoveTo(ctx, second, informer.HandlerOptions{})
//
// Of what the second informer has, the handler is told only what it does not know
// (G1, G2, across both): objects that are new are Added, those that have changed
// are Updated, with Cause Relist, and those that are the same are not mentioned. An object that it
// knew and that is not there any more is Deleted, with FinalStateUnknown; and so is an object
// in whose place another one is, by its UID, which then is Added.
//
// The second informer may be behind the first: its server may lag, or its first list
// may come from a cache. No older state of an object is told, nor is one deleted that the
// second informer has yet to hear of: the handler waits for it, object by object, until
// the second informer's store is complete through the version that was told. The
// registration is synced when it is complete through the newest version of all that the
// handler was told. An informer that has not come so far within five minutes is
// believed, as it is, with the next that it has to say, or within a minute where it has
// nothing to say and its watch is open: its server has been set back, or is another one.
//
// A server that was restored from a backup may also have passed the versions that were
// told. An object that is older then than the handler knows is Updated, with Restored. An object that
// it was told to be Deleted, and that is there, is Added, once the second informer has come so far,
// or is believed.
//
// An object that the second informer cannot read, or that an index function refuses, is not deleted:
// the handler knows it as it was, until it can be read, or is gone; the relay tells of the latter
// within two minutes. As long as there are objects without a readable name, none is
// taken for deleted that the second informer merely lacks. The registration does not wait
// for these objects.
//
// Versions are compared where that is possible (KEP-5504); where it is not, a state
// is new if its version is another one. Both informers must be of the same server, or of
// none that has versions.
//
// A relay remembers each object that its handler was told of, and the versions of as
// many deletions, or of 1,024. For informers that merely lose their connection none is
// needed.
type Relay[T any] struct {
	handle  func(Event[T])
	current *Registration[T] // of the last MoveTo

	// The rest belongs to the goroutine of the current registration.

	told    map[types.NamespacedName]indexer.Entry[T]
	deleted [2]map[types.NamespacedName]string // versions of deletions told of late, the later ones first
	newest  string                             // of all versions told

	// behind says that the current informer may be behind what earlier ones told: it is
	// not complete through the version goal, but through reached. unseen are the keys, told
	// by these, of which it has not told the same or something newer; it is true of those
	// that could not be read when catchUp looked last.
	behind  bool
	goal    string
	reached string
	since   time.Time
	unseen  map[types.NamespacedName]bool

	// back are objects that are there although their deletion was told, and that are to be told.
	back []indexer.Entry[T]
}

// lagAllowed is for how long an informer may be behind the one before it.
const lagAllowed = 5 * time.Minute

// deletionsKept is how many deletions a relay remembers at least.
const deletionsKept = 1024

// NewRelay makes a relay that is with no informer yet.
func NewRelay[T any](handle func(Event[T])) *Relay[T] {
	return &Relay[T]{handle: handle, told: make(map[types.NamespacedName]indexer.Entry[T])}
}

// MoveTo removes the handler from the informer where it was, waits for a call in
// progress, and adds it to another, which may run already. The error is ctx's, or
// AddHandler's; the handler is with no informer then, and MoveTo may be called
// again. Where the informer is nil, or NewRelay was given no handler, nothing is done. Neither the
// handler nor two goroutines at once may call it.
func (r *Relay[T]) MoveTo(ctx context.Context, to *Informer[T], opts HandlerOptions) (*Registration[T], error) {
	switch {
	case to == nil:
		return nil, errors.New("informer: MoveTo needs an informer")
	case r.handle == nil:
		return nil, errors.New("informer: a Relay needs a handler")
	}
	if r.current != nil {
		r.current.Remove()
		select {
		case <-r.current.Done():
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	r.behind, r.goal, r.reached, r.since, r.back = true, r.newest, "", time.Now(), nil
	r.unseen = make(map[types.NamespacedName]bool, len(r.told))
	for key := range r.told {
		r.unseen[key] = false
	}
	registration, err := to.addHandler(r.pass, opts, func(version string, yield func(Event[T]) bool) syncState {
		return r.catchUp(to, version, yield)
	})
	if err == nil {
		r.current = registration
	}
	return registration, err
}

// pass tells the handler of an event, if it is news.
func (r *Relay[T]) pass(e Event[T]) {
	before, knew := r.told[e.Key]
	_, unseen := r.unseen[e.Key]
	switch {
	case !knew && e.Type == Deleted:
		return // It was deleted before, or never told.
	case !knew && r.behind && r.isDeleted(e):
		return
	case !knew && e.Type == Updated:
		e.Type = Added // The state before was not told, as it was older than the deletion.
	case unseen || knew && e.Type == Added: // catchUp may have told of it before.
		if !isNews(before, e) {
			if e.Type != Deleted && e.ResourceVersion == before.ResourceVersion {
				delete(r.unseen, e.Key)
			}
			return
		}
		delete(r.unseen, e.Key)
		if e.Type == Added {
			e.Cause = Relist
			if listwatch.OtherUID(before.UIDHash, e.UIDHash) {
				defer r.tell(e, indexer.Entry[T]{}) // also if the handler panics now
				e = buried(before)
				break
			}
			e.Type = Updated
		}
	}
	r.tell(e, before)
}

// tell tells the handler of an event, and remembers it.
func (r *Relay[T]) tell(e Event[T], before indexer.Entry[T]) {
	e.Old = before.Object
	if mark.Newer(e.ResourceVersion, r.newest) || r.newest == "" {
		r.newest = e.ResourceVersion
	}
	if e.Type == Deleted {
		delete(r.told, e.Key)
		if r.deleted[0] == nil || len(r.deleted[0]) >= max(deletionsKept, len(r.told)) {
			r.deleted = [2]map[types.NamespacedName]string{make(map[types.NamespacedName]string), r.deleted[0]}
		}
		r.deleted[0][e.Key] = e.ResourceVersion
	} else {
		r.told[e.Key] = indexer.Entry[T]{Key: e.Key, Object: e.New, ResourceVersion: e.ResourceVersion, UIDHash: e.UIDHash}
	}
	r.handle(e)
}

// isDeleted reports whether an event is of an object the deletion of which has been
// told.
func (r *Relay[T]) isDeleted(e Event[T]) bool {
	version, ok := r.deleted[0][e.Key]
	if !ok {
		version, ok = r.deleted[1][e.Key]
	}
	order, err := resourceversion.CompareResourceVersion(e.ResourceVersion, version)
	return ok && err == nil && order <= 0
}

// isNews reports whether an event is about something newer than what an earlier
// informer told of the key.
func isNews[T any](before indexer.Entry[T], e Event[T]) bool {
	order, err := resourceversion.CompareResourceVersion(e.ResourceVersion, before.ResourceVersion)
	switch {
	case err != nil:
		return e.ResourceVersion == "" || e.ResourceVersion != before.ResourceVersion
	case e.FinalStateUnknown:
		return false // How new that is, it does not say; catchUp does.
	case e.Type == Deleted:
		return order >= 0
	case order == 0:
		return e.Cause == Resync || listwatch.OtherUID(before.UIDHash, e.UIDHash)
	}
	return order > 0
}

// buried is the deletion of what is gone without a word.
func buried[T any](last indexer.Entry[T]) Event[T] {
	return Event[T]{
		Type: Deleted, Cause: Relist, Key: last.Key, FinalStateUnknown: true,
		ResourceVersion: last.ResourceVersion, Old: last.Object, New: last.Object, UIDHash: last.UIDHash,
	}
}

// catchUp implements [catchUp]: it yields what no event tells of, now that the current
// informer has mentioned all that is there through a version: the deletion of each object that is
// gone, and each object in a state that seemed to be older. Where the handler is removed in the
// middle, the next informer tells the rest.
//
// If the handler ends the goroutine, catchUp is called again, and yields what is left.
func (r *Relay[T]) catchUp(to *Informer[T], version string, yield func(Event[T]) bool) (state syncState) {
	store := to.Store()
	status := to.reflector.Status()
	if order, err := resourceversion.CompareResourceVersion(version, r.goal); r.behind && (err != nil || order >= 0 || r.believes(status, version)) {
		r.back = r.undeleted(store)
		r.behind, r.deleted = false, [2]map[types.NamespacedName]string{}
	}
	for len(r.back) > 0 {
		entry := r.back[0]
		r.back = r.back[1:]
		if !yield(stated(Added, entry)) {
			return catchingUp
		}
	}
	r.reached = version
	var early []types.NamespacedName // What the informer has yet to tell of these may be told already.
	defer func() {
		for _, key := range early {
			r.unseen[key] = false
		}
		if state == finished && len(r.unseen) > 0 {
			state = synced
		}
	}()
	for key, wasUnreadable := range r.unseen {
		last := r.told[key]
		unreadable := store.Unreadable(key) != nil
		entry, exists := store.Entry(key)
		switch {
		case r.behind && (exists || mark.Newer(last.ResourceVersion, version)):
			continue // It may be there yet to come.
		case unreadable, store.Unreadable(key) != nil, !exists && status.Unreadable.Nameless > 0:
			r.unseen[key] = true
			continue
		case !exists && wasUnreadable:
			r.unseen[key] = false // It may be on its way to the store: the next time tells.
			continue
		}
		delete(r.unseen, key)
		if exists && mark.Newer(entry.ResourceVersion, version) {
			early = append(early, key)
		}
		e := stated(Updated, entry)
		switch {
		case !exists:
			if !yield(buried(last)) {
				return catchingUp
			}
			continue
		case listwatch.OtherUID(last.UIDHash, entry.UIDHash):
			if !yieldBoth(yield, buried(last), stated(Added, entry)) {
				return catchingUp
			}
			continue
		case entry.ResourceVersion == last.ResourceVersion:
			continue
		default:
			e.Restored = mark.Newer(last.ResourceVersion, entry.ResourceVersion)
		}
		if !yield(e) {
			return catchingUp
		}
	}
	if r.behind {
		return catchingUp
	}
	return finished
}

// yieldBoth yields two events of one key. The second is told also if the handler ends the goroutine at
// the first.
func yieldBoth[T any](yield func(Event[T]) bool, first, second Event[T]) (more bool) {
	defer func() { more = yield(second) && more }()
	return yield(first)
}

// believes reports whether an informer that is still behind is no longer waited for: time
// is up, and it has come further, or its watch is open and has nothing to tell.
func (r *Relay[T]) believes(status reflector.Status, version string) bool {
	watching := status.Phase == reflector.Watching && status.Failures == 0
	return time.Since(r.since) > lagAllowed && (watching || version != r.reached)
}

// undeleted are the objects that are there although their deletion was told: pass took
// them for older.
func (r *Relay[T]) undeleted(store *indexer.Reader[T]) (back []indexer.Entry[T]) {
	for _, deleted := range r.deleted {
		for key := range deleted {
			entry, exists := store.Entry(key)
			if _, knows := r.told[key]; exists && !knows && r.isDeleted(stated(Added, entry)) {
				back = append(back, entry)
			}
		}
	}
	return back
}

// stated is an event of what the store has.
func stated[T any](kind EventType, entry indexer.Entry[T]) Event[T] {
	return Event[T]{Type: kind, Cause: Relist, Key: entry.Key, ResourceVersion: entry.ResourceVersion, New: entry.Object, UIDHash: entry.UIDHash}
}
