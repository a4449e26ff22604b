package indexer

import (
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/invariant"
)

// engine is the store without its types, so that a program has its code once however
// many stores there are. plain/store.go has an RWMutex and maps, so that readers and
// writers wait for each other: a write beside a list of everything takes 213.1 µs
// there, 0.5 µs here (plain/README.md).
//
// Each key has a record with the versions of its object that somebody can see.
// Readers pin a view, which names a revision, and of each record read the newest
// version that is not newer than that. One writer at a time makes the next
// revision: it puts new versions in front of the old, which changes nothing for
// readers, and then publishes a view that makes all of them visible at once.
type engine struct {
	records table    // every Get looks at this
	_       [64]byte // keeps the fields that writers change off the cache line of records: BenchmarkGetUnderWrites

	current    atomic.Pointer[view]
	all        bucket // of the records; it stands for the namespace of those that have none
	namespaces index  // of the others
	watches    watches

	// published is no higher than the revision of the current view, and the same while
	// views are pinned that are not the current one.
	published atomic.Uint64

	// writing serialises transactions. No user code runs under it. It guards the
	// following, and the fields of records, tables and lists that only writers look at.
	writing turn
	next    *view    // the one in the making, in a transaction
	touched []change // by the transaction, each record once
	pinned  *view    // the newest that is not current and was pinned when last looked at
	free    *view    // one that nobody uses
	spare   *place   // some that no record uses
	spares  int      // how many of these

	// mark is the last one that was put on the buckets of a set, so that whether others are
	// in that set is seen without a search: an object may have as many values as whoever
	// may write it likes.
	mark uint64
}

// roomKept is the length up to which a slice that served its purpose is kept for
// the next one.
const roomKept = 1024

func newEngine(indexes []*index) *engine {
	e := &engine{records: table{hasher: newHasher()}}
	e.writing.init()
	e.all.list.kind = ofAll
	e.current.Store(&view{state: state{indexes: indexes}})
	return e
}

// settled reports whether the transaction of a version is known to have been published.
// Before that, an older version follows it, which is unborn for a new key; afterwards,
// only versions follow that a pinned view sees.
func (e *engine) settled(v *version) bool {
	return v.older.Load() == nil || v.revision <= e.published.Load()
}

// lock waits for the turn to write. unlock must follow.
func (e *engine) lock() { e.writing.lock() }

// unlock ends it.
func (e *engine) unlock() {
	if !e.writing.release() {
		e.unlockSlow()
	}
}

// unlockSlow collects if another goroutine has asked for that meanwhile, and then ends
// the turn.
//
//go:noinline
func (e *engine) unlockSlow() {
	for e.writing.pass() {
		e.collectLocked()
	}
}

// begin starts a transaction of about so many changes. The caller has the turn to write.
func (e *engine) begin(changes int) {
	e.touched = slices.Grow(e.touched, changes)
	if e.next = e.free; e.next == nil {
		e.next = new(view)
	}
	e.free = e.next.following
	e.next.state = e.current.Load().state
	e.next.revision++
}

// put stores a version, which has its object, with the terms that were found for that,
// and reports whether there was an object.
func (e *engine) put(key types.NamespacedName, v *version, found []term) (existed bool) {
	r, old := e.succeed(key, v, found)
	return e.supersede(r, old, v)
}

// putOnly is put and publish for the only op of a transaction. It is short where the
// object keeps its terms, as most do.
func (e *engine) putOnly(key types.NamespacedName, v *version, found []term) (existed bool) {
	r, old := e.succeed(key, v, found)
	if v.terms != old.terms {
		existed = e.supersede(r, old, v)
		e.next.counts.put(existed)
		e.publish()
		return existed
	}
	v.older.Store(old)
	r.head.Store(v)
	e.next.counts.put(true)
	e.show()
	e.settle(change{r, old})
	return true
}

// succeed completes the version that is to come after the newest one of a key, which
// it returns with the record.
func (e *engine) succeed(key types.NamespacedName, v *version, found []term) (r *record, old *version) {
	if r = e.records.find(key); r == nil {
		r = e.create(key)
	}
	old = r.head.Load()
	v.revision, v.terms = e.next.revision, old.terms
	if !v.terms.are(found) {
		v.terms = e.termsOf(found)
	}
	return r, old
}

// create makes the record of a key.
func (e *engine) create(key types.NamespacedName) *record {
	r := &record{key: key, namespace: &e.all}
	r.head.Store(unborn) // readers find it as soon as the record is in a list
	if key.Namespace != "" {
		r.namespace = e.namespaces.make(key.Namespace)
		r.key.Namespace = r.namespace.value // so that all of a namespace share a string
		r.inNamespace = r.namespace.list.add(r)
	}
	r.inAll = e.all.list.add(r)
	e.records.add(r)
	return r
}

