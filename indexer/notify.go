package indexer

import "k8s.io/apimachinery/pkg/types"

// Notify returns a channel that is closed when a transaction that stores or deletes an object
// under this key has been published. It notices every transaction that begins after the call.
// So a caller misses nothing in this order:
//
//	changed, cancel := store.Notify(key)
//	defer cancel()
//	pod, exists := store.Get(key) // not yet as wanted?
//	<-changed                     // look again
//
// The channel may be closed a moment early, by a transaction that was published while Notify
// ran. Deleting a key that is not there closes no channel. A channel is for one change: for the
// next one, call Notify again. For the changes of all keys between two moments, see
// [Snapshot.Changes].
//
// cancel ends the wait: if the channel is open, it stays open. It may be called at any time,
// and more than once. Without it, the store keeps a few bytes until the key changes. Calls for
// one key get the same channel. If nobody calls Notify, a write costs one atomic load more.
func (r *Reader[T]) Notify(key types.NamespacedName) (changed <-chan struct{}, cancel func()) {
	return r.source.Engine.Watches.Add(key)
}

// Unreadable returns the reason why the store lacks the newest state of a key, and has an older
// one or none: the object could not be read, or indexed. It returns nil if there is no such
// reason; see [Options].Unreadable. A key without an object is certainly gone only if
// Unreadable returns nil before and after the store was read. When the reason of a key
// appears, its channels of Notify are closed.
func (r *Reader[T]) Unreadable(key types.NamespacedName) error {
	if r.unreadable == nil {
		return nil
	}
	return r.unreadable(key)
}

// WakeUnreadable closes the channels of [Reader.Notify] for unreadable keys. The writer of the
// store calls it when there are more of them. If nobody waits for a key, it costs an atomic
// load.
func (s *Store[T]) WakeUnreadable() {
	w := &s.source.Engine.Watches
	if s.unreadable == nil {
		return
	}
	for _, key := range w.Keys() {
		if s.unreadable(key) != nil {
			w.Notify(key)
		}
	}
}
