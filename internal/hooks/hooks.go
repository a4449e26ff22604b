// Package hooks chains observers. An observer is a struct of functions, such as rest.Observer, and
// each function may be nil.
package hooks

// CopyOf returns a copy of an observer. For nil, it returns an observer without hooks. So a hook
// can be set without changing the user's observer.
func CopyOf[T any](observer *T) *T {
	own := new(T)
	if observer != nil {
		*own = *observer
	}
	return own
}

// Chain returns a hook that calls first and then second. Either of them may be nil. If both are
// nil, Chain returns nil.
func Chain[A any](first, second func(A)) func(A) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(a A) {
		first(a)
		second(a)
	}
}

// Chain2 is [Chain] for hooks of two arguments.
func Chain2[A, B any](first, second func(A, B)) func(A, B) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(a A, b B) {
		first(a, b)
		second(a, b)
	}
}

// Chain3 is [Chain] for hooks of three arguments.
func Chain3[A, B, C any](first, second func(A, B, C)) func(A, B, C) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(a A, b B, c C) {
		first(a, b, c)
		second(a, b, c)
	}
}
