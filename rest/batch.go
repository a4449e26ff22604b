package rest

import (
	"sync"

	"github.com/kinform/kinform/listwatch"
)

// The sizes of the buffers that are filled from the network: while bytes arrive
// faster than they are read, and else. A watch waits most of its time, with its
// buffer.
const (
	feedSize = 64 << 10
	idleSize = 4 << 10
)

// batch is a piece of a stream, and what became of its frames.
type batch[T any] struct {
	piece

	waits   bool          // results come with a token in decoded, else they are there
	decoded chan struct{} // of one token, nil while none was needed
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

// reuse takes back a batch of which the consumer has everything.
func (a *ahead[T]) reuse(b *batch[T]) {
	*b = batch[T]{piece: piece{frames: b.frames}, decoded: b.decoded, results: b.results[:0]}
	a.done.Put(b)
}

// newBuffer returns a buffer with room for more than this many bytes.
func (c *Client) newBuffer(used int) *[]byte {
	size := max(feedSize, 2*used)
	if used < idleSize {
		size = idleSize
	}
	if pool := c.pool(size); pool != nil {
		if buffer, ok := pool.Get().(*[]byte); ok {
			return buffer
		}
	}
	buffer := make([]byte, size)
	return &buffer
}

// recycle takes back a buffer to which nothing refers.
func (c *Client) recycle(buffer *[]byte) {
	if pool := c.pool(len(*buffer)); pool != nil {
		pool.Put(buffer)
	}
}

// pool is where buffers of a size are kept, nil if that size is not kept: these are
// so large that it would cost more than it saves.
func (c *Client) pool(size int) *sync.Pool {
	switch size {
	case feedSize:
		return &c.buffers[0]
	case idleSize:
		return &c.buffers[1]
	}
	return nil
}
