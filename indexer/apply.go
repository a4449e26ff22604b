package indexer

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer/internal/versions"
)

// Op is one change: it stores an object, or deletes a key.
type Op[T any] struct {
	Key types.NamespacedName

	// Object is stored without a copy. From then on it belongs to the store and all its readers:
	// nobody may modify it. ResourceVersion is its version, and UIDHash stands for its UID, as in
	// listwatch.Item. Readers get both unchanged. All three fields are ignored if Delete is set.
	Object          T
	ResourceVersion string
	UIDHash         uint64

	// Delete removes the key. It is not an error if the store does not have the key (IX-1).
	Delete bool
}

// Apply does all ops in order as one transaction: a reader sees all of them or no change, in the
// objects and in every index. An op with an object replaces the key's stored object.
//
// resourceVersion is the version through which the store is complete after these ops. "" and "0"
// mean that the writer does not know it. If there are several writers, only a writer that knows the
// versions of the others may pass it. Apply ignores a version that is lower than the store's
// version. If one of the two versions is not a positive decimal number, they cannot be compared,
// and Apply sets the new version.
//
// If an index function fails on an object, Apply leaves out this op, and the store keeps its state
// of the key. Apply does all other ops, and sets the resourceVersion (IX-17). The error, of type
// [IndexErrors], has one [*IndexError] for each op that was left out.
//
// revision is the revision of the first snapshot that has the ops. Apply does not keep the slice.
func (s *Store[T]) Apply(ops []Op[T], resourceVersion string) (revision uint64, err error) {
	return s.write(ops, resourceVersion, advanceVersion, false)
}

// ApplyRelist is Apply for the result of a relist. The store's version becomes the version of the
// list, even if that version is lower: then the cluster has been restored from a backup.
func (s *Store[T]) ApplyRelist(ops []Op[T], resourceVersion string) (revision uint64, err error) {
	return s.write(ops, resourceVersion, replaceVersion, false)
}

// Replace makes the ops the whole content of the store, as one transaction. A reader sees the old
// set or the new set, never a mixture (IX-13). If several ops have the same key, the last op
// counts. Otherwise Replace is like Apply: if an object cannot be indexed, the store keeps its
// state of the key.
func (s *Store[T]) Replace(ops []Op[T], resourceVersion string) (revision uint64, err error) {
	return s.write(ops, resourceVersion, advanceVersion, true)
}

// noEnd marks an op whose object cannot be indexed. It takes the place of the op's end in ends.
const noEnd = -1

// write implements Apply and, if the argument whole is true, Replace. versionRule returns the
// store's new version.
func (s *Store[T]) write(ops []Op[T], resourceVersion string, versionRule func(from, to string) string, whole bool) (uint64, error) {
	var started time.Time
	if s.observer.OnApplied != nil {
		started = time.Now()
	}
	// The terms of a single op need no allocation: BenchmarkApplySameTerms.
	var (
		fewTerms [4]versions.IndexValue
		oneEnd   [1]int
		terms    []versions.IndexValue // of all ops, one after another
		ends     []int                 // for each op, the end of its terms, or noEnd
		failures IndexErrors
	)
	e := s.source.Engine
	for {
		definitions := s.definitions.Load()
		terms, ends, failures = prepare(fewTerms[:0], oneEnd[:0], *definitions, ops)
		e.Lock()
		if s.definitions.Load() == definitions {
			break
		}
		e.Unlock() // an index was added meanwhile, so the ops lack its terms
	}
	next := e.Begin(len(ops))
	next.ResourceVersion = versionRule(next.ResourceVersion, resourceVersion)
	revision, reached := next.Revision, next.ResourceVersion
	var done versions.Counts
	if len(ops) == 1 && !whole && ends[0] != noEnd && !ops[0].Delete {
		done.Put(e.PutOnly(ops[0].Key, &versions.Version{Object: ops[0].Object, ResourceVersion: ops[0].ResourceVersion, UIDHash: ops[0].UIDHash}, terms))
	} else {
		done = perform(e, ops, terms, ends)
		done.Failed = uint64(len(failures))
		if whole {
			done.Deleted += e.Retain(failures.keys())
		}
		next.Counts.Add(done)
		e.Publish()
	}
	e.Unlock()

	if s.waiters.count.Load() > 0 {
		s.waiters.wake(s.ResourceVersion)
	}
	if s.observer.OnApplied != nil {
		s.observer.OnApplied(AppliedInfo{Counts: Counts(done), ResourceVersion: reached, Revision: revision, Took: time.Since(started)})
	}
	if len(failures) > 0 {
		return revision, failures
	}
	return revision, nil
}

// prepare computes the index values of the ops, and returns the errors of ops that cannot be
// stored. It appends to the given slices. It runs user code, so its caller must hold no lock.
func prepare[T any](terms []versions.IndexValue, ends []int, definitions []definition[T], ops []Op[T]) ([]versions.IndexValue, []int, IndexErrors) {
	if len(ops) > cap(ends) {
		ends = make([]int, 0, len(ops))
	}
	var failures IndexErrors
	for i := range ops {
		op, start, end := &ops[i], len(terms), 0
		for from := definitions; len(from) > 0 && !op.Delete && end != noEnd; {
			var failed int
			var err error
			if terms, failed, err = evaluate(terms, from, op.Object); err == nil {
				break
			}
			d := &from[failed]
			failure := &IndexError{Index: d.Name, Key: op.Key, Err: err}
			if d.ready {
				failures = append(failures, failure)
				terms, end = terms[:start], noEnd
			} else { // the op is valid, and the index will not be added
				d.failure.CompareAndSwap(nil, failure)
			}
			from = from[failed+1:]
		}
		if end != noEnd {
			end = len(terms)
		}
		ends = append(ends, end)
	}
	return terms, ends, failures
}

// perform executes the prepared ops.
func perform[T any](e *versions.Engine, ops []Op[T], terms []versions.IndexValue, ends []int) (done versions.Counts) {
	start := 0
	for i := range ops {
		op, end := &ops[i], ends[i]
		switch {
		case op.Delete:
			if e.Delete(op.Key) {
				done.Deleted++
			}
		case end != noEnd:
			done.Put(e.Put(op.Key, &versions.Version{Object: op.Object, ResourceVersion: op.ResourceVersion, UIDHash: op.UIDHash}, terms[start:end]))
		}
		start = max(start, end)
	}
	return done
}
