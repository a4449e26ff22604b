package informer_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kinform/kinform/informer"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// witness is a handler that records its events, and the violations of each guarantee.
type witness struct {
	t        *testing.T
	informer *informer.Informer[*corev1.Pod]
	busy     atomic.Bool

	mu sync.Mutex // guards following
	// known has, for each key, New of the last event. It has no entry if this event is Deleted.
	known map[types.NamespacedName]*corev1.Pod
	// newest is the highest version received for each key.
	newest     map[types.NamespacedName]uint64
	causes     map[informer.Cause]int
	violations map[string][]string
}

func newWitness(r *rig) *witness {
	return &witness{
		t:          r.t,
		informer:   r.informer,
		known:      map[types.NamespacedName]*corev1.Pod{},
		newest:     map[types.NamespacedName]uint64{},
		causes:     map[informer.Cause]int{},
		violations: map[string][]string{},
	}
}

func (w *witness) handle(e informer.Event[*corev1.Pod]) {
	overlap := !w.busy.CompareAndSwap(false, true)
	defer w.busy.Store(false)

	w.mu.Lock()
	defer w.mu.Unlock()
	object := func(guarantee, format string, args ...any) {
		w.violations[guarantee] = append(w.violations[guarantee], fmt.Sprintf("%v %v of %v at %s: ", e.Cause, e.Type, e.Key, e.ResourceVersion)+fmt.Sprintf(format, args...))
	}
	if overlap {
		object("G4", "the handler was called while it was running")
	}
	w.causes[e.Cause]++

	before, known := w.known[e.Key]
	if known == (e.Type == informer.Added) {
		object("G1", "the key was known: %v", known)
	}
	if e.Old != before {
		object("G1", "Old is not New of the event before")
	}
	version := number(w.t, e.ResourceVersion)
	if newest := w.newest[e.Key]; version < newest || version == newest && e.Cause != informer.Resync && !e.FinalStateUnknown {
		object("G1", "version %d was received before", newest)
	}
	w.newest[e.Key] = version
	if e.Type == informer.Deleted {
		delete(w.known, e.Key)
	} else {
		w.known[e.Key] = e.New
	}

	entry, stored := w.informer.Store().Entry(e.Key)
	switch {
	case stored && number(w.t, entry.ResourceVersion) < version:
		object("G3", "the store has version %s", entry.ResourceVersion)
	case stored && e.Type == informer.Deleted && number(w.t, entry.ResourceVersion) <= version:
		object("G3", "the store still has it")
	case !stored && e.Type != informer.Deleted && number(w.t, w.informer.Store().ResourceVersion()) <= version:
		object("G3", "the store does not have it, and has seen nothing newer")
	}
}

// versions returns the versions of the objects that exist according to the witness.
func (w *witness) versions() map[types.NamespacedName]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[types.NamespacedName]string{}
	for key, pod := range w.known {
		all[key] = pod.ResourceVersion
	}
	return all
}

func (w *witness) objections(guarantee string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.violations[guarantee]
}

func (w *witness) count(cause informer.Cause) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.causes[cause]
}
