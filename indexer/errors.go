package indexer

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

var (
	// ErrNoIndex says that a store has no index of that name.
	ErrNoIndex = errors.New("indexer: no index")

	// ErrIndexExists says that a store has an index of that name already. Remove
	// it first, or take another name.
	ErrIndexExists = errors.New("indexer: there is already an index")
)

// IndexError says that an index function failed on an object, by returning an
// error or by panicking.
type IndexError struct {
	Index string
	Key   types.NamespacedName
	Err   error
}

// Error names the index and the object, and says why.
func (e *IndexError) Error() string {
	key := e.Key.Name
	if e.Key.Namespace != "" {
		key = e.Key.String()
	}
	return fmt.Sprintf("indexer: index %q of object %s: %v", e.Index, key, e.Err)
}

// Unwrap returns the reason.
func (e *IndexError) Unwrap() error { return e.Err }

// IndexErrors are the failures of one transaction, in the order of its ops.
type IndexErrors []*IndexError

// Error has a line for each.
func (e IndexErrors) Error() string { return errors.Join(e.Unwrap()...).Error() }

// Unwrap returns them all.
func (e IndexErrors) Unwrap() []error {
	all := make([]error, len(e))
	for i, failure := range e {
		all[i] = failure
	}
	return all
}
