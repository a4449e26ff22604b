package guarantees

import (
	"fmt"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
)

// State is the version of each object that exists.
type State = map[types.NamespacedName]string

// StateChecker has the states that a server had, by resourceVersion, and the states that readers of
// a store saw. At the end of the test, each state of the store must be the server's state at the
// store's resourceVersion (G7, G8). Therefore a test must record every state of the server.
type StateChecker struct {
	mu       sync.Mutex // guards following
	server   map[string]State
	observed []observation
}

type observation struct {
	revision        uint64
	resourceVersion string
	state           State
}

// RecordServer records a state of the server.
func (s *StateChecker) RecordServer(resourceVersion string, state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		s.server = map[string]State{}
	}
	s.server[resourceVersion] = maps.Clone(state)
}

// RecordStore records a state of a store. It ignores the empty store before the first sync.
func RecordStore[T any](s *StateChecker, snapshot *indexer.Snapshot[T]) {
	if snapshot.ResourceVersion() == "" {
		return
	}
	state := State{}
	for entry := range snapshot.Entries() {
		state[entry.Key] = entry.ResourceVersion
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observed = append(s.observed, observation{snapshot.Revision(), snapshot.ResourceVersion(), state})
}

// ServerHad reports whether the server ever had this state.
func (s *StateChecker) ServerHad(state State) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, had := range s.server {
		if maps.Equal(had, state) {
			return true
		}
	}
	return false
}

// Violations returns the states of the store that differ from the server's.
func (s *StateChecker) Violations() (violations []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seen := range s.observed {
		had, ok := s.server[seen.resourceVersion]
		switch {
		case !ok:
			violations = append(violations, fmt.Sprintf("G8: the store said that it was complete through %s, which is no version of the server", seen.resourceVersion))
		case !maps.Equal(had, seen.state):
			violations = append(violations, fmt.Sprintf("G7: at %s (revision %d) the store had %v, the server %v", seen.resourceVersion, seen.revision, seen.state, had))
		}
	}
	return violations
}

// StoreStates returns how many states of the store were recorded.
func (s *StateChecker) StoreStates() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.observed)
}
