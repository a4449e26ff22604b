package reflector

// hurried returns the state in which an attempt waits that follows too many others at
// once, or nil if it need not wait. An attempt that has waited does not wait again.
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
	if r.waited {
		r.waited = false
		return nil
	}
	if wait := r.haste.Step(); wait > 0 {
		return &backingOff[T]{wait: wait, then: s, hurried: true}
	}
	return nil
}
