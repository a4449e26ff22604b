package e2e_test

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
)

// eventHistory records the events of a handler. It has the objects that exist according to the
// events, and errors about events that contradict earlier ones (G1).
type eventHistory[T comparable] struct {
	mu       sync.Mutex // guards following
	versions map[types.NamespacedName]string
	last     map[types.NamespacedName]T
	events   int
	unknown  int
	wrong    []error
}

func newEventHistory[T comparable]() *eventHistory[T] {
	return &eventHistory[T]{versions: map[types.NamespacedName]string{}, last: map[types.NamespacedName]T{}}
}

func (h *eventHistory[T]) handle(e informer.Event[T]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events++
	last, known := h.last[e.Key]
	switch {
	case e.Type == informer.Added && known:
		h.wrong = append(h.wrong, fmt.Errorf("%v %s was added again", e.Key, e.ResourceVersion))
	case e.Type != informer.Added && !known:
		h.wrong = append(h.wrong, fmt.Errorf("%v %s: %v without Added", e.Key, e.ResourceVersion, e.Type))
	case e.Type == informer.Updated && e.Old != last:
		h.wrong = append(h.wrong, fmt.Errorf("%v %s: Old is not the New of the previous event", e.Key, e.ResourceVersion))
	}
	if e.Type == informer.Deleted {
		delete(h.last, e.Key)
		delete(h.versions, e.Key)
		if e.FinalStateUnknown {
			h.unknown++
		}
		return
	}
	h.last[e.Key] = e.New
	h.versions[e.Key] = e.ResourceVersion
}

// all returns the versions of the objects that exist according to the events.
func (h *eventHistory[T]) all() map[types.NamespacedName]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.versions)
}

// eventCount returns the number of events.
func (h *eventHistory[T]) eventCount() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.events
}

// tombstones returns the number of deletions without a final state.
func (h *eventHistory[T]) tombstones() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unknown
}

func (h *eventHistory[T]) problems() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return errors.Join(h.wrong...)
}

// difference describes briefly how got differs from want, or returns "".
func difference(want, got map[types.NamespacedName]string) string {
	var missing, extra, stale []string
	for key, version := range want {
		have, ok := got[key]
		switch {
		case !ok:
			missing = append(missing, key.String())
		case have != version:
			stale = append(stale, fmt.Sprintf("%v is %s, not %s", key, have, version))
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			extra = append(extra, key.String())
		}
	}
	if len(missing)+len(extra)+len(stale) == 0 {
		return ""
	}
	return fmt.Sprintf("%d missing %q, %d too many %q, %d of another version %q",
		len(missing), head(missing), len(extra), head(extra), len(stale), head(stale))
}

// changed counts the keys that do not have the same version in both.
func changed(before, after map[types.NamespacedName]string) int {
	n := 0
	for key, version := range before {
		if after[key] != version {
			n++
		}
	}
	for key := range after {
		if _, ok := before[key]; !ok {
			n++
		}
	}
	return n
}

func head(s []string) []string { return s[:min(len(s), 3)] }
