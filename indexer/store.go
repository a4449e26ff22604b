package indexer

import (
	"errors"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// Store holds the objects of one type by key. The zero Store is not usable; New
// makes one.
//
// A Store is safe for concurrent use. Its reading half is the embedded [Reader]:
// hand out store.Reader to whom may read and not write. Readers take no lock:
// they see the last published version, whatever writers are doing. Writers are
// serialised.
type Store[T any] struct {
	*Reader[T]

	// writing serialises transactions, from reading the current version to
	// publishing the next one. No user code runs under it.
	writing sync.Mutex
}

// New returns an empty store. The error says what is wrong with the options.
func New[T any](opts Options[T]) (*Store[T], error) {
	first := &Snapshot[T]{seed: maphash.MakeSeed()}
	for _, name := range slices.Sorted(maps.Keys(opts.Indexes)) {
		d, err := define(name, opts.Indexes[name])
		if err != nil {
			return nil, err
		}
		first.indexes = append(first.indexes, index[T]{definition: d, ready: true})
	}
	s := &Store[T]{Reader: &Reader[T]{}}
	if opts.Observer != nil {
		s.observer = *opts.Observer
	}
	s.current.Store(first)
	return s, nil
}

// errStale tells a writer that an index was added after it computed index values.
var errStale = errors.New("indexer: an index was added meanwhile")

// commit lets edit change a transaction, publishes the outcome in one step, and
// returns it. If edit returns an error nothing is published.
func (s *Store[T]) commit(edit func(tx *transaction[T]) error) (*Snapshot[T], error) {
	next, err := s.publish(edit)
	if err == nil {
		s.waiters.wake(next.resourceVersion)
	}
	return next, err
}

// publish is commit without telling those who wait for a version.
func (s *Store[T]) publish(edit func(tx *transaction[T]) error) (*Snapshot[T], error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	tx := s.current.Load().begin()
	if err := edit(tx); err != nil {
		return nil, err
	}
	s.current.Store(&tx.Snapshot)
	if s.watches.count.Load() > 0 {
		for _, key := range tx.touched {
			s.watches.tell(key)
		}
	}
	return &tx.Snapshot, nil
}
