package demo

import (
	"sync"
	"time"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/workqueue"
	"k8s.io/apimachinery/pkg/types"
)

// journey is the way of one change through the pipeline, from the moment when
// the reflector had it to the moment when a worker was done with its key.
type journey struct {
	Type            informer.EventType
	Cause           informer.Cause
	Key             types.NamespacedName
	ResourceVersion string

	// Merged is how many later changes of the key joined this journey, because no
	// worker had taken the key yet.
	Merged int

	// Queue lasts from the reflector to the store, Mailbox from the store to the
	// handler, Workqueue from there to a worker, Worker until it was done.
	Queue, Mailbox, Workqueue, Worker time.Duration
}

// total is the time from the reflector to the end of the worker's run.
func (j journey) total() time.Duration { return j.Queue + j.Mailbox + j.Workqueue + j.Worker }

// tracer follows changes by the observers of each stage. Objects of the first
// list are not followed: they have no moment of their own at which they arrived.
type tracer struct {
	// finished is called with each journey at its end, by the worker.
	finished func(journey)

	mu sync.Mutex // guards following
	// received is when the reflector had the newest change of a key that has not
	// been stored yet, stored when the store had it.
	received map[types.NamespacedName]time.Time
	stored   map[types.NamespacedName]stay
	// waiting are the journeys whose key is in the workqueue, running those whose
	// key is with a worker.
	waiting map[types.NamespacedName]journey
	running map[types.NamespacedName]journey
}

// stay is a moment, and how long what led to it took.
type stay struct {
	since time.Time
	took  time.Duration
}

func newTracer(finished func(journey)) *tracer {
	return &tracer{
		finished: finished,
		received: make(map[types.NamespacedName]time.Time),
		stored:   make(map[types.NamespacedName]stay),
		waiting:  make(map[types.NamespacedName]journey),
		running:  make(map[types.NamespacedName]journey),
	}
}

func (t *tracer) reflector() *reflector.Observer {
	return &reflector.Observer{OnEvent: func(e reflector.EventInfo) {
		if e.Type == listwatch.Bookmark {
			return
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if _, ok := t.received[e.Key]; !ok {
			t.received[e.Key] = e.Time
		}
	}}
}

func (t *tracer) informer() *informer.Observer {
	return &informer.Observer{OnApplied: func(a informer.AppliedInfo) {
		now := time.Now()
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, key := range a.Keys {
			if since, ok := t.received[key]; ok {
				delete(t.received, key)
				t.stored[key] = stay{since: now, took: now.Sub(since)}
			}
		}
	}}
}

// handled is called by the handler, before it enqueues the key.
func (t *tracer) handled(e informer.Event[*pod]) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	stored, ok := t.stored[e.Key]
	if !ok {
		return
	}
	delete(t.stored, e.Key)
	j, merged := t.waiting[e.Key]
	if merged {
		j.Merged++
	} else {
		j.Queue, j.Mailbox = stored.took, now.Sub(stored.since)
	}
	j.Type, j.Cause, j.Key, j.ResourceVersion = e.Type, e.Cause, e.Key, e.ResourceVersion
	t.waiting[e.Key] = j
}

func (t *tracer) queue() *workqueue.Observer[types.NamespacedName] {
	return &workqueue.Observer[types.NamespacedName]{
		OnGet: func(key types.NamespacedName, waited time.Duration) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if j, ok := t.waiting[key]; ok {
				delete(t.waiting, key)
				j.Workqueue = waited
				t.running[key] = j
			}
		},
		OnDone: func(key types.NamespacedName, ran time.Duration) {
			t.mu.Lock()
			j, ok := t.running[key]
			delete(t.running, key)
			t.mu.Unlock()
			if ok {
				j.Worker = ran
				t.finished(j)
			}
		},
	}
}
