package indexer

import (
	"iter"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// object is what tests store. It says itself where it is to be indexed.
type object struct {
	version int
	terms   []string
	err     error // what the index function returns
	panic   any   // what the index function panics with
}

// byTerm indexes objects by what they say.
var byTerm = map[string]IndexFunc[*object]{"term": termsOf}

func termsOf(o *object) ([]string, error) {
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

// names returns the keys that an iterator yields, as strings in order, and
// requires that it yields none twice.
func names[T any](t require.TestingT, seq iter.Seq2[types.NamespacedName, T]) []string {
	var all []string
	seen := map[types.NamespacedName]bool{}
	for k := range Sorted(seq) {
		require.False(t, seen[k], "%s is there twice", k)
		seen[k] = true
		all = append(all, strings.TrimPrefix(k.String(), "/"))
	}
	return all
}

// byIndex returns the keys that an index has under a value.
func byIndex(t require.TestingT, s *Snapshot[*object], index, value string) []string {
	found, err := s.ByIndex(index, value)
	require.NoError(t, err)
	return names(t, found)
}

// requireConsistent checks that every index says what its function says of the
// objects that are stored, no more and no less (G7).
func requireConsistent(t require.TestingT, s *Snapshot[*object]) {
	requireShape(t, s.entries)
	namespaces := map[string]map[types.NamespacedName]*entry[*object]{}
	for e := range s.entries.all {
		if e.key.Namespace != "" {
			add(namespaces, e.key.Namespace, e)
		}
	}
	require.Equal(t, namespaces, contents(t, s.namespaces))
	for _, x := range s.indexes {
		if !x.ready {
			continue
		}
		values := map[string]map[types.NamespacedName]*entry[*object]{}
		for e := range s.entries.all {
			of, err := x.fn(e.value.object)
			require.NoError(t, err)
			for _, value := range of {
				add(values, value, e)
			}
		}
		require.Equal(t, values, contents(t, x.postings))
	}
}

// contents returns all that postings hold.
func contents(t require.TestingT, p postings[*object]) map[string]map[types.NamespacedName]*entry[*object] {
	requireShape(t, p.values)
	all := map[string]map[types.NamespacedName]*entry[*object]{}
	for value := range p.values.all {
		requireShape(t, value.value.entries)
		require.NotZero(t, value.value.entries.len)
		for e := range value.value.entries.all {
			add(all, value.key, e)
		}
	}
	return all
}

func add(to map[string]map[types.NamespacedName]*entry[*object], value string, e *entry[*object]) {
	if to[value] == nil {
		to[value] = map[types.NamespacedName]*entry[*object]{}
	}
	to[value][e.key] = e
}

// counted collects values with their counts.
func counted(t require.TestingT, seq iter.Seq2[string, int], err error) map[string]int {
	require.NoError(t, err)
	return maps.Collect(seq)
}

// apply and replace are for tests that don't look at revisions.
func apply[T any](store *Store[T], ops []Op[T], resourceVersion string) error {
	_, err := store.Apply(ops, resourceVersion)
	return err
}

func replace[T any](store *Store[T], ops []Op[T], resourceVersion string) error {
	_, err := store.Replace(ops, resourceVersion)
	return err
}
