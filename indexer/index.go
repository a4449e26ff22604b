package indexer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/kinform/kinform/indexer/internal/versions"
	"github.com/kinform/kinform/internal/contain"
)

// IndexFunc returns the values of an object in an index. If it returns no values, the object is not
// in the index. A value that it returns twice counts once (IX-5).
//
// It must not modify the object, and must always return the same values for the same object. It
// runs with no lock held, possibly in several goroutines at once, and more than once for one write.
// If it returns an error or panics, the write reports an [*IndexError].
type IndexFunc[T any] func(obj T) ([]string, error)

// definition is an index of a store with its function. Readers see the index only when its flag
// ready is set.
type definition[T any] struct {
	*versions.Index
	fn    IndexFunc[T]
	ready bool

	// failure is the first error of the index function on an object that was written while the
	// index was being built. AddIndex returns it; the write does not.
	failure *atomic.Pointer[IndexError]
}

// newDefinition validates an index.
func newDefinition[T any](name string, fn IndexFunc[T]) (definition[T], error) {
	switch {
	case name == "":
		return definition[T]{}, errors.New("indexer: an index needs a name")
	case fn == nil:
		return definition[T]{}, fmt.Errorf("indexer: index %q has no function", name)
	}
	return definition[T]{Index: &versions.Index{Name: name}, fn: fn, failure: new(atomic.Pointer[IndexError])}, nil
}

// evaluate appends the index values of an object. If an index function fails, evaluate returns the
// error, the index of the failed definition, and the values of the functions before it. It runs
// user code, so its caller must hold no lock.
func evaluate[T any](to []versions.IndexValue, definitions []definition[T], object T) (terms []versions.IndexValue, failed int, err error) {
	terms = to
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = fmt.Errorf("panic: %w", contain.SafeError(p))
		default:
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	for ; failed < len(definitions); failed++ {
		d := &definitions[failed]
		values, err := d.fn(object)
		if err != nil {
			return terms, failed, contain.SafeError(err)
		}
		for _, value := range values {
			terms = append(terms, versions.IndexValue{Index: d.Index, Value: value})
		}
	}
	return terms, failed, nil
}

// redefine changes the definitions, and publishes the indexes that are ready. It makes a new slice
// each time: a write compares the address of the slice to see whether its terms are still complete.
func (s *Store[T]) redefine(change func([]definition[T]) ([]definition[T], error)) error {
	s.source.Engine.Lock()
	defer s.source.Engine.Unlock()
	definitions, err := change(slices.Clone(*s.definitions.Load()))
	if err != nil {
		return err
	}
	s.definitions.Store(&definitions)
	s.source.Engine.Begin(0).Indexes = readyIndexes(definitions)
	s.source.Engine.Publish()
	return nil
}

// readyIndexes returns the indexes that readers may see, by name.
func readyIndexes[T any](definitions []definition[T]) []*versions.Index {
	var all []*versions.Index
	for _, d := range definitions {
		if d.ready {
			all = append(all, d.Index)
		}
	}
	slices.SortFunc(all, func(a, b *versions.Index) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// AddIndex adds an index. When it returns nil, readers find every object in the index (IX-11). It
// may be called at any time. The index function runs without a lock, writers wait only for moments,
// and readers don't see the index until it is complete.
//
// The error is [ErrIndexExists] if an index of this name exists or is being added. It is an
// [*IndexError] if the index function fails on an object. Then AddIndex adds no index, and no write
// fails because of it.
func (s *Store[T]) AddIndex(name string, fn IndexFunc[T]) error {
	added, err := newDefinition(name, fn)
	if err != nil {
		return err
	}
	// From this step on, writes keep the index up to date. Then backfill adds the objects that were
	// stored before. The last step makes the index visible to readers.
	err = s.redefine(func(all []definition[T]) ([]definition[T], error) {
		if slices.ContainsFunc(all, func(d definition[T]) bool { return d.Name == name }) {
			return nil, fmt.Errorf("%w: %q", ErrIndexExists, name)
		}
		return append(all, added), nil
	})
	if err != nil {
		return err
	}
	err = s.backfill(&added)
	_ = s.redefine(func(all []definition[T]) ([]definition[T], error) {
		if failure := added.failure.Load(); err == nil && failure != nil {
			err = failure
		}
		at := slices.IndexFunc(all, func(d definition[T]) bool { return d.Index == added.Index })
		if err != nil {
			added.Removed = true
			return slices.Delete(all, at, at+1), nil
		}
		all[at].ready = true
		return all, nil
	})
	return err
}

// backfillSize is the number of records that a backfill changes while it holds the lock once. It
// limits how long writers wait.
const backfillSize = 256

// backfill adds the terms of a new index to the stored objects. Objects that are written after
// redefine have these terms already.
func (s *Store[T]) backfill(d *definition[T]) error {
	view := s.source.Enter()
	defer s.source.Leave(view)
	chunk := make([]versions.Extension, 0, backfillSize)
	slots, all := s.source.Walk(view, "", "")
	for i := range slots {
		r := slots[i].Load()
		if r == nil {
			continue
		}
		v := r.At(view.Revision)
		if !v.In(all) {
			continue
		}
		found, _, err := evaluate(nil, []definition[T]{*d}, objectOf[T](v))
		if err != nil {
			return &IndexError{Index: d.Name, Key: r.Key, Err: err}
		}
		if chunk = append(chunk, versions.Extension{Record: r, Revision: v.Revision, Found: found}); len(chunk) == backfillSize {
			s.extend(chunk)
			chunk = chunk[:0]
		}
	}
	s.extend(chunk)
	return nil
}

// extend adds the terms to the objects, under the writers' lock.
func (s *Store[T]) extend(extensions []versions.Extension) {
	s.source.Engine.Lock()
	defer s.source.Engine.Unlock()
	s.source.Engine.Extend(extensions)
}

// RemoveIndex removes an index. Earlier snapshots keep it. The store drops the index's values of an
// object when the object is next written, or when an index is added. So it never keeps values of
// more indexes than existed at one time. The error is [ErrNoIndex].
func (s *Store[T]) RemoveIndex(name string) error {
	return s.redefine(func(all []definition[T]) ([]definition[T], error) {
		at := slices.IndexFunc(all, func(d definition[T]) bool { return d.ready && d.Name == name })
		if at < 0 {
			return nil, noIndex(name, readyIndexes(all))
		}
		all[at].Removed = true
		return slices.Delete(all, at, at+1), nil
	})
}
