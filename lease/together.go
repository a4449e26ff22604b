package lease

import (
	"context"
	"sync"
)

// Together returns a function that runs several functions concurrently, such as the controllers of
// one process under one lease. When one of them returns an error, the context of the others ends
// with that error as its cause. The returned function returns when all functions have returned,
// with the first error.
func Together(functions ...func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		var running sync.WaitGroup
		var once sync.Once
		var first error
		for _, f := range functions {
			running.Go(func() {
				if err := f(ctx); err != nil {
					once.Do(func() {
						first = err
						cancel(err)
					})
				}
			})
		}
		running.Wait()
		return first
	}
}
