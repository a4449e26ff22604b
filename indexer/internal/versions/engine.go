package versions

import (
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

// Engine is a store without its type parameter, so that a program has its code only once.
// plain/store.go has an RWMutex and maps, so that readers and writers wait for each other. A write
// beside a list of everything takes 220.8 µs there, and 0.6 µs here (plain/README.md).
//
// A transaction consists of Lock, Begin, any number of Put, Delete, Retain and Extend, Publish, and
// Unlock. Readers see no change of the transaction before Publish, and all of them after it.
type Engine struct {
	byKey table // every Get reads it
	// keeps byKey on a cache line that writers do not change: BenchmarkGetUnderWrites
	_ [64]byte

	current    atomic.Pointer[View]
	all        Term  // has all records; also the namespace "" of records without one
	namespaces Index // has all other namespaces
	KeyWaiters KeyWaiters

	// publishedThrough is at most the revision of the current view. It is that revision while an
	// older view is pinned.
	publishedThrough atomic.Uint64

	// writeLock makes transactions run one after the other. No user code runs under it. It guards
	// the fields below, and the fields of records, terms, sets and the table that only writers use.
	writeLock writeLock
	next      *View    // the view of the transaction
	changed   []Change // records that the transaction changed, each once
	pinned    *View    // the newest pinned view that is not current, as of the last check
	free      *View    // first of the unused views
	spare     *posting // first of the unused postings
	spares    int      // number of unused postings

	// visit is the number of the writer's last collection of terms. Each term in this collection
	// has this number in its own field visit. So the writer need not search for a term, however
	// many values an index function returns.
	visit uint64
}

// maxReuse is the length up to which the engine keeps slices and postings for reuse.
const maxReuse = 1024

func New(indexes []*Index) *Engine {
	e := &Engine{byKey: table{hasher: newHasher()}}
	e.writeLock.init()
	e.all.records.kind = ofAll
	e.current.Store(&View{State: State{Indexes: indexes}})
	return e
}

// published reports whether the transaction of a version is known to be published. Before its
// publication, the version has an older version (noVersion, if the key is new). Afterwards, it has
// an older version only if a pinned view sees the older version.
func (e *Engine) published(v *Version) bool {
	return v.older.Load() == nil || v.Revision <= e.publishedThrough.Load()
}

// Lock waits for the writers' lock. Unlock must follow.
func (e *Engine) Lock() { e.writeLock.lock() }

// Unlock releases the writers' lock.
func (e *Engine) Unlock() {
	if !e.writeLock.release() {
		e.unlockSlow()
	}
}

// unlockSlow collects if a reader has requested a collection, and then releases the lock.
//
//go:noinline
func (e *Engine) unlockSlow() {
	for e.writeLock.handOver() {
		e.collectLocked()
	}
}

// Begin starts a transaction with about this number of changes. It returns the state after the
// transaction, in which the caller may set the resourceVersion, the indexes and the counts. The
// caller holds the writers' lock.
func (e *Engine) Begin(changes int) *State {
	e.changed = slices.Grow(e.changed, changes)
	if e.next = e.free; e.next == nil {
		e.next = new(View)
	}
	e.free = e.next.following
	e.next.State = e.current.Load().State
	e.next.Revision++
	return &e.next.State
}

// Put stores a version with an object, and the terms that index functions returned for the object.
// It reports whether the key had an object before.
func (e *Engine) Put(key types.NamespacedName, v *Version, found []IndexValue) (existed bool) {
	r, old := e.appendVersion(key, v, found)
	return e.supersede(r, old, v)
}

// PutOnly is Put and Publish for the only op of a transaction. It also counts the op. It has a fast
// path for an object that keeps its terms: BenchmarkApplySameTerms.
func (e *Engine) PutOnly(key types.NamespacedName, v *Version, found []IndexValue) (existed bool) {
	r, old := e.appendVersion(key, v, found)
	if v.terms != old.terms {
		existed = e.supersede(r, old, v)
		e.next.Counts.Put(existed)
		e.Publish()
		return existed
	}
	v.older.Store(old)
	r.head.Store(v)
	e.next.Counts.Put(true)
	e.publishView()
	e.finishChange(Change{r, old})
	return true
}

// appendVersion sets the revision and the terms of a new version. It returns the record of the key
// and the newest version so far. If the key has no record, appendVersion makes one.
func (e *Engine) appendVersion(key types.NamespacedName, v *Version, found []IndexValue) (r *Record, old *Version) {
	if r = e.byKey.find(key); r == nil {
		r = e.create(key)
	}
	old = r.head.Load()
	v.Revision, v.terms = e.next.Revision, old.terms
	if !v.terms.match(found) {
		v.terms = e.termsOf(found)
	}
	return r, old
}

// create makes the record of a key.
func (e *Engine) create(key types.NamespacedName) *Record {
	r := &Record{Key: key, namespace: &e.all}
	r.head.Store(noVersion) // readers find noVersion as soon as the record is in a set
	if key.Namespace != "" {
		r.namespace = e.namespaces.make(key.Namespace)
		r.Key.Namespace = r.namespace.value // all keys of a namespace share one string
		r.inNamespace = r.namespace.records.add(r)
	}
	r.inAll = e.all.records.add(r)
	e.byKey.add(r)
	return r
}

// Delete removes the object of a key and reports whether there was one (IX-1).
func (e *Engine) Delete(key types.NamespacedName) (existed bool) {
	r := e.byKey.find(key)
	if r == nil || r.head.Load().deleted() {
		return false
	}
	return e.supersede(r, r.head.Load(), &Version{Revision: e.next.Revision, terms: absent})
}

// Retain deletes the objects that the transaction has not written, except for these keys.
func (e *Engine) Retain(except map[types.NamespacedName]bool) (deleted uint64) {
	slots := e.all.records.slots()
	for i := range slots {
		r := slots[i].Load()
		if r == nil || r.head.Load().Revision == e.next.Revision {
			continue
		}
		if key := r.Key; !except[key] && e.Delete(key) {
			deleted++
		}
	}
	return deleted
}

// Namespaces returns the number of namespaces that have objects.
func (e *Engine) Namespaces() int { return e.namespaces.InUse() }

// match reports whether t consists of exactly the found terms, in this order.
func (t *terms) match(found []IndexValue) bool {
	if t == absent || len(found) != len(*t) {
		return false
	}
	for i, b := range *t {
		if b.index != found[i].Index || b.value != found[i].Value {
			return false
		}
	}
	return true
}

// termsOf returns the terms for the values that index functions found.
func (e *Engine) termsOf(found []IndexValue) *terms {
	var room [4]*Term
	return intern(e.union(room[:0], found))
}

// union appends the terms of the values found to the slice to. It leaves out the terms that the
// slice has already.
func (e *Engine) union(to terms, found []IndexValue) terms {
	e.visit++
	for _, t := range to {
		t.visit = e.visit
	}
	for _, f := range found {
		if t := f.Index.make(f.Value); t.visit != e.visit {
			t.visit = e.visit
			to = append(to, t)
		}
	}
	return to
}

// supersede makes v the newest version of a record, and reports whether the old version had an
// object.
func (e *Engine) supersede(r *Record, old, v *Version) (existed bool) {
	before := old
	sameTransaction := old.Revision == v.Revision // a second version in this transaction
	if sameTransaction {
		before = old.older.Load()
	} else {
		e.changed = append(e.changed, Change{r, old})
	}
	v.older.Store(before)
	if v.terms == old.terms {
		r.head.Store(v)
		return true
	}
	e.setHead(r, old, v)
	if sameTransaction {
		e.unlist(r, old)
	}
	if existed = !old.deleted(); existed == v.deleted() {
		e.countObject(r, v)
	}
	return existed
}

// setHead makes v the newest version of a record. v has other terms than the previous version. The
// record stays in the sets of the previous terms.
func (e *Engine) setHead(r *Record, old, v *Version) {
	e.join(r, *v.terms)
	for _, b := range *v.terms {
		b.count(1)
	}
	r.head.Store(v)
	for _, b := range *old.terms {
		b.count(-1)
	}
}

// countObject counts the object that a version adds, or that a deletion removes.
func (e *Engine) countObject(r *Record, v *Version) {
	by := 1
	if v.deleted() {
		by = -1
	}
	e.next.Objects += by
	if r.namespace != &e.all {
		r.namespace.count(by)
	}
}

// Publish makes the transaction visible, in one step. It drops the versions that no view sees from
// then on.
func (e *Engine) Publish() {
	e.publishView()
	for _, c := range e.changed {
		e.finishChange(c)
	}
	e.changed = truncated(e.changed)
}

// publishView makes the view of the transaction current, and only then raises publishedThrough. A
// reader that has seen an object of a transaction must find the object in every view that is pinned
// from then on.
func (e *Engine) publishView() {
	last, now := e.current.Load(), e.next
	e.next = nil
	e.current.Store(now)
	if last.pins.Load() > 0 {
		last.following, e.pinned = e.pinned, last
	} else {
		last.following, e.free = e.free, last
	}
	if e.pinned != nil {
		e.publishedThrough.Store(now.Revision)
	}
}
