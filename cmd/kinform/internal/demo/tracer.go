package demo

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/workqueue"
	"k8s.io/apimachinery/pkg/types"
)

// journey describes how one change passes through the pipeline: from its arrival at the reflector
// until a worker has finished its key.
type journey struct {
	Type            informer.EventType
	Cause           informer.Cause
	Key             types.NamespacedName
	ResourceVersion string

	// Merged is the number of other changes of the key in this journey. They were merged before a
	// worker got the key.
	Merged int

	// FIFO is the time from the reflector to the store. Mailbox is the time from the store to the
	// handler, and Workqueue from the handler to a worker. Worker is the time of the reconcile.
	FIFO, Mailbox, Workqueue, Worker time.Duration
}

// unknown is a duration that was not measured.
const unknown time.Duration = -1

// total returns the sum of all measured stages.
func (j journey) total() (sum time.Duration) {
	for _, stage := range []time.Duration{j.FIFO, j.Mailbox, j.Workqueue, j.Worker} {
		sum += max(stage, 0)
	}
	return sum
}

// tracer follows changes through the observers of each stage. It skips objects of the first list,
// which are not changes. It also skips deletions that a relist has found, because their time is
// unknown.
type tracer struct {
	// onFinish is called by the worker at the end of each journey.
	onFinish func(journey)

	mu     sync.Mutex // guards following
	synced bool       // the first list is in the store
	// arrivals are the changes of a key that have not reached the handler, the oldest first.
	arrivals map[types.NamespacedName][]arrival
	// waiting has the journeys of keys in the workqueue, and running has the journeys of keys that
	// workers have.
	waiting map[types.NamespacedName]journey
	running map[types.NamespacedName]journey
}

// arrival is one version of an object, with the times when it reached the reflector and the store.
type arrival struct {
	version          uint64
	received, stored time.Time
}

func newTracer(finished func(journey)) *tracer {
	return &tracer{
		onFinish: finished,
		arrivals: make(map[types.NamespacedName][]arrival),
		waiting:  make(map[types.NamespacedName]journey),
		running:  make(map[types.NamespacedName]journey),
	}
}

func (t *tracer) reflector() *reflector.Observer {
	return &reflector.Observer{
		OnEvent: func(e reflector.EventInfo) {
			if e.Type != listwatch.Bookmark {
				t.received(e.Key, e.ResourceVersion, time.Now())
			}
		},
		OnItem: func(i reflector.ItemInfo) {
			if i.State == listwatch.Decoded {
				t.received(i.Key, i.ResourceVersion, time.Now())
			}
		},
	}
}

func (t *tracer) received(key types.NamespacedName, resourceVersion string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.synced {
		t.arrivals[key] = append(t.arrivals[key], arrival{version: number(resourceVersion), received: now})
	}
}

func (t *tracer) informer() *informer.Observer {
	return &informer.Observer{OnApplied: func(a informer.AppliedInfo) {
		now, through := time.Now(), number(a.ResourceVersion)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.synced = t.synced || a.Initial
		for _, key := range a.Keys {
			of := t.arrivals[key]
			for i := range of {
				if of[i].stored.IsZero() && of[i].version <= through {
					of[i].stored = now
				}
			}
		}
	}}
}

// onEvent records an event of the handler. The handler calls it before it enqueues the key.
func (t *tracer) onEvent(e informer.Event[*pod]) {
	now, version := time.Now(), number(e.ResourceVersion)
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.arrivals[e.Key]
	past := 0
	for past < len(of) && of[past].version <= version {
		past++
	}
	if past == 0 || of[past-1].version != version || of[past-1].stored.IsZero() {
		return
	}
	this := of[past-1]
	if past == len(of) {
		delete(t.arrivals, e.Key)
	} else {
		t.arrivals[e.Key] = slices.Delete(of, 0, past)
	}
	j, merged := t.waiting[e.Key]
	if merged {
		j.Merged += past
	} else {
		j.FIFO, j.Mailbox, j.Merged = this.stored.Sub(this.received), now.Sub(this.stored), past-1
	}
	j.Type, j.Cause, j.Key, j.ResourceVersion = e.Type, e.Cause, e.Key, e.ResourceVersion
	t.waiting[e.Key] = j
}

func (t *tracer) queue() *workqueue.Observer[types.NamespacedName] {
	return &workqueue.Observer[types.NamespacedName]{
		OnGet: func(item workqueue.Item[types.NamespacedName]) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if j, ok := t.waiting[item.Key]; ok {
				delete(t.waiting, item.Key)
				j.Workqueue = item.Waited
				t.running[item.Key] = j
			}
		},
		OnDone: func(key types.NamespacedName, ran time.Duration) {
			t.mu.Lock()
			j, ok := t.running[key]
			delete(t.running, key)
			t.mu.Unlock()
			if ok {
				j.Worker = ran
				t.onFinish(j)
			}
		},
	}
}

// number converts a version to a number, so that versions can be compared. The embedded server's
// versions are numbers.
func number(resourceVersion string) uint64 {
	n, _ := strconv.ParseUint(resourceVersion, 10, 64)
	return n
}
