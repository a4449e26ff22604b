package indexer

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer/internal/versions"
)

var (
	// ErrNoIndex means that a store has no index of this name.
	ErrNoIndex = errors.New("indexer: no index")

	// ErrIndexExists means that a store has an index of this name already. Remove it first, or use
	// another name.
	ErrIndexExists = errors.New("indexer: there is already an index")
)

// requireIndex returns an error if the store has no index of this name.
func requireIndex(s *versions.Source, name string) error {
	indexes := s.State().Indexes
	for _, x := range indexes {
		if x.Name == name {
			return nil
		}
	}
	return noIndex(name, indexes)
}

// noIndex returns the error for an index that is not among indexes.
func noIndex(name string, indexes []*versions.Index) error {
	return fmt.Errorf("%w %q, the store has %q", ErrNoIndex, name, namesOf(indexes))
}

func namesOf(indexes []*versions.Index) []string {
	var names []string
	for _, x := range indexes {
		names = append(names, x.Name)
	}
	return names
}

// IndexError reports that an index function returned an error for an object, or panicked.
type IndexError struct {
	Index string
	Key   types.NamespacedName
	Err   error
}

// Error names the index, the object and the reason.
func (e *IndexError) Error() string {
	if e == nil {
		return "<nil>"
	}
	key := e.Key.Name
	if e.Key.Namespace != "" {
		key = e.Key.String()
	}
	return fmt.Sprintf("indexer: index %q of object %s: %v", e.Index, key, e.Err)
}

// Unwrap returns the reason.
func (e *IndexError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// IndexErrors are the failures of one transaction, in the order of its ops. It unwraps to each
// failure.
type IndexErrors []*IndexError

// Error returns a text with one line for each failure.
func (e IndexErrors) Error() string { return errors.Join(e.Unwrap()...).Error() }

// Unwrap returns all failures.
func (e IndexErrors) Unwrap() []error {
	all := make([]error, len(e))
	for i, failure := range e {
		all[i] = failure
	}
	return all
}

// keys returns the keys of the objects on which an index function failed.
func (e IndexErrors) keys() map[types.NamespacedName]bool {
	all := make(map[types.NamespacedName]bool, len(e))
	for _, failure := range e {
		all[failure.Key] = true
	}
	return all
}
