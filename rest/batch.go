package rest

import (
	"sync"

	"github.com/kinform/kinform/listwatch"
)

// These are the sizes of the buffers for bytes from the network: busyBufferSize while bytes arrive
// faster than they are read, and idleBufferSize otherwise. Most of the time, a watch waits and
// keeps its buffer.
const (
	busyBufferSize = 64 << 10
	idleBufferSize = 4 << 10
)

// batch is a piece of a stream, and the results of decoding its frames.
type batch[T any] struct {
	piece

	async   bool          // the results are ready once the channel decoded has a token
	decoded chan struct{} // has room for one token; nil before its first use
	results []decodeResult[T]
}

// decodeResult is the result of decoding one frame.
type decodeResult[T any] struct {
	value listwatch.Event[T]
	err   error
}

// newBatch returns an empty batch.
func (a *pipeline[T]) newBatch() *batch[T] {
	b, ok := a.batchPool.Get().(*batch[T])
	if !ok {
		b = &batch[T]{}
	}
	return b
}

// putBatch puts a batch back into the pool. The consumer must have received all its results.
func (a *pipeline[T]) putBatch(b *batch[T]) {
	*b = batch[T]{piece: piece{frames: b.frames}, decoded: b.decoded, results: b.results[:0]}
	a.batchPool.Put(b)
}

// newBuffer returns a buffer that is larger than the given number of used bytes.
func (r *decodeConfig) newBuffer(used int) *[]byte {
	size := max(busyBufferSize, 2*used)
	if used < idleBufferSize {
		size = idleBufferSize
	}
	if pool := r.bufferPool(size); pool != nil {
		if buffer, ok := pool.Get().(*[]byte); ok {
			return buffer
		}
	}
	buffer := make([]byte, size)
	return &buffer
}

// recycleBuffer puts a buffer back into its pool. Nothing may refer to the buffer any more.
func (r *decodeConfig) recycleBuffer(buffer *[]byte) {
	if pool := r.bufferPool(len(*buffer)); pool != nil {
		pool.Put(buffer)
	}
}

// bufferPool returns the pool of buffers of a size. It returns nil for a larger size, because a
// pool of larger buffers would cost more than it saves.
func (r *decodeConfig) bufferPool(size int) *sync.Pool {
	switch size {
	case busyBufferSize:
		return &r.buffers[0]
	case idleBufferSize:
		return &r.buffers[1]
	}
	return nil
}
