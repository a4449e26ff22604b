package indexer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// IndexFunc returns the values under which an object is to be found. No value
// leaves the object out of the index, a value given twice counts once (IX-5).
//
// It must not modify the object, and must give the same answer for the same
// object. It runs without any lock held, possibly in several goroutines at once
// and more than once for one write. An error or a panic is reported as an
// [*IndexError].
type IndexFunc[T any] func(obj T) ([]string, error)

// definition is an index of a store and its function. Readers find the index in
// views once it is ready.
type definition[T any] struct {
	*index
	fn    IndexFunc[T]
	ready bool
}

// define checks an index.
func define[T any](name string, fn IndexFunc[T]) (definition[T], error) {
	switch {
	case name == "":
		return definition[T]{}, errors.New("indexer: an index needs a name")
	case fn == nil:
		return definition[T]{}, fmt.Errorf("indexer: index %q has no function", name)
	}
	return definition[T]{index: &index{name: name}, fn: fn}, nil
}

// collect appends the terms of an object by all indexes, or by those before the
// first one that fails: then there is an error, and failed is which one that is. It
// runs user code: no lock may be held.
func collect[T any](to []term, definitions []definition[T], object T) (terms []term, failed int, err error) {
	terms = to
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = fmt.Errorf("panic: %w", p)
		default:
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	for ; failed < len(definitions); failed++ {
		d := &definitions[failed]
		values, err := d.fn(object)
		if err != nil {
			return terms, failed, err
		}
		for _, value := range values {
			terms = append(terms, term{index: d.index, value: value})
		}
	}
	return terms, failed, nil
}

// redefine changes the definitions, and publishes the indexes that are ready. The
// definitions are made anew each time, so that a write knows by their address
// whether the terms it has computed are still the right ones.
func (s *Store[T]) redefine(change func([]definition[T]) ([]definition[T], error)) error {
	s.engine.lock()
	defer s.engine.unlock()
	definitions, err := change(slices.Clone(*s.definitions.Load()))
	if err != nil {
		return err
	}
	s.definitions.Store(&definitions)
	s.engine.begin(0)
	s.engine.next.indexes = ready(definitions)
	s.engine.publish()
	return nil
}

// ready returns the indexes that readers may see, by name.
func ready[T any](definitions []definition[T]) []*index {
	var all []*index
	for _, d := range definitions {
		if d.ready {
			all = append(all, d.index)
		}
	}
	slices.SortFunc(all, func(a, b *index) int { return strings.Compare(a.name, b.name) })
	return all
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
	added, err := define(name, fn)
	if err != nil {
		return err
	}
	// From the first step on, writes keep the index up to date. What was stored
	// before comes in by and by. The last step lets readers see it.
	err = s.redefine(func(all []definition[T]) ([]definition[T], error) {
		if slices.ContainsFunc(all, func(d definition[T]) bool { return d.name == name }) {
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
		at := slices.IndexFunc(all, func(d definition[T]) bool { return d.index == added.index })
		if err != nil {
			added.removed = true
			return slices.Delete(all, at, at+1), nil
		}
		all[at].ready = true
		return all, nil
	})
	return err
}

// backfillSize is how many records a backfill changes at once. It bounds the
// time for which writers have to wait.
const backfillSize = 256

// backfill adds the terms of a new index to what is stored. Objects that are
// written meanwhile have them already.
func (s *Store[T]) backfill(d *definition[T]) error {
	view := s.enter()
	defer s.leave(view)
	chunk := make([]extension, 0, backfillSize)
	slots, bucket := s.walk(view, "", "")
	for i := range slots {
		r := slots[i].Load()
		if r == nil {
			continue
		}
		v := r.at(view.revision)
		if !v.in(bucket) {
			continue
		}
		found, _, err := collect(nil, []definition[T]{*d}, objectOf[T](v))
		if err != nil {
			return &IndexError{Index: d.name, Key: r.key, Err: err}
		}
		if chunk = append(chunk, extension{r, v.revision, found}); len(chunk) == backfillSize {
			s.extend(chunk)
			chunk = chunk[:0]
		}
	}
	s.extend(chunk)
	return nil
}

// extend is [engine.extend], in a turn of its own.
func (s *Store[T]) extend(extensions []extension) {
	s.engine.lock()
	defer s.engine.unlock()
	s.engine.extend(extensions)
}

// RemoveIndex removes an index. Snapshots that were taken before keep it. The store
// forgets an object's values of it when the object is next written, or when an index is
// added: so it never keeps values of more indexes than there were at once. The error is
// [ErrNoIndex].
func (s *Store[T]) RemoveIndex(name string) error {
	return s.redefine(func(all []definition[T]) ([]definition[T], error) {
		at := slices.IndexFunc(all, func(d definition[T]) bool { return d.ready && d.name == name })
		if at < 0 {
			return nil, noIndex(name, ready(all))
		}
		all[at].removed = true
		return slices.Delete(all, at, at+1), nil
	})
}
