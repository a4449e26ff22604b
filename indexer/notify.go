package indexer

import "k8s.io/apimachinery/pkg/types"

// Notify returns a channel that is closed when a transaction that stores or deletes an object under
// this key has been published. It notices every transaction that starts after the call. So a caller
// that calls Notify before it reads misses nothing:
//
//	changed, cancel := store.Notify(key)
//	defer cancel()
//	pod, exists := store.Get(key) // not yet as wanted?
//	<-changed                     // look again
//
// A transaction that was published while Notify ran may close the channel needlessly. The deletion
// of a missing key closes no channel. A channel is for one change: for the next change, call Notify
// again. For the changes of all keys between two moments, see [Snapshot.Changes].
//
// cancel ends the wait, and leaves an open channel open. It may be called at any time, and more
// than once. Without a call of cancel, the store keeps a few bytes until the key changes. All calls
// for one key get the same channel. Without open channels, Notify costs one atomic load for each
// write.
func (r *Reader[T]) Notify(key types.NamespacedName) (changed <-chan struct{}, cancel func()) {
	return r.source.Engine.KeyWaiters.Add(key)
}

// Undecodable returns the reason why the store lacks the newest state of a key, or nil if it has
// this state. The reason is that the object was undecodable, or could not be indexed; see
// [Options].Undecodable. The store then has an older state of the key, or no object. A missing key
// certainly has no object only if Undecodable returns nil both before and after the read. When a
// key becomes undecodable, its channels of Notify are closed.
func (r *Reader[T]) Undecodable(key types.NamespacedName) error {
	if r.undecodable == nil {
		return nil
	}
	return r.undecodable(key)
}

// NotifyUndecodable closes the channels of [Reader.Notify] for undecodable keys. The writer of the
// store calls it when more keys become undecodable. If there are no open channels, the call costs
// one atomic load.
func (s *Store[T]) NotifyUndecodable() {
	w := &s.source.Engine.KeyWaiters
	if s.undecodable == nil {
		return
	}
	for _, key := range w.Keys() {
		if s.undecodable(key) != nil {
			w.Notify(key)
		}
	}
}
