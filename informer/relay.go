package informer

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
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
// are Updated, with Cause Relist, and those that are the same are not mentioned.
// What it knew and is not there any more is Deleted, with FinalStateUnknown, before
// the registration is synced. Whether an object has changed, its resourceVersion
// says: both informers must be of the same server, or of none that has versions.
//
// A relay remembers each object that its handler was told of. For informers that
// merely lose their connection none is needed.
type Relay[T any] struct {
	handle  func(Event[T])
	current *Registration[T] // of the last MoveTo

	// The rest belongs to the goroutine of the current registration.

	told map[types.NamespacedName]indexer.Entry[T]
	// unseen are the keys told by earlier informers that the current one has not
	// mentioned. It is nil when the current one has been told whole.
	unseen map[types.NamespacedName]bool
}

// NewRelay makes a relay that is with no informer yet.
func NewRelay[T any](handle func(Event[T])) *Relay[T] {
	return &Relay[T]{handle: handle, told: make(map[types.NamespacedName]indexer.Entry[T])}
}

// MoveTo removes the handler from the informer where it was, waits for a call in
// progress, and adds it to another, which may run already. The error is ctx's, or
// AddHandler's; the handler is with no informer then, and MoveTo may be called
// again. It must not be called by the handler, nor by two goroutines at once.
func (r *Relay[T]) MoveTo(ctx context.Context, to *Informer[T], opts HandlerOptions) (*Registration[T], error) {
	if r.current != nil {
		r.current.Remove()
		select {
		case <-r.current.Done():
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	r.unseen = make(map[types.NamespacedName]bool, len(r.told))
	for key := range r.told {
		r.unseen[key] = true
	}
	registration, err := to.addHandler(r.pass, opts, r.bury)
	if err == nil {
		r.current = registration
	}
	return registration, err
}

// pass tells the handler of an event, if it is news.
func (r *Relay[T]) pass(e Event[T]) {
	before, knew := r.told[e.Key]
	if knew {
		e.Old = before.Object
	}
	if r.unseen[e.Key] && e.Type == Added {
		delete(r.unseen, e.Key)
		if e.ResourceVersion != "" && e.ResourceVersion == before.ResourceVersion {
			return
		}
		e.Type, e.Cause = Updated, Relist
	}
	if e.Type == Deleted {
		delete(r.told, e.Key)
	} else {
		r.told[e.Key] = indexer.Entry[T]{Key: e.Key, Object: e.New, ResourceVersion: e.ResourceVersion}
	}
	r.handle(e)
}

// bury yields the deletion of what is gone, now that the current informer has
// mentioned all that is there. What the handler is not told, as it is removed in the
// middle, is for the next informer.
func (r *Relay[T]) bury(yield func(Event[T]) bool) {
	for key := range r.unseen {
		last := r.told[key]
		gone := Event[T]{
			Type: Deleted, Cause: Relist, Key: key, FinalStateUnknown: true,
			ResourceVersion: last.ResourceVersion, Old: last.Object, New: last.Object,
		}
		if !yield(gone) {
			return
		}
	}
	r.unseen = nil
}