// delete removes the object of a key and reports whether there was one (IX-1).
func (e *engine) delete(key types.NamespacedName) (existed bool) {
	r := e.records.find(key)
	if r == nil || r.head.Load().deleted() {
		return false
	}
	return e.supersede(r, r.head.Load(), &version{revision: e.next.revision, terms: absent})
}

// are reports whether the found terms are just these. Most objects have the same terms
// as before, which are then used again.
func (t *terms) are(found []term) bool {
	if t == absent || len(found) != len(*t) {
		return false
	}
	for i, b := range *t {
		if b.index != found[i].index || b.value != found[i].value {
			return false
		}
	}
	return true
}

// termsOf returns the found terms as terms of a version.
func (e *engine) termsOf(found []term) *terms {
	var room [4]*bucket
	return intern(e.buckets(room[:0], found))
}

// buckets appends the buckets of the found terms, unless they are there.
func (e *engine) buckets(to terms, found []term) terms {
	e.mark++
	for _, b := range to {
		b.mark = e.mark
	}
	for _, t := range found {
		if b := t.index.make(t.value); b.mark != e.mark {
			b.mark = e.mark
			to = append(to, b)
		}
	}
	return to
}

// supersede puts a version in front of the newest one of a record, and reports
// whether that was an object.
func (e *engine) supersede(r *record, old, v *version) (existed bool) {
	before := old
	again := old.revision == v.revision // in this transaction
	if again {
		before = old.older.Load()
	} else {
		e.touched = append(e.touched, change{r, old})
	}
	v.older.Store(before)
	if v.terms == old.terms {
		r.head.Store(v)
		return true
	}
	e.change(r, old, v)
	if again {
		e.unlist(r, old)
	}
	if existed = !old.deleted(); existed == v.deleted() {
		e.countObject(r, v)
	}
	return existed
}

// change makes a version the newest one of a record, instead of one with other terms. The
// record stays in the lists of the values that it had.
func (e *engine) change(r *record, old, v *version) {
	e.join(r, *v.terms)
	for _, b := range *v.terms {
		b.count(1)
	}
	r.head.Store(v)
	for _, b := range *old.terms {
		b.count(-1)
	}
}

// countObject counts an object that has come, or gone where the version says so.
func (e *engine) countObject(r *record, v *version) {
	by := 1
	if v.deleted() {
		by = -1
	}
	e.next.objects += by
	if r.namespace != &e.all {
		r.namespace.count(by)
	}
}

// publish makes the transaction visible, in one step. It drops the versions that
// nobody can see from now on.
func (e *engine) publish() {
	e.show()
	for _, c := range e.touched {
		e.settle(c)
	}
	e.touched = emptied(e.touched)
}

// show makes the view of the transaction the current one, before published says so: a
// reader that has seen an object of a transaction must find it in every view that is
// pinned from then on.
func (e *engine) show() {
	last, now := e.current.Load(), e.next
	e.next = nil
	e.current.Store(now)
	if last.pins.Load() > 0 {
		last.following, e.pinned = e.pinned, last
	} else {
		last.following, e.free = e.free, last
	}
	if e.pinned != nil {
		e.published.Store(now.revision)
	}
}

// settle ends a change that has been made visible.
func (e *engine) settle(c change) {
	if e.watches.count.Load() > 0 {
		e.watches.tell(c.record.key)
	}
	e.pass(c, e.pinned)
	if invariant.Enabled {
		e.checkLocked(c.record)
	}
}

// pass gives a change to a view for which it is one, to be kept until that is
// released, or else drops it.
func (e *engine) pass(c change, to *view) {
	if to != nil && c.concerns(to) && !c.record.never() {
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

// never reports whether there is no object, and none was before that anybody sees.
func (r *record) never() bool {
	v := r.head.Load()
	return v.deleted() && (v.older.Load() == nil || v.older.Load() == unborn)
}

// drop forgets the old version of a change, which nobody can see. A record
// without any object goes with it.
func (e *engine) drop(c change) {
	r := c.record
	head := r.head.Load()
	if head.older.Load() == c.old && head.terms == c.old.terms && head.terms != absent {
		head.older.Store(c.old.older.Load()) // All that most changes need.
		return
	}
	r.unlink(c.old)
	e.unlist(r, c.old)
	if r.never() && r.inAll != nowhere {
		e.erase(r)
	}
}

// unlist takes a record out of the buckets that only this version of it, which is
// no longer one of its versions, belonged to.
func (e *engine) unlist(r *record, old *version) {
	if old.terms != r.head.Load().terms {
		e.leave(r)
	}
}

// erase takes a record out of everything.
func (e *engine) erase(r *record) {
	e.records.remove(r)
	for p := r.places; p != nil; p = p.next {
		p.bucket.list.remove(p.at)
	}
	if r.namespace != &e.all {
		r.namespace.list.remove(r.inNamespace)
		r.namespace.dropIfEmpty()
	}
	e.all.list.remove(r.inAll)
	r.inAll, r.places = nowhere, nil
}
