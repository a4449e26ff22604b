package rest

import (
	"sync"

	"github.com/kinform/kinform/listwatch"
)

// These are the sizes of the buffers for bytes from the network: feedSize while bytes arrive faster
// than they are read, and idleSize otherwise. A watch waits most of its time, and keeps its buffer
// meanwhile.
const (
	feedSize = 64 << 10
	idleSize = 4 << 10
)

// batch is a piece of a stream, and the results of decoding its frames.
type batch[T any] struct {
	piece

	waits   bool          // the results are ready once the channel decoded has a token
	decoded chan struct{} // has room for one token; nil before its first use
	results []outcome[T]
}

// outcome is the result of decoding one frame.
type outcome[T any] struct {
	value listwatch.Event[T]
	err   error
}

// newBatch returns an empty batch.
func (a *ahead[T]) newBatch() *batch[T] {
	b, ok := a.done.Get().(*batch[T])
	if !ok {
		b = &batch[T]{}
	}
	return b
}

// reuse puts a batch back into the pool. All its results have been handed out.
func (a *ahead[T]) reuse(b *batch[T]) {
	*b = batch[T]{piece: piece{frames: b.frames}, decoded: b.decoded, results: b.results[:0]}
	a.done.Put(b)
}

// newBuffer returns a buffer that is larger than the given number of used bytes.
func (r *reading) newBuffer(used int) *[]byte {
	size := max(feedSize, 2*used)
	if used < idleSize {
		size = idleSize
	}
	if pool := r.pool(size); pool != nil {
		if buffer, ok := pool.Get().(*[]byte); ok {
			return buffer
		}
	}
	buffer := make([]byte, size)
	return &buffer
}

// recycle puts a buffer back into its pool. Nothing may refer to the buffer any more.
func (r *reading) recycle(buffer *[]byte) {
	if pool := r.pool(len(*buffer)); pool != nil {
		pool.Put(buffer)
	}
}

// pool returns the pool of buffers of a size. It returns nil for a larger size, because keeping
// larger buffers would cost more than it saves.
func (r *reading) pool(size int) *sync.Pool {
	switch size {
	case feedSize:
		return &r.buffers[0]
	case idleSize:
		return &r.buffers[1]
	}
	return nil
}
