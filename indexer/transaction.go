package indexer

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// transaction is the next snapshot in the making. It shares with the one before
// whatever does not change.
type transaction[T any] struct {
	Snapshot[T]
	owner   *owner
	touched []types.NamespacedName // whose objects were stored or deleted
}

// begin starts a transaction on top of a snapshot.
func (s *Snapshot[T]) begin() *transaction[T] {
	tx := &transaction[T]{Snapshot: *s, owner: new(owner)}
	tx.indexes = slices.Clone(s.indexes)
	tx.revision++
	return tx
}

// put stores an entry and returns the one that had its key before, or nil.
func (tx *transaction[T]) put(e *entry[T]) (old *entry[T]) {
	old = tx.entries.set(tx.owner, e)
	if e.key.Namespace != "" {
		tx.namespaces.add(tx.owner, tx.seed, e.key.Namespace, e)
	}
	for _, t := range e.value.terms {
		if x := tx.indexOf(t.index); x != nil {
			x.postings.add(tx.owner, tx.seed, t.value, e)
		}
	}
	if old != nil && !slices.Equal(old.value.terms, e.value.terms) {
		tx.removeTerms(old)
	}
	return old
}

// delete removes the entry with this key and returns it, or nil (IX-1).
func (tx *transaction[T]) delete(key types.NamespacedName) (old *entry[T]) {
	old = tx.entries.delete(tx.owner, tx.hash(key), key)
	if old == nil {
		return nil
	}
	if key.Namespace != "" {
		tx.namespaces.remove(tx.owner, tx.seed, key.Namespace, old)
	}
	tx.removeTerms(old)
	return old
}

// removeTerms takes an entry out of the indexes. A newer entry with the same
// key stays where it is.
func (tx *transaction[T]) removeTerms(old *entry[T]) {
	for _, t := range old.value.terms {
		if x := tx.indexOf(t.index); x != nil {
			x.postings.remove(tx.owner, tx.seed, t.value, old)
		}
	}
}

// restart sets the resourceVersion, unless nothing is known of it.
func (tx *transaction[T]) restart(to string) {
	if to != "" && to != "0" {
		tx.resourceVersion = to
	}
}

// advance raises the resourceVersion and never lowers it (D15). Where the two
// cannot be compared, what was said last counts.
func (tx *transaction[T]) advance(to string) {
	if to == "" || to == "0" {
		return
	}
	if order, err := resourceversion.CompareResourceVersion(to, tx.resourceVersion); err != nil || order > 0 {
		tx.resourceVersion = to
	}
}
