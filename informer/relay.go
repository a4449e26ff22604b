package informer

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/internal/checkpoint"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// Relay lets a handler outlive its informer. When one informer replaces another (another selector
// or client, or a stopped informer), the handler continues without a break.
//
//	relay := informer.NewRelay(handle)
//	registration, err := relay.MoveTo(ctx, first, informer.HandlerOptions{})
//	...
//	registration, err = relay.MoveTo(ctx, second, informer.HandlerOptions{})
//
// The handler receives only the differences between its knowledge and the second informer. G1 and
// G2 hold across both informers. New objects are Added, changed objects are Updated with Cause
// Relist, and unchanged objects cause no event. An object that has vanished is Deleted, with
// FinalStateUnknown. If another object (another UID) has its name, that object is then Added.
//
// "Relays" in the package comment documents a second informer that is behind, that has another
// history, or that cannot read an object.
//
// Versions are compared if possible (KEP-5504). Otherwise a state is new if its version differs.
// Both informers must use the same server, or a server without versions.
//
// A relay remembers each object that its handler received. It also remembers the versions of recent
// deletions: at least 1,024, or as many as there are objects. An informer that only loses its
// connection needs no relay.
type Relay[T any] struct {
	handle  func(Event[T])
	current *Registration[T] // from the last MoveTo

	// The other fields belong to the goroutine of the current registration.

	delivered map[types.NamespacedName]indexer.Entry[T]
	deleted   [2]map[types.NamespacedName]string // versions of recent deletions, the later ones first
	newest    string                             // highest version delivered

	// isBehind says that the current informer may be behind the versions that earlier informers
	// delivered. The current informer is complete through the version in the field reached, but not
	// yet through the version in the field goal. unseen has the delivered keys for which the
	// current informer has not yet reported the same or a newer state. The value is true if the key
	// was unreadable when catchUp last ran.
	isBehind    bool
	goal        string
	reached     string
	since       time.Time
	unconfirmed map[types.NamespacedName]bool

	// toAdd has objects that exist although their deletion was delivered. Their Added is still due.
	toAdd []indexer.Entry[T]
}

// maxLag is how long an informer may be behind the previous one.
const maxLag = 5 * time.Minute

// minDeletions is the minimum number of deletions that a relay remembers.
const minDeletions = 1024

// NewRelay makes a relay without an informer.
func NewRelay[T any](handle func(Event[T])) *Relay[T] {
	return &Relay[T]{handle: handle, delivered: make(map[types.NamespacedName]indexer.Entry[T])}
}

// MoveTo removes the handler from its current informer, waits for a call in progress, and adds it
// to another informer, which may be running. The error is the cause of ctx, or an error of
// AddHandler. The handler then has no informer, and MoveTo may be called again. If the informer or
// the handler is nil, MoveTo returns an error and changes nothing. Neither the handler nor two
// goroutines at once may call MoveTo.
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
	r.isBehind, r.goal, r.reached, r.since, r.toAdd = true, r.newest, "", time.Now(), nil
	r.unconfirmed = make(map[types.NamespacedName]bool, len(r.delivered))
	for key := range r.delivered {
		r.unconfirmed[key] = false
	}
	registration, err := to.addHandler(r.forward, opts, func(version string, yield func(Event[T]) bool) syncState {
		return r.catchUp(to, version, yield)
	})
	if err == nil {
		r.current = registration
	}
	return registration, err
}

// forward delivers an event to the handler, unless the handler has received this state or a newer
// one.
func (r *Relay[T]) forward(e Event[T]) {
	before, known := r.delivered[e.Key]
	_, unconfirmed := r.unconfirmed[e.Key]
	switch {
	case !known && e.Type == Deleted:
		return // It was deleted before, or never delivered.
	case !known && r.isBehind && r.isDeleted(e):
		return
	case !known && e.Type == Updated:
		// The previous state was not delivered, because it was older than the deletion.
		e.Type = Added
	case unconfirmed || known && e.Type == Added: // catchUp may have delivered it before.
		if !isNewer(before, e) {
			if e.Type != Deleted && e.ResourceVersion == before.ResourceVersion {
				delete(r.unconfirmed, e.Key)
			}
			return
		}
		delete(r.unconfirmed, e.Key)
		if e.Type == Added {
			e.Cause = Relist
			if listwatch.OtherUID(before.UIDHash, e.UIDHash) {
				defer r.deliver(e, indexer.Entry[T]{}) // also if the handler panics now
				e = tombstoneEvent(before)
				break
			}
			e.Type = Updated
		}
	}
	r.deliver(e, before)
}

// deliver delivers an event to the handler, and records it.
func (r *Relay[T]) deliver(e Event[T], before indexer.Entry[T]) {
	e.Old = before.Object
	if checkpoint.Newer(e.ResourceVersion, r.newest) || r.newest == "" {
		r.newest = e.ResourceVersion
	}
	if e.Type == Deleted {
		delete(r.delivered, e.Key)
		if r.deleted[0] == nil || len(r.deleted[0]) >= max(minDeletions, len(r.delivered)) {
			r.deleted = [2]map[types.NamespacedName]string{make(map[types.NamespacedName]string), r.deleted[0]}
		}
		r.deleted[0][e.Key] = e.ResourceVersion
	} else {
		r.delivered[e.Key] = indexer.Entry[T]{Key: e.Key, Object: e.New, ResourceVersion: e.ResourceVersion, UIDHash: e.UIDHash}
	}
	r.handle(e)
}

