package indexer

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

// IndexFunc returns the values under which an object is to be found. No value
// leaves the object out of the index, a value given twice counts once (IX-5).
//
// It must not modify the object, and must give the same answer for the same
// object. It runs without any lock held, possibly in several goroutines at once
// and more than once for one write. An error or a panic is reported as an
// [*IndexError].
type IndexFunc[T any] func(obj T) ([]string, error)

// index is one index of a snapshot. It is hidden from readers until ready.
type index[T any] struct {
	*definition[T]
	ready    bool
	postings postings[T]
}

// definition is what an index is in all snapshots. Its address is its identity:
// an index that was removed and added again is another one.
type definition[T any] struct {
	name string
	fn   IndexFunc[T]

	// failure is the first error met by a write while the index was being
	// built. It is the fault of the index, not of the write.
	failure atomic.Pointer[IndexError]
}

// term is one value of one index.
type term[T any] struct {
	index *definition[T]
	value string
}

// define checks an index and returns its definition.
func define[T any](name string, fn IndexFunc[T]) (*definition[T], error) {
	switch {
	case name == "":
		return nil, errors.New("indexer: an index needs a name")
	case fn == nil:
		return nil, fmt.Errorf("indexer: index %q has no function", name)
	}
	return &definition[T]{name: name, fn: fn}, nil
}

// terms appends the terms of an object. It runs user code: no lock may be held.
func (d *definition[T]) terms(terms []term[T], key types.NamespacedName, object T) ([]term[T], *IndexError) {
	values, err := d.call(object)
	if err != nil {
		return terms, &IndexError{Index: d.name, Key: key, Err: err}
	}
	terms = slices.Grow(terms, len(values))
	for _, value := range values {
		terms = append(terms, term[T]{index: d, value: value})
	}
	return terms, nil
}

// call calls the index function and turns a panic into an error.
func (d *definition[T]) call(object T) (values []string, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = fmt.Errorf("panic: %w", p)
		default:
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return d.fn(object)
}

// indexOf returns the index with this definition, or nil if it was removed.
func (tx *transaction[T]) indexOf(d *definition[T]) *index[T] {
	for i := range tx.indexes {
		if tx.indexes[i].definition == d {
			return &tx.indexes[i]
		}
	}
	return nil
}

// AddIndex adds an index. When it returns nil, readers find every object in it
// (IX-11). It may be called at any time: the index function runs without a lock,
// writers go on and are held up only for moments, and readers don't see the
// index until it is complete.
//
// The error is [ErrIndexExists] if the name is taken, also by an index that is
// being added right now, or an [*IndexError] for an object on which the index
// function fails. Then nothing is added, and no write is harmed.
func (s *Store[T]) AddIndex(name string, fn IndexFunc[T]) error {
	d, err := define(name, fn)
	if err != nil {
		return err
	}
	// From the first step on, writes keep the index up to date. What was stored
	// before comes in by and by. The last step lets readers see it.
	start, err := s.commit(func(tx *transaction[T]) error {
		for i := range tx.indexes {
			if tx.indexes[i].name == name {
				return fmt.Errorf("%w: %q", ErrIndexExists, name)
			}
		}
		tx.indexes = append(tx.indexes, index[T]{definition: d})
		tx.generation++
		return nil
	})
	if err != nil {
		return err
	}
	err = s.backfill(d, start)
	_, _ = s.commit(func(tx *transaction[T]) error {
		if failure := d.failure.Load(); err == nil && failure != nil {
			err = failure
		}
		if err == nil {
			tx.indexOf(d).ready = true
			tx.generation++
		} else {
			tx.removeIndex(d)
		}
		return nil
	})
	return err
}

// backfillSize is how many entries a backfill changes at once. It bounds the
// time for which writers have to wait.
const backfillSize = 256

// backfill adds the terms of a new index to the entries of a snapshot. Objects
// that were written since have them already.
func (s *Store[T]) backfill(d *definition[T], start *Snapshot[T]) error {
	all := slices.AppendSeq(make([]*entry[T], 0, start.entries.len), start.entries.all)
	for chunk := range slices.Chunk(all, backfillSize) {
		terms := make([][]term[T], len(chunk))
		for i, e := range chunk {
			var err *IndexError
			if terms[i], err = d.terms(nil, e.key, e.value.object); err != nil {
				return err
			}
		}
		_, _ = s.commit(func(tx *transaction[T]) error {
			for i, e := range chunk {
				// It may be another entry with the same object, if another index is
				// being added as well.
				now := tx.entries.get(e.hash, e.key)
				if now != nil && now.value.revision == e.value.revision {
					extended := *now
					extended.value.terms = append(tx.liveTerms(now), terms[i]...)
					tx.put(&extended)
				}
			}
			return nil
		})
	}
	return nil
}

// RemoveIndex removes an index. Snapshots that were taken before keep it. The
// error is [ErrNoIndex].
func (s *Store[T]) RemoveIndex(name string) error {
	_, err := s.commit(func(tx *transaction[T]) error {
		x, err := tx.indexByName(name)
		if err != nil {
			return err
		}
		tx.removeIndex(x.definition)
		return nil
	})
	return err
}

// liveTerms returns the terms of an entry without those of removed indexes.
func (tx *transaction[T]) liveTerms(e *entry[T]) []term[T] {
	return slices.DeleteFunc(slices.Clone(e.value.terms), func(t term[T]) bool { return tx.indexOf(t.index) == nil })
}

// removeIndex takes an index out of the set. Its terms stay with the entries,
// unused, until an object is written again or the next index is added.
func (tx *transaction[T]) removeIndex(d *definition[T]) {
	tx.indexes = slices.DeleteFunc(tx.indexes, func(x index[T]) bool { return x.definition == d })
}
