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

// maxFrames bounds the frames of a batch: what is made of a tiny one is many times
// as large.
const maxFrames = 512

// batch is a buffer, the frames in it, and what became of them.
type batch[T any] struct {
	buffer   *[]byte
	shared   bool // other batches have frames in buffer, too
	frames   []frame
	size     int64 // bytes of the frames
	envelope envelope
	end      error // what follows the frames, nil if there are more batches

	waits   bool          // results come with a token in decoded, else they are there
	decoded chan struct{} // of one token, nil while none was needed
	results []outcome[T]
}

// outcome is the result of decoding one frame.
type outcome[T any] struct {
	value listwatch.Event[T]
	err   error
}

// newBatch returns an empty batch for the frames of a buffer.
func (a *ahead[T]) newBatch(buffer *[]byte, shared bool) *batch[T] {
	b, ok := a.done.Get().(*batch[T])
	if !ok {
		b = &batch[T]{}
	}
	b.buffer, b.shared = buffer, shared
	return b
}

// reuse takes back a batch of which the consumer has everything.
func (a *ahead[T]) reuse(b *batch[T]) {
	*b = batch[T]{frames: b.frames, decoded: b.decoded, results: b.results[:0]}
	a.done.Put(b)
}

// newBuffer returns a buffer with room for more than this many bytes.
func (a *ahead[T]) newBuffer(used int) *[]byte {
	size := max(feedSize, 2*used)
	if used < idleSize {
		size = idleSize
	}
	if pool := a.exchange.client.pool(size); pool != nil {
		if buffer, ok := pool.Get().(*[]byte); ok {
			return buffer
		}
	}
	buffer := make([]byte, size)
	return &buffer
}

// recycle takes back the buffer of a batch if nothing else refers to it.
func (a *ahead[T]) recycle(b *batch[T]) {
	if pool := a.exchange.client.pool(len(*b.buffer)); pool != nil && !b.shared {
		pool.Put(b.buffer)
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
