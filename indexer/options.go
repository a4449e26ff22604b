package indexer

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Options are the settings of a store. With the zero value, a store has only the index by
// namespace.
type Options[T any] struct {
	// Indexes are the indexes by name, each with the function that returns the values of an object.
	// The map is copied. [Store.AddIndex] adds more indexes later. Defaults to no indexes. The
	// index by namespace always exists; see [Snapshot.Namespace].
	Indexes map[string]IndexFunc[T]

	// Undecodable returns the reason why the store lacks the newest state of a key. It returns nil
	// if the store has this state, as far as its writer knows. [Reader.Undecodable] calls it, with
	// any key, from any goroutine. An informer sets it for its own store. Defaults to nil: no key
	// is undecodable.
	Undecodable func(types.NamespacedName) error

	// Observer has the hooks that the store calls after transactions and waits. It is copied.
	// Defaults to nil.
	Observer *Observer
}

// Observer is a set of hooks into a store; each may be nil. The goroutine that has written or
// waited calls them with no lock held. Several goroutines may call them at once. Each hook delays
// its caller until it returns.
type Observer struct {
	// OnApplied is called after a transaction was published.
	OnApplied func(AppliedInfo)

	// OnWaited is called at the end of each [Reader.WaitRV] that had to wait.
	OnWaited func(WaitedInfo)
}

// AppliedInfo describes one transaction.
type AppliedInfo struct {
	Counts

	// ResourceVersion and Revision describe the store after the transaction. With several writers,
	// the calls of OnApplied may be in another order than the transactions. The transactions are in
	// the order of Revision.
	ResourceVersion string
	Revision        uint64

	// Took is the duration of the write, including index functions and the time in which it waited
	// for other writers.
	Took time.Duration
}

// WaitedInfo describes one wait for a resourceVersion.
type WaitedInfo struct {
	ResourceVersion string
	Took            time.Duration

	// Err is the result of WaitRV.
	Err error
}
