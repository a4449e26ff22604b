package conformance

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// Store is the interface of the store suite. A store starts with one index: IndexName, with the
// function Index.
type Store interface {
	Put(*Object) error
	Delete(key types.NamespacedName) error

	// Replace makes the list the whole content, at a version.
	Replace(list []*Object, resourceVersion string) error

	// Get returns nil for a missing object.
	Get(key types.NamespacedName) *Object
	Keys() []types.NamespacedName
	ByIndex(index, value string) ([]types.NamespacedName, error)
	IndexValues(index string) ([]string, error)
	AddIndex(index string, fn func(*Object) ([]string, error)) error
	ResourceVersion() string
}

// TestStore runs the suite on the stores that the function open makes.
func TestStore(t *testing.T, open func() Store, differences Differences) {
	verify(t, storeCases, open, differences, runOnce)
}
