package reflector

import "time"

// haste sees to it that no server makes a reflector spin, whatever it answers: attempts
// that follow one another without a wait come once a second, after some that need not
// wait at all.
type haste struct {
	next   time.Time // when one more could begin if there were no exception
	waited bool      // before the attempt that comes now
}

const (
	unhurried = time.Second // between two attempts
	inHaste   = 10          // attempts may be ahead of that
)

// begin takes note of an attempt, and returns how long it has to wait.
func (h *haste) begin() time.Duration {
	if h.waited {
		h.waited = false
		return 0
	}
	now := time.Now()
	if h.next.Before(now) {
		h.next = now
	}
	wait := h.next.Sub(now) - inHaste*unhurried
	h.next = h.next.Add(unhurried)
	return wait
}

// hurried is the state in which an attempt waits that has come too soon, or nil.
func (r *Reflector[T]) hurried(s state[T]) state[T] {
	switch s := s.(type) {
	case *requesting[T], *connecting[T]:
	case *listing[T]:
		if s.token != "" {
			return nil // It is not the first page.
		}
	default:
		return nil
	}
	if wait := r.haste.begin(); wait > 0 {
		return &backingOff[T]{wait: wait, then: s}
	}
	return nil
}
