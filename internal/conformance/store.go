package conformance

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// Store is the seam of the store suite. It begins with one index: IndexName, of
// the function Index.
type Store interface {
	Put(*Object) error
	Delete(key types.NamespacedName) error

	// Replace makes the list the whole content, as of a version.
	Replace(list []*Object, resourceVersion string) error

	// Get returns nil for what is not there.
	Get(key types.NamespacedName) *Object
	Keys() []types.NamespacedName
	ByIndex(index, value string) ([]types.NamespacedName, error)
	IndexValues(index string) ([]string, error)
	AddIndex(index string, fn func(*Object) ([]string, error)) error
	ResourceVersion() string
}

// TestStore runs the suite on what open makes.
func TestStore(t *testing.T, open func() Store, differences Differences) {
	verify(t, storeCases, open, differences, once)
}
