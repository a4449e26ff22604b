package sharing

import "sync"

// maxIdle is the number of idle states that a pool keeps. One goroutine at a time uses a state.
const maxIdle = 16

// statePool keeps states for the next goroutine that needs one. It is not a channel, because a
// decoder may serve several bubbles of testing/synctest. A bubble cannot use a channel of another
// bubble.
type statePool[S any] struct {
	mu     sync.Mutex // guards following
	states []*S
}

// get returns an idle state, or nil if no state is idle.
func (i *statePool[S]) get() *S {
	i.mu.Lock()
	defer i.mu.Unlock()
	last := len(i.states) - 1
	if last < 0 {
		return nil
	}
	s := i.states[last]
	i.states[last] = nil
	i.states = i.states[:last]
	return s
}

// put keeps a state, unless enough states are idle.
func (i *statePool[S]) put(s *S) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.states) < maxIdle {
		i.states = append(i.states, s)
	}
}
