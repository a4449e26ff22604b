package indexer

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Op is one change: an object to be stored, or a key to be deleted.
type Op[T any] struct {
	Key types.NamespacedName

	// Object is stored as it is and belongs to the store and all its readers from
	// then on: nobody may modify it. ResourceVersion is its version. Both are
	// ignored where Delete is set.
	Object          T
	ResourceVersion string

	// Delete removes the key. It is no error if it is not there (IX-1).
	Delete bool
}

// Apply does all ops in their order as one transaction: a reader sees all of
// them or none, in the objects and in every index. An object that is there
// already is replaced (IX-1).
//
// resourceVersion is the version through which these ops make the store
// complete. "" and "0" say nothing about it. The store's version never goes down:
// an older one is ignored (D15). Where the two cannot be compared, because one
// of them is not a positive decimal number, the new one is taken.
//
// The error, of type [IndexErrors], has one [*IndexError] for each op whose object
// an index function failed on. Such an op is left out, and what the store has
// under its key stays (D13, IX-6); all other ops and the resourceVersion are
// applied (IX-17).
//
// revision is that of the first snapshot which has the ops. The slice is not
// retained.
func (s *Store[T]) Apply(ops []Op[T], resourceVersion string) (revision uint64, err error) {
	return s.write(ops, resourceVersion, (*transaction[T]).advance, false)
}

// ApplyRelist is Apply for the outcome of a relist. The list says what there is
// and as of which version, so the store's version becomes that one even where it
// is lower: the cluster has been restored from a backup.
func (s *Store[T]) ApplyRelist(ops []Op[T], resourceVersion string) (revision uint64, err error) {
	return s.write(ops, resourceVersion, (*transaction[T]).restart, false)
}

// Replace makes the ops the whole content of the store, as one transaction: a
// reader sees the old set or the new one, never a mixture (IX-13). Of several
// ops with one key the last counts. Otherwise it is as Apply; in particular an
// object that cannot be indexed is left out and what the store has under its key
// stays.
func (s *Store[T]) Replace(ops []Op[T], resourceVersion string) (revision uint64, err error) {
	return s.write(ops, resourceVersion, (*transaction[T]).advance, true)
}

// write is Apply with a rule for the version, and Replace where whole is set.
func (s *Store[T]) write(ops []Op[T], resourceVersion string, advance func(*transaction[T], string), whole bool) (uint64, error) {
	var started time.Time
	if s.observer.OnApplied != nil {
		started = time.Now()
	}
	for {
		base := s.current.Load()
		prepared, failures := base.prepare(ops)
		counts := Counts{Failed: uint64(len(failures))}
		next, err := s.commit(func(tx *transaction[T]) error {
			if tx.generation != base.generation {
				return errStale
			}
			if whole {
				tx.retain(ops, &counts)
			}
			tx.apply(ops, prepared, &counts)
			tx.counts.add(counts)
			advance(tx, resourceVersion)
			return nil
		})
		if err != nil {
			continue // An index was added, so the entries lack its terms.
		}
		if s.observer.OnApplied != nil {
			s.observer.OnApplied(AppliedInfo{
				Counts:          counts,
				ResourceVersion: next.resourceVersion,
				Revision:        next.revision,
				Took:            time.Since(started),
			})
		}
		if len(failures) > 0 {
			return next.revision, failures
		}
		return next.revision, nil
	}
}

// prepare makes the entries that the ops store, and the errors of those that
// cannot be stored. An op that deletes or fails has no entry. It runs user code:
// no lock may be held.
func (s *Snapshot[T]) prepare(ops []Op[T]) (prepared []*entry[T], failures IndexErrors) {
	prepared = make([]*entry[T], len(ops))
	for i := range ops {
		op := &ops[i]
		if op.Delete {
			continue
		}
		terms, err := s.terms(op)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		prepared[i] = &entry[T]{
			hash:  s.hash(op.Key),
			key:   op.Key,
			value: record[T]{object: op.Object, resourceVersion: op.ResourceVersion, terms: terms},
		}
	}
	return prepared, failures
}

// terms computes the terms of an op's object in all indexes.
func (s *Snapshot[T]) terms(op *Op[T]) (terms []term[T], err *IndexError) {
	for i := range s.indexes {
		x := &s.indexes[i]
		more, failure := x.terms(terms, op.Key, op.Object)
		switch {
		case failure == nil:
			terms = more
		case x.ready:
			return nil, failure
		default: // The op is good; the index will not be added.
			x.failure.CompareAndSwap(nil, failure)
		}
	}
	return terms, nil
}

// apply does the ops, whose entries have been prepared.
func (tx *transaction[T]) apply(ops []Op[T], prepared []*entry[T], counts *Counts) {
	for i := range ops {
		if ops[i].Delete {
			if tx.delete(ops[i].Key) != nil {
				counts.Deleted++
				tx.touched = append(tx.touched, ops[i].Key)
			}
			continue
		}
		e := prepared[i]
		if e == nil { // The op has failed.
			continue
		}
		e.value.revision = tx.revision
		tx.touched = append(tx.touched, e.key)
		if tx.put(e) == nil {
			counts.Added++
		} else {
			counts.Updated++
		}
	}
}

// retain deletes all entries that no op is about.
func (tx *transaction[T]) retain(ops []Op[T], counts *Counts) {
	named := make(map[types.NamespacedName]struct{}, len(ops))
	for i := range ops {
		named[ops[i].Key] = struct{}{}
	}
	for key := range tx.Keys() {
		if _, ok := named[key]; !ok {
			tx.delete(key)
			tx.touched = append(tx.touched, key)
			counts.Deleted++
		}
	}
}
