package indexer

import (
	"iter"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer/internal/versions"
)

// object is the type of stored objects in tests. It contains its own index values.
type object struct {
	version int
	terms   []string
	err     error // the index function returns it
	panic   any   // the index function panics with it
}

// byTerm indexes objects by their own terms.
var byTerm = map[string]IndexFunc[*object]{"term": termsOfObject}

func termsOfObject(o *object) ([]string, error) {
	if o.panic != nil {
		panic(o.panic)
	}
	return o.terms, o.err
}

func newStore(t testing.TB, indexes map[string]IndexFunc[*object]) *Store[*object] {
	store, err := New(Options[*object]{Indexes: indexes})
	require.NoError(t, err)
	return store
}

// key returns the key "namespace/name", or "name" without a namespace.
func key(s string) types.NamespacedName {
	if namespace, name, ok := strings.Cut(s, "/"); ok {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	return types.NamespacedName{Name: s}
}

func put(k string, o *object) Op[*object] { return Op[*object]{Key: key(k), Object: o} }

func del(k string) Op[*object] { return Op[*object]{Key: key(k), Delete: true} }

// names returns the keys that an iterator yields, as sorted strings, and requires that no key
// comes twice.
func names[T any](t require.TestingT, seq iter.Seq2[types.NamespacedName, T]) []string {
	var all []string
	seen := map[types.NamespacedName]bool{}
	for k := range Sorted(seq) {
		require.False(t, seen[k], "%s must come only once", k)
		seen[k] = true
		all = append(all, strings.TrimPrefix(k.String(), "/"))
	}
	return all
}

// byIndex returns the keys of the objects that have a value in an index.
func byIndex(t require.TestingT, s *Snapshot[*object], index, value string) []string {
	found, err := s.ByIndex(index, value)
	require.NoError(t, err)
	return names(t, found)
}

// requireConsistent checks that every index has exactly the values that its function returns for
// the stored objects (G7). others are the index functions; by default there is only termsOfObject.
func requireConsistent(t require.TestingT, s *Snapshot[*object], others ...map[string]IndexFunc[*object]) {
	count := 0
	namespaces := map[string]map[types.NamespacedName]*object{}
	indexes := map[string]map[string]map[types.NamespacedName]*object{}
	functions := map[string]IndexFunc[*object]{}
	for _, name := range s.Indexes() {
		functions[name] = termsOfObject
		indexes[name] = map[string]map[types.NamespacedName]*object{}
	}
	for _, other := range others {
		maps.Copy(functions, other)
	}
	for k, o := range s.All() {
		count++
		got, ok := s.Get(k)
		require.True(t, ok)
		require.Same(t, o, got)
		if k.Namespace != "" {
			add(namespaces, k.Namespace, k, o)
		}
		for name, index := range indexes {
			values, err := functions[name](o)
			require.NoError(t, err)
			for _, value := range values {
				add(index, value, k, o)
			}
		}
	}
	require.Equal(t, count, s.Len())
	require.Equal(t, namespaces, contents(t, s.Namespaces(), func(namespace string) seq2 { return s.Namespace(namespace) }))
	for name, index := range indexes {
		values, err := s.IndexValues(name)
		require.NoError(t, err)
		require.Equal(t, index, contents(t, values, func(value string) seq2 {
			found, err := s.ByIndex(name, value)
			require.NoError(t, err)
			return found
		}))
	}
}

// contents returns the whole content of an index, and requires that its counts are right.
func contents(t require.TestingT, values iter.Seq2[string, int], list func(string) seq2) map[string]map[types.NamespacedName]*object {
	all := map[string]map[types.NamespacedName]*object{}
	for value, count := range values {
		for k, o := range list(value) {
			require.NotContains(t, all[value], k, "a value must have each key only once")
			add(all, value, k, o)
		}
		require.Len(t, all[value], count)
	}
	return all
}

func add(to map[string]map[types.NamespacedName]*object, value string, k types.NamespacedName, o *object) {
	if to[value] == nil {
		to[value] = map[types.NamespacedName]*object{}
	}
	to[value][k] = o
}

// requireSound checks the internals of a store, and returns counts of what it keeps. Every record
// must be in the right sets, every count must be right, and the store must not keep a version that
// no reader can see.
func requireSound[T any](t require.TestingT, store *Store[T]) versions.Audit {
	audit, err := store.source.Engine.Audit()
	require.NoError(t, err)
	return audit
}

// counted collects values with their counts.
func counted(t require.TestingT, seq iter.Seq2[string, int], err error) map[string]int {
	require.NoError(t, err)
	return maps.Collect(seq)
}

// apply is Store.Apply without the revision, and replace is Store.Replace without the revision.
func apply[T any](store *Store[T], ops []Op[T], resourceVersion string) error {
	_, err := store.Apply(ops, resourceVersion)
	return err
}

func replace[T any](store *Store[T], ops []Op[T], resourceVersion string) error {
	_, err := store.Replace(ops, resourceVersion)
	return err
}
