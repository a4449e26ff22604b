package storage

// State is the state of a store at one version, without its history. It is immutable.
type State struct {
	version uint64
	objects map[*Collection]SortedRevisions
}

// State returns the current state. It copies no objects.
func (s *Store) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := State{version: s.version, objects: make(map[*Collection]SortedRevisions)}
	for _, res := range s.served.all {
		state.objects[res.Data] = res.Data.objects
	}
	return state
}

// Restore returns the store to a state, and drops the history. The set of served resources does
// not change.
func (s *Store) Restore(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, res := range s.served.all {
		res.Data.objects = state.objects[res.Data]
	}
	s.version = state.version
	s.history.compact(state.version)
}
