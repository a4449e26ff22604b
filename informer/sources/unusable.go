package sources

import (
	"context"
	"fmt"
	"reflect"

	"github.com/kinform/kinform/listwatch"
)

// unusable is the source that functions without an error of their own return where they
// were given what makes no sense, such as a nil source. New refuses it with the error,
// and so does whoever lists or watches it without an informer.
type unusable[T any] struct{ err error }

func newUnusable[T any](format string, a ...any) listwatch.Source[T] {
	return unusable[T]{fmt.Errorf(format+": %w", append(a, listwatch.ErrUnusable)...)}
}

func (s unusable[T]) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[T], error) {
	return nil, s.err
}

func (s unusable[T]) Watch(context.Context, listwatch.WatchOptions) (listwatch.WatchStream[T], error) {
	return nil, s.err
}

func (s unusable[T]) unusable() error { return s.err }

// Unusable says why a source can never work, as [Merge] or [Transform] was given what makes no
// sense. It returns nil for any other source.
func Unusable(source any) error {
	if s, ok := source.(interface{ unusable() error }); ok {
		return s.unusable()
	}
	return nil
}

// isNil reports whether something is nil, or a pointer that is.
func isNil(something any) bool {
	v := reflect.ValueOf(something)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
