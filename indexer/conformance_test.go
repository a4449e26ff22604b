package indexer_test

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/internal/testing/conformance"
)

func TestConformance(t *testing.T) {
	conformance.TestStore(t, func() conformance.Store {
		store, err := indexer.New(indexer.Options[*conformance.Object]{
			Indexes: map[string]indexer.IndexFunc[*conformance.Object]{conformance.IndexName: conformance.Index},
		})
		if err != nil {
			t.Fatal(err)
		}
		return subject{store}
	}, nil)
}

// subject adapts the store to the suite.
type subject struct {
	store *indexer.Store[*conformance.Object]
}

func put(o *conformance.Object) indexer.Op[*conformance.Object] {
	return indexer.Op[*conformance.Object]{Key: o.Key(), Object: o, ResourceVersion: o.ResourceVersion}
}

func (s subject) Put(o *conformance.Object) error {
	_, err := s.store.Apply([]indexer.Op[*conformance.Object]{put(o)}, o.ResourceVersion)
	return err
}

func (s subject) Delete(key types.NamespacedName) error {
	_, err := s.store.Apply([]indexer.Op[*conformance.Object]{{Key: key, Delete: true}}, "")
	return err
}

func (s subject) Replace(list []*conformance.Object, resourceVersion string) error {
	var ops []indexer.Op[*conformance.Object]
	for _, o := range list {
		ops = append(ops, put(o))
	}
	_, err := s.store.Replace(ops, resourceVersion)
	return err
}

func (s subject) Get(key types.NamespacedName) *conformance.Object {
	o, _ := s.store.Get(key)
	return o
}

func (s subject) Keys() []types.NamespacedName { return slices.Collect(s.store.Keys()) }

func (s subject) ByIndex(index, value string) (keys []types.NamespacedName, err error) {
	all, err := s.store.ByIndex(index, value)
	if err != nil {
		return nil, err
	}
	for key := range all {
		keys = append(keys, key)
	}
	return keys, nil
}

func (s subject) IndexValues(index string) ([]string, error) {
	all, err := s.store.IndexValues(index)
	if err != nil {
		return nil, err
	}
	return slices.Collect(maps.Keys(maps.Collect(all))), nil
}

func (s subject) AddIndex(index string, fn func(*conformance.Object) ([]string, error)) error {
	return s.store.AddIndex(index, fn)
}

func (s subject) ResourceVersion() string { return s.store.ResourceVersion() }
