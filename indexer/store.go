package indexer

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/kinform/kinform/indexer/internal/versions"
)

// Store holds the objects of one type by key. The zero Store is not usable; New makes one.
//
// A Store is safe for concurrent use. The embedded [Reader] is its read-only half: hand out
// store.Reader to users who may only read. Readers take no lock: they see the last published
// revision, even while a writer works. Writers run one after the other.
type Store[T any] struct {
	*Reader[T]

	// definitions are the indexes with their functions. A change replaces the slice, whose elements
	// never change.
	definitions atomic.Pointer[[]definition[T]]
}

// New returns an empty store. The error names the invalid option.
func New[T any](opts Options[T]) (*Store[T], error) {
	var definitions []definition[T]
	for _, name := range slices.Sorted(maps.Keys(opts.Indexes)) {
		d, err := newDefinition(name, opts.Indexes[name])
		if err != nil {
			return nil, err
		}
		d.ready = true
		definitions = append(definitions, d)
	}
	s := &Store[T]{Reader: &Reader[T]{queries: queries[T]{versions.Source{Engine: versions.New(readyIndexes(definitions))}}}}
	if opts.Observer != nil {
		s.observer = *opts.Observer
	}
	s.undecodable = opts.Undecodable
	s.definitions.Store(&definitions)
	return s, nil
}
