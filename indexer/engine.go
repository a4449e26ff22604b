package indexer

import (
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/invariant"
)

// engine is the store without its types, so that a program has its code once
// however many stores there are.
//
// Each key has a record with the versions of its object that somebody can see.
// Readers pin a view, which names a revision, and of each record read the newest
// version that is not newer than that. One writer at a time makes the next
// revision: it puts new versions in front of the old, which changes nothing for
// readers, and then publishes a view that makes all of them visible at once.
type engine struct {
	records table    // every Get looks at this
	_       [64]byte // so that what a transaction changes is in other lines of the caches

	current    atomic.Pointer[view]
	all        bucket // of the records; it stands for the namespace of those that have none
	namespaces index  // of the others
	watches    watches

	// released is set by the last reader of a view that is not the current one.
	released atomic.Bool

	// writing serialises transactions. No user code runs under it. It guards the
	// following, and what only writers look at in records, tables and lists.
	writing sync.Mutex
	next    *view    // the one in the making, in a transaction
	touched []change // by the transaction, each record once
	pinned  *view    // the newest that is not current and was pinned when last looked at
	free    *view    // one that nobody uses
	spare   *place   // some that no record uses
	spares  int      // how many of these
}

// roomKept is the length up to which a slice that served its purpose is kept for
// the next one.
const roomKept = 1024

func newEngine(indexes []*index) *engine {
	e := &engine{records: table{hasher: newHasher()}}
	e.all.list.kind = ofAll
	e.current.Store(&view{state: state{indexes: indexes}})
	return e
}

// setHead makes a version the newest one of its record, which has this slot.
func setHead(s *slot, v *version) {
	v.record.head.Store(v)
	s.Store(v)
}

// orNil returns the version if there is an object, or else nil.
func (v *version) orNil() *version {
	if v == nil || v.deleted {
		return nil
	}
	return v
}

// unlock ends a writer's turn.
func (e *engine) unlock() {
	e.writing.Unlock()
	e.tidy()
}

// begin starts a transaction of about so many changes. The caller has locked writing.
func (e *engine) begin(changes int) {
	e.touched = slices.Grow(e.touched, changes)
	if e.next = e.free; e.next == nil {
		e.next = new(view)
	}
	e.free = e.next.following
	e.next.state = e.current.Load().state
	e.next.revision++
}

// put stores an object with the terms that were found for it, and reports whether
// there was one.
func (e *engine) put(key types.NamespacedName, object any, resourceVersion string, found []term) (existed bool) {
	v := &version{name: key.Name, object: object, resourceVersion: resourceVersion, revision: e.next.revision}
	s, old := e.records.find(key)
	if old == nil {
		e.create(v, key.Namespace)
		v.terms = termsOf(found, noTerms)
		e.supersede(nil, nil, v)
		e.records.add(v)
		return false
	}
	v.record, v.namespace = old.record, old.namespace
	v.terms = termsOf(found, old.terms)
	return e.supersede(s, old, v)
}

// create makes the record of a first version.
func (e *engine) create(v *version, namespace string) {
	v.record = new(record)
	v.record.inAll = e.all.list.add(v.record)
	if v.namespace = &e.all; namespace != "" {
		v.namespace = e.namespaces.make(namespace)
		v.record.inNamespace = v.namespace.list.add(v.record)
	}
}

// delete removes the object of a key and reports whether there was one (IX-1).
func (e *engine) delete(key types.NamespacedName) (existed bool) {
	s, old := e.records.find(key)
	if old.orNil() == nil {
		return false
	}
	return e.supersede(s, old, &version{
		name: old.name, namespace: old.namespace, record: old.record, revision: e.next.revision, terms: noTerms, deleted: true,
	})
}

// termsOf returns what was found as terms. Most objects have the same ones as
// before, which then are used again.
func termsOf(found []term, had *terms) *terms {
	same := len(found) == len(*had)
	for i := 0; same && i < len(found); i++ {
		b := (*had)[i]
		same = b.index == found[i].index && b.value == found[i].value
	}
	if same {
		return had
	}
	var room [4]*bucket
	return intern(buckets(room[:0], found))
}

