package informer

import (
	"context"
	"sync"

	"github.com/kinform/kinform/listwatch"
)

// Sources that wrap others get them ready: see listwatch.Preparer.

// Prepare implements listwatch.Preparer.
func (s transformed[From, To]) Prepare(ctx context.Context) error {
	return listwatch.Prepare(ctx, s.source)
}

// Prepare implements listwatch.Preparer.
func (s *resumed[T]) Prepare(ctx context.Context) error { return listwatch.Prepare(ctx, s.Source) }

// Prepare implements listwatch.Preparer. The parts get ready at once, and what is wrong
// with one is told by its list or watch.
func (m *merged[T]) Prepare(ctx context.Context) error {
	var group sync.WaitGroup
	for _, part := range m.parts {
		if _, ok := part.(listwatch.Preparer); ok {
			group.Go(func() { _ = listwatch.Prepare(ctx, part) })
		}
	}
	group.Wait()
	return ctx.Err()
}
