package indexer

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// object is what tests store. It says itself where it is to be indexed.
type object struct {
	version int
	terms   []string
	err     error
	panic   any
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
	for i := range s {
		if s[i] == '/' {
			return types.NamespacedName{Namespace: s[:i], Name: s[i+1:]}
		}
	}
	return types.NamespacedName{Name: s}
}
