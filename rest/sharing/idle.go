package sharing

import "sync"

// maxIdle is how many idle states are kept. One goroutine at a time uses a state.
const maxIdle = 16

// idle keeps states for the next goroutine that needs one. It is no channel: a decoder may serve a whole process, and a
// channel that was made in a bubble of testing/synctest is of no use to the next one.
type idle[S any] struct {
	mu     sync.Mutex // guards following
	states []*S
}

// take returns an idle state, or nil if there is none.
func (i *idle[S]) take() *S {
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

// put keeps a state, unless there are enough.
func (i *idle[S]) put(s *S) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.states) < maxIdle {
		i.states = append(i.states, s)
	}
}
