package plain

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/testing/conformance"
	"github.com/kinform/kinform/plain"
)

// NewStore adapts package plain's store to the store suite.
func NewStore() conformance.Store {
	return &store{plain.NewStore(map[string]plain.IndexFunc[*conformance.Object]{conformance.IndexName: conformance.Index})}
}

type store struct {
	*plain.Store[*conformance.Object]
}

func (s *store) Delete(key types.NamespacedName) error {
	s.Store.Delete(key)
	return nil
}

// Replace applies a list in the same way as the textbook's informer: one change after another.
func (s *store) Replace(list []*conformance.Object, _ string) error {
	for _, o := range s.List() {
		s.Store.Delete(o.Key())
	}
	var err error
	for _, o := range list {
		err = errors.Join(err, s.Put(o))
	}
	return err
}

func (s *store) Get(key types.NamespacedName) *conformance.Object {
	o, _ := s.Store.Get(key)
	return o
}

func (s *store) Keys() []types.NamespacedName { return keys(s.List()) }

func (s *store) ByIndex(index, value string) ([]types.NamespacedName, error) {
	found, err := s.Store.ByIndex(index, value)
	return keys(found), err
}

func (s *store) AddIndex(string, func(*conformance.Object) ([]string, error)) error {
	return errors.New("a store has the indexes that it was made with")
}

func (s *store) ResourceVersion() string { return "" }
