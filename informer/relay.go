package informer

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/listwatch"
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
// are Updated, with Cause Relist, and those that are the same are not mentioned. What it
// knew and is not there any more is Deleted, with FinalStateUnknown; and so is an object
// in whose place another one is, by its UID, which then is Added.
//
// The second informer may be behind the first: its server may lag, or its first list
// may come from a cache. No older state of an object is told, nor is one deleted that the
// second informer has yet to hear of: the handler waits for it, object by object, until
// the second informer's store is complete through the version that was told. The
// registration is synced when it is complete through the newest version of all that the
// handler was told. An informer that has not come so far within five minutes is
// believed, as it is, with the next that it has to say (a bookmark will do): its server
// has been set back, or is another one.
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
	// not complete through the version goal. unseen are the keys, told by these, of which
	// it has not told the same or something newer.
	behind bool
	goal   string
	since  time.Time
	unseen map[types.NamespacedName]bool
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
// again. Where the informer is nil, or NewRelay was given no handler, nothing is done. It must not be called by the handler, nor by two goroutines at once.
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
	r.behind, r.goal, r.since = true, r.newest, time.Now()
	r.unseen = make(map[types.NamespacedName]bool, len(r.told))
	for key := range r.told {
		r.unseen[key] = true
	}
	store := to.Store()
	registration, err := to.addHandler(r.pass, opts, func(version string, yield func(Event[T]) bool) bool {
		return r.catchUp(store, version, yield)
	})
	if err == nil {
		r.current = registration
	}
	return registration, err
}

// pass tells the handler of an event, if it is news.
func (r *Relay[T]) pass(e Event[T]) {
	before, knew := r.told[e.Key]
	switch {
	case !knew && e.Type == Deleted:
		return // It was deleted before, or never told.
	case !knew && r.behind && r.isDeleted(e):
		return
	case !knew && e.Type == Updated:
		e.Type = Added // The state before was not told, as it was older than the deletion.
	case r.unseen[e.Key]:
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
	if newer(e.ResourceVersion, r.newest) || r.newest == "" {
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

// catchUp implements [catchUp]: it yields the deletion of what is gone, now that the
// current informer has mentioned all that is there through a version. What the handler is
// not told, as it is removed in the middle, is for the next informer.
func (r *Relay[T]) catchUp(store *indexer.Reader[T], version string, yield func(Event[T]) bool) (done bool) {
	order, err := resourceversion.CompareResourceVersion(version, r.goal)
	believed := err == nil && order < 0 && time.Since(r.since) > lagAllowed
	done = err != nil || order >= 0 || believed
	r.behind = !done
	older := make(map[types.NamespacedName]bool) // keys of which a state is told that is older
	for key := range r.unseen {
		last := r.told[key]
		if !done && newer(last.ResourceVersion, version) {
			continue // It may be there yet to come.
		}
		e := buried(last)
		if entry, exists := store.Entry(key); exists && believed {
			older[key] = true // What the informer has yet to tell of it may be so as well.
			e = Event[T]{Type: Added, Key: key, ResourceVersion: entry.ResourceVersion, New: entry.Object, UIDHash: entry.UIDHash, Cause: Relist}
			if !listwatch.OtherUID(last.UIDHash, entry.UIDHash) {
				e.Type = Updated
			}
		}
		delete(r.unseen, key)
		if e.Type == Added && !yield(buried(last)) || !yield(e) {
			return false
		}
	}
	if done {
		r.unseen, r.deleted = older, [2]map[types.NamespacedName]string{}
	}
	return done
}
