package workqueue

import (
	"context"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/runtime"
)

// DoWorkPieceFunc processes the piece with the number piece.
type DoWorkPieceFunc func(piece int)

type options struct{ chunkSize int }

// Options is an option of ParallelizeUntil.
type Options func(*options)

// WithChunkSize makes a worker take c pieces at a time, which is cheaper for small pieces. A value
// below one counts as one.
func WithChunkSize(c int) func(*options) {
	return func(o *options) { o.chunkSize = c }
}

// ParallelizeUntil calls doWorkPiece once for each piece from 0 to pieces-1, in several goroutines;
// workers is their maximal number. It returns after all calls have returned. After ctx has ended,
// no goroutine starts another chunk of pieces. ctx may be nil.
func ParallelizeUntil(ctx context.Context, workers, pieces int, doWorkPiece DoWorkPieceFunc, opts ...Options) {
	if pieces <= 0 {
		return
	}
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	size := max(o.chunkSize, 1)
	chunks := (pieces-1)/size + 1
	var stop <-chan struct{}
	if ctx != nil {
		stop = ctx.Done()
	}
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(workers, chunks) {
		running.Go(func() {
			defer runtime.HandleCrash()
			for {
				select {
				case <-stop:
					return
				default:
				}
				chunk := int(next.Add(1)) - 1
				if chunk >= chunks {
					return
				}
				for piece := chunk * size; piece < min(pieces, chunk*size+size); piece++ {
					doWorkPiece(piece)
				}
			}
		})
	}
	running.Wait()
}
