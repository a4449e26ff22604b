package indexer

import "k8s.io/apimachinery/pkg/types"

// Notify returns a channel that is closed when a transaction that stores or deletes an
// object under this key has been published. Every one that begins after the call
// counts, so that a caller misses nothing in this order:
//
//	changed, cancel := store.Notify(key)
//	defer cancel()
//	pod, exists := store.Get(key) // not yet as wanted?
//	<-changed                     // look again
//
// The channel may be closed a moment early, by a transaction that was published
// while Notify ran; to delete what is not there changes nothing. It tells of one
// change: for the next one, call Notify again. What has changed between two moments, of
// all keys, is [Snapshot.Changes].
//
// cancel ends the interest, and may be called at any time and more than once; the
// channel then stays open if it is. Without it a few bytes are kept until the key
// changes. Calls for one key share a channel. Where nobody calls Notify, writers
// pay for one atomic load.
func (r *Reader[T]) Notify(key types.NamespacedName) (changed <-chan struct{}, cancel func()) {
	return r.source.Engine.Watches.Add(key)
}

// Unreadable is why the store does not have the newest state of a key, but an older one
// or nothing, although the object exists: it could not be read, or indexed. It is nil
// where nothing of that kind is known; see [Options].Unreadable. An object that is not
// stored is only known to be gone if this is nil, too, before that was seen and after.
// When it becomes an error, the channels of Notify for the key are closed.
func (r *Reader[T]) Unreadable(key types.NamespacedName) error {
	if r.unreadable == nil {
		return nil
	}
	return r.unreadable(key)
}

// WakeUnreadable closes the channels of [Reader.Notify] for the keys which are
// unreadable. It is for whoever fills the store, when there are more of them. Where nobody
// waits for a key, it costs an atomic load.
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