// buckets appends the buckets of what was found, unless they are there.
func buckets(to terms, found []term) terms {
	for _, t := range found {
		if b := t.index.make(t.value); !slices.Contains(to, b) {
			to = append(to, b)
		}
	}
	return to
}

// supersede puts a version in front of the newest one of its record, which is nil
// for a new record, as is its slot, and reports whether that was an object.
func (e *engine) supersede(s *slot, old, v *version) (existed bool) {
	existed = old.orNil() != nil
	r := v.record
	again := old != nil && old.revision == v.revision // in this transaction
	if again {
		v.older.Store(old.older.Load())
	} else {
		v.older.Store(old)
		e.touched = append(e.touched, change{r, old})
	}
	moved := old == nil || !sameTerms(old, v)
	if moved {
		for _, b := range *v.terms {
			e.join(r, &b.list)
			b.count(1)
		}
	}
	if old == nil {
		r.head.Store(v)
	} else {
		setHead(s, v)
	}
	if old != nil && moved {
		for _, b := range *old.terms {
			b.count(-1)
		}
		if again {
			e.unlist(r, old)
		}
	}
	if existed == v.deleted {
		e.countObject(v)
	}
	return existed
}

// countObject counts an object that has come, or gone where the version says so.
func (e *engine) countObject(v *version) {
	by := 1
	if v.deleted {
		by = -1
	}
	e.next.objects += by
	if v.namespace != &e.all {
		v.namespace.count(by)
	}
}

// publish makes the transaction visible, in one step, and returns its view, which
// is the caller's until writing is unlocked. It drops the versions that nobody
// can see from now on.
func (e *engine) publish() *view {
	last, now := e.current.Load(), e.next
	e.next = nil
	e.current.Store(now)
	if last.pins.Load() > 0 {
		last.following, e.pinned = e.pinned, last
	} else {
		last.following, e.free = e.free, last
	}
	watched := e.watches.count.Load() > 0
	for _, c := range e.touched {
		head := c.record.head.Load()
		head.settled.Store(true)
		if watched {
			e.watches.tell(head.key())
		}
		if head.never() {
			e.drop(c)
		} else {
			e.pass(c, e.pinned)
		}
	}
	if invariant.Enabled {
		for _, c := range e.touched {
			e.checkLocked(c.record)
		}
	}
	e.touched = emptied(e.touched)
	return now
}

// pass gives a change to a view for which it is one, to be kept until that is
// released, or else drops it.
func (e *engine) pass(c change, to *view) {
	if to != nil && c.concerns(to) {
		to.note(c)
	} else {
		e.drop(c)
	}
}

// emptied returns a slice without its elements, and without its room if there is
// much.
func emptied(changes []change) []change {
	if cap(changes) > roomKept {
		return nil
	}
	clear(changes)
	return changes[:0]
}

// never reports whether the newest version says that there is no object, and none
// before it says otherwise.
func (v *version) never() bool { return v.deleted && v.older.Load() == nil }

// drop forgets the old version of a change, which nobody can see. A record
// without any object goes with it.
func (e *engine) drop(c change) {
	r := c.record
	if c.old != nil {
		r.unlink(c.old)
		e.unlist(r, c.old)
	}
	if r.head.Load().never() && r.inAll != nowhere {
		e.erase(r)
	}
}

// unlist takes a record out of the buckets that only this version of it, which is
// no longer one of its versions, belonged to.
func (e *engine) unlist(r *record, old *version) {
	if sameTerms(old, r.head.Load()) {
		return
	}
	for _, b := range *old.terms {
		if !r.carries(b) {
			e.leave(r, &b.list)
			b.dropIfEmpty()
		}
	}
}

// erase takes a record out of everything.
func (e *engine) erase(r *record) {
	last := r.head.Load()
	e.records.remove(last)
	for p := r.places; p != nil; p = p.next {
		p.list.remove(p.at)
	}
	if last.namespace != &e.all {
		last.namespace.list.remove(r.inNamespace)
		last.namespace.dropIfEmpty()
	}
	e.all.list.remove(r.inAll)
	r.inAll, r.places = nowhere, nil
}
