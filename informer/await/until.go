package await

import (
	"context"
	"fmt"
	"time"

	"github.com/kinform/kinform/indexer"
	"k8s.io/apimachinery/pkg/types"
)

// Store is the part of a store that a wait needs. *indexer.Reader implements it.
type Store[T any] interface {
	Entry(key types.NamespacedName) (indexer.Entry[T], bool)

	// Notify returns a channel that closes when the store changes this key after the call. cancel
	// releases the channel.
	Notify(key types.NamespacedName) (changed <-chan struct{}, cancel func())

	// Undecodable returns why the store does not have the newest state of the key, or nil if no
	// reason is known. The channel of Notify also closes when the result becomes an error.
	Undecodable(key types.NamespacedName) error
}

// Until waits until the object with this key satisfies the condition, or until ctx ends. It returns
// the stored object, which must not be modified, or the zero T if the condition is satisfied
// because no object exists. The error is an [*Error] with the condition and the last state.
//
// A condition that already holds is satisfied even if ctx has ended.
//
// The wait ends at once if the newest state of the object cannot be decoded or indexed. The store
// then has an older state or nothing, and neither says whether the condition holds. The error then
// unwraps to the store's error, which is a *listwatch.ObjectError for an informer. A caller that
// expects the object to become decodable calls Until again.
func Until[T any](ctx context.Context, store Store[T], key types.NamespacedName, condition Condition[T]) (T, error) {
	began := time.Now()
	failed := &Error{Key: key, Condition: condition.name, Since: began}
	for {
		changed, cancel := store.Notify(key) // Before Entry, so that no change is missed.
		// Undecodable is called before and after Entry. An object that is not in the store counts
		// as deleted only if both calls returned nil.
		undecodable := store.Undecodable(key)
		entry, exists := store.Entry(key)
		if undecodable == nil {
			undecodable = store.Undecodable(key)
		}
		state := State[T]{Key: key, Object: entry.Object, ResourceVersion: entry.ResourceVersion, UIDHash: entry.UIDHash, Exists: exists}
		if undecodable == nil && condition.holds(state) {
			cancel()
			return state.Object, nil
		}
		if failed.Checks == 0 || failed.Exists != exists || failed.ResourceVersion != entry.ResourceVersion {
			failed.Since = time.Now()
		}
		failed.Checks++
		failed.Exists, failed.ResourceVersion, failed.Seen = exists, entry.ResourceVersion, condition.describe(state)
		if failed.Err = undecodable; undecodable == nil {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				failed.Err = context.Cause(ctx)
			}
		}
		cancel()
		failed.Waited = time.Since(began)
		var none T
		return none, failed
	}
}

// Error is the error of a wait that ended early: the condition and the last state. It unwraps to
// the cause of the context's end, or to the reason why the object cannot be decoded.
type Error struct {
	Key types.NamespacedName

	// Condition is the name of the condition, and Seen describes the last state.
	Condition, Seen string

	// Exists and ResourceVersion describe the last state, and Since is when Until first saw it.
	// Checks is the number of states that Until examined.
	Exists          bool
	ResourceVersion string
	Since           time.Time
	Checks          int

	// Waited is how long the wait took.
	Waited time.Duration
	Err    error
}

// Error describes the condition, the last state and the wait in one sentence.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	state := "the object is not in the store"
	if e.Exists {
		state = "version " + e.ResourceVersion
	}
	if e.Seen != "" && e.Exists {
		state += ", " + e.Seen
	}
	return fmt.Sprintf("await: %s: condition not met after %v: %s (%s, for %v): %v", e.Key, e.Waited.Round(time.Millisecond), e.Condition,
		state, time.Since(e.Since).Round(time.Millisecond), e.Err)
}

// Unwrap returns the cause of the context's end, or the reason why the object cannot be decoded.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}
