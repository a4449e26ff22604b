package clientgo

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kinform/kinform/internal/testing/conformance"
)

// NewStore adapts a cache.Indexer for the store suite.
func NewStore() conformance.Store {
	return store{cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{
		conformance.IndexName: untyped(conformance.Index),
	})}
}

func untyped(fn func(*conformance.Object) ([]string, error)) cache.IndexFunc {
	return func(o any) ([]string, error) { return fn(o.(*conformance.Object)) }
}

type store struct{ indexer cache.Indexer }

func (s store) Put(o *conformance.Object) error { return s.indexer.Add(o) }

func (s store) Delete(key types.NamespacedName) error {
	return s.indexer.Delete(cache.ExplicitKey(key.String()))
}

func (s store) Replace(list []*conformance.Object, resourceVersion string) error {
	var all []any
	for _, o := range list {
		all = append(all, o)
	}
	return s.indexer.Replace(all, resourceVersion)
}

func (s store) Get(key types.NamespacedName) *conformance.Object {
	o, exists, err := s.indexer.GetByKey(key.String())
	if err != nil || !exists {
		return nil
	}
	return o.(*conformance.Object)
}

func (s store) Keys() []types.NamespacedName { return split(s.indexer.ListKeys()) }

func (s store) ByIndex(index, value string) ([]types.NamespacedName, error) {
	keys, err := s.indexer.IndexKeys(index, value)
	return split(keys), err
}

func (s store) IndexValues(index string) ([]string, error) {
	return s.indexer.ListIndexFuncValues(index), nil
}

func (s store) AddIndex(index string, fn func(*conformance.Object) ([]string, error)) error {
	return s.indexer.AddIndexers(cache.Indexers{index: untyped(fn)})
}

func (s store) ResourceVersion() string { return s.indexer.LastStoreSyncResourceVersion() }

func split(keys []string) (all []types.NamespacedName) {
	for _, key := range keys {
		namespace, name, _ := strings.Cut(key, "/")
		all = append(all, types.NamespacedName{Namespace: namespace, Name: name})
	}
	return all
}
