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
	return s.write(ops, resourceVersion, advance, false)
}

// ApplyRelist is Apply for the outcome of a relist. The list says what there is
// and as of which version, so the store's version becomes that one even where it
// is lower: the cluster has been restored from a backup.
func (s *Store[T]) ApplyRelist(ops []Op[T], resourceVersion string) (revision uint64, err error) {
	return s.write(ops, resourceVersion, restart, false)
}

// Replace makes the ops the whole content of the store, as one transaction: a
// reader sees the old set or the new one, never a mixture (IX-13). Of several
// ops with one key the last counts. Otherwise it is as Apply; in particular an
// object that cannot be indexed is left out and what the store has under its key
// stays.
func (s *Store[T]) Replace(ops []Op[T], resourceVersion string) (revision uint64, err error) {
	return s.write(ops, resourceVersion, advance, true)
}

// prepared is what index functions say of ops. One op needs no allocation for it.
type prepared struct {
	terms []term // of all ops, one after another
	ends  []int  // where in terms those of each op end, or noEnd
}

// noEnd stands for the end of the terms of an op that cannot be indexed.
const noEnd = -1

// write is Apply with a rule for the version, and Replace where whole is set.
func (s *Store[T]) write(ops []Op[T], resourceVersion string, rule func(from, to string) string, whole bool) (uint64, error) {
	var started time.Time
	if s.observer.OnApplied != nil {
		started = time.Now()
	}
	var (
		terms    [4]term
		ends     [1]int
		failures IndexErrors
	)
	p := prepared{terms[:0], ends[:0]}
	e := s.engine
	for {
		definitions := s.definitions.Load()
		failures = prepare(&p, *definitions, ops)
		e.writing.Lock()
		if s.definitions.Load() == definitions {
			break
		}
		e.writing.Unlock() // An index was added, so its terms are missing.
	}
	e.begin()
	counts := perform(e, ops, &p)
	counts.Failed = uint64(len(failures))
	if whole {
		counts.Deleted += e.retain(failures)
	}
	e.next.counts.add(counts)
	e.next.resourceVersion = rule(e.next.resourceVersion, resourceVersion)
	now := e.publish()
	info := AppliedInfo{Counts: counts, ResourceVersion: now.resourceVersion, Revision: now.revision}
	e.unlock()

	s.waiters.wake(info.ResourceVersion)
	if s.observer.OnApplied != nil {
		info.Took = time.Since(started)
		s.observer.OnApplied(info)
	}
	if len(failures) > 0 {
		return info.Revision, failures
	}
	return info.Revision, nil
}

// prepare computes the terms of the ops and the errors of those that cannot be
// stored. It runs user code: no lock may be held.
func prepare[T any](p *prepared, definitions []definition[T], ops []Op[T]) (failures IndexErrors) {
	p.terms, p.ends = p.terms[:0], p.ends[:0]
	if len(ops) > cap(p.ends) {
		p.ends = make([]int, 0, len(ops))
	}
	for i := range ops {
		failure := prepareOne(p, definitions, &ops[i])
		if failure != nil {
			failures = append(failures, failure)
		}
	}
	return failures
}

func prepareOne[T any](p *prepared, definitions []definition[T], op *Op[T]) *IndexError {
	start := len(p.terms)
	if !op.Delete {
		for n := range definitions {
			d := &definitions[n]
			failure := d.terms(p, op.Key, op.Object)
			if failure != nil && d.ready {
				p.terms, p.ends = p.terms[:start], append(p.ends, noEnd)
				return failure
			}
			if failure != nil { // The op is good; the index will not be added.
				d.failure.CompareAndSwap(nil, failure)
			}
		}
	}
	p.ends = append(p.ends, len(p.terms))
	return nil
}

// perform does the ops, which have been prepared.
func perform[T any](e *engine, ops []Op[T], p *prepared) (counts Counts) {
	start := 0
	for i := range ops {
		op, end := &ops[i], p.ends[i]
		switch {
		case op.Delete:
			if e.delete(op.Key) {
				counts.Deleted++
			}
		case end == noEnd:
		case e.put(op.Key, op.Object, op.ResourceVersion, p.terms[start:end]):
			counts.Updated++
		default:
			counts.Added++
		}
		start = max(start, end)
	}
	return counts
}

// retain deletes what the transaction has not written, but for objects that it
// failed on.
func (e *engine) retain(failures IndexErrors) (deleted uint64) {
	failed := make(map[types.NamespacedName]struct{}, len(failures))
	for _, failure := range failures {
		failed[failure.Key] = struct{}{}
	}
	a := e.all.array.Load()
	if a == nil {
		return 0
	}
	for i := range a.slots[:a.used.Load()] {
		r := a.slots[i].Load()
		if r == nil || r.head.Load().revision == e.next.revision {
			continue
		}
		if _, ok := failed[r.key]; !ok && e.delete(r.key) {
			deleted++
		}
	}
	return deleted
}
