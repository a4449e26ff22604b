package reflector

// throttle returns a state that waits before the attempt s, if too many attempts came without a
// wait. It returns nil if s is not an attempt, has already waited, or need not wait.
func (r *Reflector[T]) throttle(s state[T]) state[T] {
	switch s := s.(type) {
	case *requesting[T], *connecting[T]:
	case *listing[T]:
		if s.token != "" {
			return nil // A later page is not a new attempt.
		}
	default:
		return nil
	}
	if r.justWaited {
		r.justWaited = false
		return nil
	}
	if wait := r.burstLimiter.Step(); wait > 0 {
		return &backingOff[T]{wait: wait, then: s, throttled: true}
	}
	return nil
}
