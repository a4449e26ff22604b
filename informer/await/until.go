package await

import (
	"context"
	"fmt"
	"time"

	"github.com/kinform/kinform/indexer"
	"k8s.io/apimachinery/pkg/types"
)

// Store is what a wait needs of a store. *indexer.Reader is one.
type Store[T any] interface {
	Entry(key types.NamespacedName) (indexer.Entry[T], bool)

	// Notify returns a channel that closes when the store has a change of this key
	// that it had not when Notify was called. cancel says that nobody waits for
	// that any more.
	Notify(key types.NamespacedName) (changed <-chan struct{}, cancel func())

	// Unreadable is why the store does not have the newest state of the key, nil if it
	// has, as far as that is known. Notify tells when that becomes an error.
	Unreadable(key types.NamespacedName) error
}

// Until waits until the object with this key satisfies the condition, or until ctx
// ends. It returns the object, the zero T where the condition is satisfied because
// there is none; it is the stored one, not to be modified. The error is an [*Error],
// which says what was waited for and what there was instead.
//
// A condition that is satisfied already is satisfied even if ctx has ended.
//
// A wait for an object whose newest state cannot be read, or not be indexed, ends at once:
// the store has an older state or nothing, so that neither says anything about the
// condition, be it that the object is deleted. The error then unwraps to what the store
// says, with an informer a *listwatch.ObjectError. A caller that expects it to be repaired waits
// again.
func Until[T any](ctx context.Context, store Store[T], key types.NamespacedName, condition Condition[T]) (T, error) {
	began := time.Now()
	failed := &Error{Key: key, Condition: condition.name, Since: began}
	for {
		changed, cancel := store.Notify(key) // Before the look, so that nothing is missed in between.
		unreadable := store.Unreadable(key)  // Before the look as well, as it may be stored after that.
		entry, exists := store.Entry(key)
		if unreadable == nil {
			unreadable = store.Unreadable(key) // After the look, so that what is not there is gone.
		}
		state := State[T]{Key: key, Object: entry.Object, ResourceVersion: entry.ResourceVersion, UIDHash: entry.UIDHash, Exists: exists}
		if unreadable == nil && condition.holds(state) {
			cancel()
			return state.Object, nil
		}
		if failed.Looks == 0 || failed.Exists != exists || failed.ResourceVersion != entry.ResourceVersion {
			failed.Since = time.Now()
		}
		failed.Looks++
		failed.Exists, failed.ResourceVersion, failed.Seen = exists, entry.ResourceVersion, condition.describe(state)
		if failed.Err = unreadable; unreadable == nil {
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

// Error says what a wait that ended early was for, and what it saw last. It unwraps
// to the cause of its context's end, or to why the object cannot be read.
type Error struct {
	Key types.NamespacedName

	// Condition is what was waited for, and Seen how the object was instead.
	Condition, Seen string

	// Exists and ResourceVersion say which state was seen last, and Since is when that
	// was first seen; Looks is how many states were looked at.
	Exists          bool
	ResourceVersion string
	Since           time.Time
	Looks           int

	// Waited is how long the wait took.
	Waited time.Duration
	Err    error
}

// Error is a sentence with all of that.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	state := "the store does not have it"
	if e.Exists {
		state = "version " + e.ResourceVersion
	}
	if e.Seen != "" && e.Exists {
		state += ", " + e.Seen
	}
	return fmt.Sprintf("await: %s: not so after %v: %s (%s, for %v): %v", e.Key, e.Waited.Round(time.Millisecond), e.Condition,
		state, time.Since(e.Since).Round(time.Millisecond), e.Err)
}

// Unwrap returns the cause of the context's end, or why the object cannot be read.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}
