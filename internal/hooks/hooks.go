// Package hooks puts observers one behind the other: structs of functions, of which each may be nil, as
// rest.Observer is one.
package hooks

// Copied returns a copy of an observer, or one without hooks if it is nil. So a hook can be set without a
// change of what the user has.
func Copied[T any](observer *T) *T {
	own := new(T)
	if observer != nil {
		*own = *observer
	}
	return own
}

// Then returns a hook that calls first and then second. Either may be nil; if both are, so is the hook.
func Then[A any](first, second func(A)) func(A) {
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

// Then2 is [Then] for hooks of two arguments.
func Then2[A, B any](first, second func(A, B)) func(A, B) {
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

// Then3 is [Then] for hooks of three arguments.
func Then3[A, B, C any](first, second func(A, B, C)) func(A, B, C) {
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
