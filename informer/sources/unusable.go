package sources

import (
	"context"
	"fmt"

	"github.com/kinform/kinform/listwatch"
)

// unusable is the source that [Merge] and [Transform] return for invalid arguments, because they
// have no error result. informer.New refuses it with err, and every list or watch of it returns
// err.
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

// Unusable returns why a source can never work, because [Merge] or [Transform] got invalid
// arguments. It returns nil for any other source.
func Unusable(source any) error {
	if s, ok := source.(interface{ unusable() error }); ok {
		return s.unusable()
	}
	return nil
}
