package guarantees

import (
	"fmt"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
)

// EventChecker is a handler that records its events. It also records violations of G1, G3, G4, G5
// and G6, as far as the events of one handler show them.
type EventChecker[T comparable] struct {
	informer     *informer.Informer[T]
	registration *informer.Registration[T]
	registered   chan struct{}
	next         func(informer.Event[T])
	running      atomic.Bool

	mu         sync.Mutex                      // guards following
	known      map[types.NamespacedName]T      // New of the last event of each existing object
	versions   map[types.NamespacedName]string // versions of these last events
	newest     map[types.NamespacedName]uint64 // the highest version of each key's events
	initials   map[types.NamespacedName]string // the versions of initial events
	events     int
	changes    int // events that are not initial
	violations []string
}

// AddChecker adds an EventChecker to an informer's handlers. The EventChecker calls the function
// next for each event, after its own checks. The function may be nil.
func AddChecker[T comparable](inf *informer.Informer[T], opts informer.HandlerOptions, next func(informer.Event[T])) (*EventChecker[T], error) {
	w := &EventChecker[T]{
		informer:   inf,
		registered: make(chan struct{}),
		next:       next,
		known:      map[types.NamespacedName]T{},
		versions:   map[types.NamespacedName]string{},
		newest:     map[types.NamespacedName]uint64{},
		initials:   map[types.NamespacedName]string{},
	}
	defer close(w.registered)
	var err error
	w.registration, err = inf.AddHandler(w.handle, opts)
	return w, err
}

// Registration returns the registration of the EventChecker.
func (w *EventChecker[T]) Registration() *informer.Registration[T] { return w.registration }

// Versions returns the versions of the objects that exist according to the events.
func (w *EventChecker[T]) Versions() map[types.NamespacedName]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.versions)
}

// Initials returns the versions of the events with cause Initial.
func (w *EventChecker[T]) Initials() map[types.NamespacedName]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.initials)
}

// Events returns how many events there have been.
func (w *EventChecker[T]) Events() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events
}

// Violations returns the violations so far, each with the guarantee that it breaks.
func (w *EventChecker[T]) Violations() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.violations...)
}

func (w *EventChecker[T]) handle(e informer.Event[T]) {
	<-w.registered
	overlap := !w.running.CompareAndSwap(false, true)
	defer w.running.Store(false)
	w.check(e, overlap)
	if w.next != nil {
		w.next(e)
	}
}

func (w *EventChecker[T]) check(e informer.Event[T], overlap bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	violated := func(guarantee, format string, args ...any) {
		w.violations = append(w.violations, fmt.Sprintf("%s: %v %v of %v at %s: ", guarantee, e.Cause, e.Type, e.Key, e.ResourceVersion)+fmt.Sprintf(format, args...))
	}
	version := number(e.ResourceVersion)
	if overlap {
		violated("G4", "the handler was called while it was running")
	}

	before, known := w.known[e.Key]
	if known == (e.Type == informer.Added) {
		violated("G1", "the key was known: %v", known)
	}
	if e.Old != before {
		violated("G1", "Old is not New of the event before")
	}
	if e.Type == informer.Updated && uidOf(e.Old) != uidOf(e.New) {
		violated("G1", "Old has the UID %s, New %s", uidOf(e.Old), uidOf(e.New))
	}
	if newest := w.newest[e.Key]; version < newest || version == newest && e.Cause != informer.Resync && !e.FinalStateUnknown {
		violated("G1", "version %d was told before", newest)
	}

	w.events++
	if e.Cause == informer.Initial {
		w.initials[e.Key] = e.ResourceVersion
		if w.changes > 0 {
			violated("G5", "%d changes were told before", w.changes)
		}
		select {
		case <-w.registration.Synced():
			violated("G6", "the handler is said to be synced")
		default:
		}
	} else {
		w.changes++
	}

	w.newest[e.Key] = version
	if e.Type == informer.Deleted {
		delete(w.known, e.Key)
		delete(w.versions, e.Key)
	} else {
		w.known[e.Key], w.versions[e.Key] = e.New, e.ResourceVersion
	}
	w.checkStore(e, version, violated)
}

// checkStore checks that the store has the object of the event, or something newer.
func (w *EventChecker[T]) checkStore(e informer.Event[T], version uint64, violated func(guarantee, format string, args ...any)) {
	snapshot := w.informer.Store().Snapshot()
	entry, stored := snapshot.Entry(e.Key)
	through := number(snapshot.ResourceVersion())
	switch {
	case stored && number(entry.ResourceVersion) < version:
		violated("G3", "the store has version %s", entry.ResourceVersion)
	case stored && e.Type == informer.Deleted && number(entry.ResourceVersion) <= version:
		violated("G3", "the store still has it")
	case !stored && e.Type != informer.Deleted && through <= version:
		violated("G3", "the store does not have it, and has seen nothing newer")
	}
}

// uidOf returns the UID of an object, or "" if it has no UID.
func uidOf(object any) types.UID {
	if o, ok := object.(metav1.Object); ok {
		return o.GetUID()
	}
	return ""
}

// number parses a version. It returns 0 for "", and for a version that is not a number.
func number(version string) uint64 {
	n, _ := strconv.ParseUint(version, 10, 64)
	return n
}
