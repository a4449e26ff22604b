package indexer

import (
	"iter"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

// Reader is the reading half of a [Store]: it is what an informer hands out.
//
// Each method reads the version that is current when it is called; an iterator
// stays with it until its end. Whoever needs several answers that fit together
// takes a [Snapshot], which has the same methods. No method but [Reader.WaitRV]
// ever blocks, and none holds up a writer.
type Reader[T any] struct {
	current  atomic.Pointer[Snapshot[T]]
	waiters  waiters
	watches  watches
	observer Observer
}

// Snapshot returns the current content of the store. It costs one atomic load.
func (r *Reader[T]) Snapshot() *Snapshot[T] { return r.current.Load() }

// Get is [Snapshot.Get] of the current snapshot.
func (r *Reader[T]) Get(key types.NamespacedName) (T, bool) { return r.Snapshot().Get(key) }

// Entry is [Snapshot.Entry] of the current snapshot.
func (r *Reader[T]) Entry(key types.NamespacedName) (Entry[T], bool) { return r.Snapshot().Entry(key) }

// Len is [Snapshot.Len] of the current snapshot.
func (r *Reader[T]) Len() int { return r.Snapshot().Len() }

// Keys is [Snapshot.Keys] of the current snapshot.
func (r *Reader[T]) Keys() iter.Seq[types.NamespacedName] { return r.Snapshot().Keys() }

// Entries is [Snapshot.Entries] of the current snapshot.
func (r *Reader[T]) Entries() iter.Seq[Entry[T]] { return r.Snapshot().Entries() }

// All is [Snapshot.All] of the current snapshot.
func (r *Reader[T]) All() iter.Seq2[types.NamespacedName, T] { return r.Snapshot().All() }

// Namespace is [Snapshot.Namespace] of the current snapshot.
func (r *Reader[T]) Namespace(namespace string) iter.Seq2[types.NamespacedName, T] {
	return r.Snapshot().Namespace(namespace)
}

// Namespaces is [Snapshot.Namespaces] of the current snapshot.
func (r *Reader[T]) Namespaces() iter.Seq2[string, int] { return r.Snapshot().Namespaces() }

// ByIndex is [Snapshot.ByIndex] of the current snapshot.
func (r *Reader[T]) ByIndex(name, value string) (iter.Seq2[types.NamespacedName, T], error) {
	return r.Snapshot().ByIndex(name, value)
}

// IndexValues is [Snapshot.IndexValues] of the current snapshot.
func (r *Reader[T]) IndexValues(name string) (iter.Seq2[string, int], error) {
	return r.Snapshot().IndexValues(name)
}

// Indexes is [Snapshot.Indexes] of the current snapshot.
func (r *Reader[T]) Indexes() []string { return r.Snapshot().Indexes() }

// ResourceVersion is [Snapshot.ResourceVersion] of the current snapshot.
func (r *Reader[T]) ResourceVersion() string { return r.Snapshot().ResourceVersion() }