// isDeleted reports whether the delivered deletion of the object is at least as new as an event.
func (r *Relay[T]) isDeleted(e Event[T]) bool {
	version, ok := r.deleted[0][e.Key]
	if !ok {
		version, ok = r.deleted[1][e.Key]
	}
	order, err := resourceversion.CompareResourceVersion(e.ResourceVersion, version)
	return ok && err == nil && order <= 0
}

// isNewer reports whether an event is newer than the state of the key that an earlier informer
// delivered.
func isNewer[T any](before indexer.Entry[T], e Event[T]) bool {
	order, err := resourceversion.CompareResourceVersion(e.ResourceVersion, before.ResourceVersion)
	switch {
	case err != nil:
		return e.ResourceVersion == "" || e.ResourceVersion != before.ResourceVersion
	case e.FinalStateUnknown:
		return false // Its version is unknown; catchUp decides.
	case e.Type == Deleted:
		return order >= 0
	case order == 0:
		return e.Cause == Resync || listwatch.OtherUID(before.UIDHash, e.UIDHash)
	}
	return order > 0
}

// tombstoneEvent returns the Deleted of an object whose deletion no event reported.
func tombstoneEvent[T any](last indexer.Entry[T]) Event[T] {
	return Event[T]{
		Type: Deleted, Cause: Relist, Key: last.Key, FinalStateUnknown: true,
		ResourceVersion: last.ResourceVersion, Old: last.Object, New: last.Object, UIDHash: last.UIDHash,
	}
}

// catchUp implements [catchUp]. The current informer has delivered everything through a version.
// catchUp yields the remaining differences: the deletion of each vanished object, and each object
// whose state seemed older than the delivered one. If the handler is removed meanwhile, the next
// informer delivers the rest.
//
// If the handler ends the goroutine, catchUp is called again, and yields the remaining events.
func (r *Relay[T]) catchUp(to *Informer[T], version string, yield func(Event[T]) bool) (state syncState) {
	store := to.Store()
	status := to.reflector.Status()
	if order, err := resourceversion.CompareResourceVersion(version, r.goal); r.isBehind && (err != nil || order >= 0 || r.acceptsLag(status, version)) {
		r.toAdd = r.undeleted(store)
		r.isBehind, r.deleted = false, [2]map[types.NamespacedName]string{}
	}
	for len(r.toAdd) > 0 {
		entry := r.toAdd[0]
		r.toAdd = r.toAdd[1:]
		if !yield(entryEvent(Added, entry)) {
			return catchingUp
		}
	}
	r.reached = version
	var ahead []types.NamespacedName // Keys whose events the informer may deliver again.
	defer func() {
		for _, key := range ahead {
			r.unconfirmed[key] = false
		}
		if state == finished && len(r.unconfirmed) > 0 {
			state = synced
		}
	}()
	for key, wasUndecodable := range r.unconfirmed {
		last := r.delivered[key]
		undecodable := store.Undecodable(key) != nil
		entry, exists := store.Entry(key)
		switch {
		case r.isBehind && (exists || checkpoint.Newer(last.ResourceVersion, version)):
			continue // The informer may still receive a newer state.
		case undecodable, store.Undecodable(key) != nil, !exists && status.Undecodable.Nameless > 0:
			r.unconfirmed[key] = true
			continue
		case !exists && wasUndecodable:
			r.unconfirmed[key] = false // It may be on its way to the store: the next call decides.
			continue
		}
		delete(r.unconfirmed, key)
		if exists && checkpoint.Newer(entry.ResourceVersion, version) {
			ahead = append(ahead, key)
		}
		e := entryEvent(Updated, entry)
		switch {
		case !exists:
			if !yield(tombstoneEvent(last)) {
				return catchingUp
			}
			continue
		case listwatch.OtherUID(last.UIDHash, entry.UIDHash):
			if !yieldBoth(yield, tombstoneEvent(last), entryEvent(Added, entry)) {
				return catchingUp
			}
			continue
		case entry.ResourceVersion == last.ResourceVersion:
			continue
		default:
			e.Restored = checkpoint.Newer(last.ResourceVersion, entry.ResourceVersion)
		}
		if !yield(e) {
			return catchingUp
		}
	}
	if r.isBehind {
		return catchingUp
	}
	return finished
}

// yieldBoth yields two events of one key. It yields the second event even if the handler ends the
// goroutine at the first event.
func yieldBoth[T any](yield func(Event[T]) bool, first, second Event[T]) (more bool) {
	defer func() { more = yield(second) && more }()
	return yield(first)
}

// acceptsLag reports whether to accept the state of an informer that is still behind: maxLag has
// passed, and the informer has advanced or has an open watch.
func (r *Relay[T]) acceptsLag(status reflector.Status, version string) bool {
	watching := status.Phase == reflector.Watching && status.Failures == 0
	return time.Since(r.since) > maxLag && (watching || version != r.reached)
}

// undeleted returns the objects that exist although their deletion was delivered. pass dropped
// their events, because these seemed older than the deletion.
func (r *Relay[T]) undeleted(store *indexer.Reader[T]) (toAdd []indexer.Entry[T]) {
	for _, deleted := range r.deleted {
		for key := range deleted {
			entry, exists := store.Entry(key)
			if _, known := r.delivered[key]; exists && !known && r.isDeleted(entryEvent(Added, entry)) {
				toAdd = append(toAdd, entry)
			}
		}
	}
	return toAdd
}

// entryEvent returns an event for an entry of the store.
func entryEvent[T any](kind EventType, entry indexer.Entry[T]) Event[T] {
	return Event[T]{Type: kind, Cause: Relist, Key: entry.Key, ResourceVersion: entry.ResourceVersion, New: entry.Object, UIDHash: entry.UIDHash}
}
