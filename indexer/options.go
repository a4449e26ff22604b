package indexer

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Options are the optional settings of a store. The zero value is a store with the
// namespace index alone.
type Options[T any] struct {
	// Indexes are the indexes by name, each with the function that computes the
	// values of an object. The map is copied. More can be added later, see
	// [Store.AddIndex]. Defaults to none: the index by namespace is always there,
	// see [Snapshot.Namespace].
	Indexes map[string]IndexFunc[T]

	// Unreadable tells why the store does not have the newest state of a key, as far as
	// whoever fills it knows: nil where it has. [Reader.Unreadable] asks it, with any key,
	// from any goroutine. That of an informer's store is the informer's, whatever is set
	// here. Defaults to nil: nothing is unreadable.
	Unreadable func(types.NamespacedName) error

	// Observer is called when something has happened. It is copied. Defaults to nil: no
	// calls.
	Observer *Observer
}

// Observer has functions that a store calls when something has happened. Any may
// be nil. They are called without a lock held, in the goroutine that did the
// thing, possibly several at once: they should return soon.
type Observer struct {
	// OnApplied is called after a transaction was published.
	OnApplied func(AppliedInfo)

	// OnWaited is called at the end of each [Reader.WaitRV] that had to wait.
	OnWaited func(WaitedInfo)
}

// AppliedInfo describes one transaction.
type AppliedInfo struct {
	Counts

	// ResourceVersion and Revision are those of the store after it. Observers of
	// concurrent writers are not called in order; Revision has it.
	ResourceVersion string
	Revision        uint64

	// Took is how long the writer needed, index functions and waiting for other
	// writers included.
	Took time.Duration
}

// WaitedInfo describes one wait for a resourceVersion.
type WaitedInfo struct {
	ResourceVersion string
	Took            time.Duration

	// Err is what WaitRV returned: nil, or why it gave up.
	Err error
}
