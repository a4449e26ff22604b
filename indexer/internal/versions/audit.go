package versions

import (
	"fmt"

	"github.com/kinform/kinform/internal/invariant"
)

// Audit counts what an engine keeps, for tests.
type Audit struct {
	Records    int // keys with an object in a revision that can be read
	Views      int // pinned views, other than the current one
	Changes    int // changes in the pinned views
	WaitedKeys int // keys with a channel of Notify

	MostTerms, MostPostings int // the maximum of all records
}

// Audit inspects everything that the engine keeps. It returns an error for a record in a wrong set,
// a wrong count, or a version that no view sees.
func (e *Engine) Audit() (a Audit, err error) {
	e.Lock()
	defer e.Unlock()
	for v := e.pinned; v != nil; v = v.following {
		a.Views++
		a.Changes += len(v.changes)
	}
	e.KeyWaiters.mu.Lock()
	a.WaitedKeys = len(e.KeyWaiters.byKey)
	waitedKeys := int(e.KeyWaiters.count.Load())
	e.KeyWaiters.mu.Unlock()

	mismatch := func(what string, got, want int) {
		if got != want && err == nil {
			err = fmt.Errorf("%s: the count is %d instead of %d", what, got, want)
		}
	}
	objects := 0
	sets, counts, inUse := map[*set]int{}, map[*Term]int{}, map[*Index]int{}
	slots := e.all.records.slots()
	for i := range slots {
		r := slots[i].Load()
		if r == nil {
			continue
		}
		a.Records++
		if invariant.Enabled {
			e.checkLocked(r)
		}
		head, postings := r.head.Load(), 0
		for p := r.postings; p != nil; p = p.next {
			sets[&p.term.records]++
			postings++
		}
		a.MostPostings = max(a.MostPostings, postings)
		a.MostTerms = max(a.MostTerms, len(*head.terms))
		sets[&r.namespace.records]++ // a record without a namespace is in the set of all records
		if r.namespace != &e.all {
			sets[&e.all.records]++
		}
		if head.deleted() {
			continue
		}
		objects++
		if r.namespace != &e.all {
			counts[r.namespace]++
		}
		for _, t := range *head.terms {
			counts[t]++
		}
	}
	mismatch("keys that are watched", waitedKeys, a.WaitedKeys)
	mismatch("records in the table", e.byKey.live, a.Records)
	mismatch("objects", e.current.Load().Objects, objects)
	for s, count := range sets {
		mismatch("records in a set", s.count, count)
	}
	for t, count := range counts {
		mismatch(fmt.Sprintf("objects with %q", t.value), t.objects, count)
		inUse[t.index]++
	}
	for x, count := range inUse {
		mismatch(fmt.Sprintf("values of index %q in use", x.Name), x.InUse(), count)
		x.terms.Range(func(value, t any) bool {
			if sets[&t.(*Term).records] == 0 && err == nil {
				err = fmt.Errorf("index %q keeps the value %q, which no version has", x.Name, value)
			}
			return true
		})
	}
	return a, err
}
