package rest

import (
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/wire"
)

// maxInlineBytes is the size of the largest frame that the reading goroutine decodes itself. While
// this goroutine decodes, the following bytes wait, and then become a batch for the workers. A
// larger frame would delay these bytes for too long.
const maxInlineBytes = busyBufferSize / 4

// maxBufferedBytes limits the bytes of frames that the consumer has not received yet, because
// decoded frames may take MaxExpansion times as much memory. A single batch may exceed this limit.
const maxBufferedBytes = 8 << 20

// pipeline decodes the frames of a stream on several cores, beside the goroutine that consumes the
// results. The results are in the order in which the frames arrived.
//
// One goroutine reads. It cuts the stream into pieces (a buffer with its frames), and sends each
// piece to a worker, as a batch. So all frames of a batch share the cost of waking the worker. A
// frame that arrives alone while no worker is busy, such as the event of a quiet watch, is decoded
// by the reading goroutine. plain/client.go decodes in the goroutine that reads: a watch hands out
// 5,632 events per second there, and 38,752 here (plain/README.md).
type pipeline[T any] struct {
	exchange *exchange
	reader   reader
	decode   func(wire.Frame, *wire.Envelope) (listwatch.Event[T], error)

	// To the consumer; its capacity limits how many batches are read ahead.
	ordered chan *batch[T]
	work    chan *batch[T] // the same batches, to the workers
	slots   chan struct{}  // one token for each worker that runs
	// Bytes of the frames in the channel order; maxBufferedBytes bounds them.
	buffered   atomic.Int64
	spaceFreed chan struct{} // gets a token when the counter held has decreased
	// waitingForSpace says that the reading goroutine waits for room, or is about to wait. It is a
	// flag of its own, because a failed send to the channel room would not synchronize with the
	// reading goroutine.
	waitingForSpace atomic.Bool
	group           sync.WaitGroup
	batchPool       sync.Pool // of *batch[T], for reuse

	current      *batch[T]     // this field and the fields below belong to the consumer
	delivered    int           // number of results of the current batch that next has returned
	envelope     wire.Envelope // the fields of the envelope that were read up to the current batch
	received     int64         // bytes of the stream up to the end of the current batch
	earlierBytes int64         // bytes of the frames in batches before the current one
	err          error         // if set, next returns it from now on
}

// startPipeline starts to read the response of an exchange. The method close also closes the
// exchange.
func startPipeline[T any](x *exchange, c wire.Framer, decode func(wire.Frame, *wire.Envelope) (listwatch.Event[T], error)) *pipeline[T] {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers)
	a := &pipeline[T]{
		exchange: x, reader: reader{exchange: x, framer: c}, decode: decode,
		ordered: make(chan *batch[T], 2*workers), work: make(chan *batch[T]), slots: make(chan struct{}, workers),
		spaceFreed: make(chan struct{}, 1),
	}
	a.group.Go(a.read)
	return a
}

// read dispatches one batch after another, until the stream ends, or until a decoder panics or
// calls runtime.Goexit. In each case it closes the channels, so that the consumer notices the end.
func (a *pipeline[T]) read() {
	defer close(a.work)
	defer close(a.ordered)
	for ended := false; !ended; {
		b := a.newBatch()
		a.reader.next(&b.piece)
		ended = b.end != nil // read before dispatch, because b then belongs to the consumer
		if !a.dispatch(b) {
			return
		}
	}
}

// dispatch sends a batch to the consumer, and also to a worker unless dispatch decodes the batch
// itself. It blocks while the consumer is too far behind, and returns false once the exchange has
// ended.
func (a *pipeline[T]) dispatch(b *batch[T]) bool {
	b.async = len(b.frames) > 1 || b.size > maxInlineBytes || len(a.slots) > 0 || len(a.ordered) > 0
	inline := !b.async // read now: once b is in the channel ordered, it belongs to the consumer
	if inline {
		a.decodeAll(b)
	} else if b.decoded == nil {
		b.decoded = make(chan struct{}, 1)
	}
	ended := a.exchange.requestCtx.Done()
	limit := int64(min(2*a.exchange.config.maxObjectBytes, maxBufferedBytes))
	for a.isFull(b.size, limit) {
		// No wake-up is lost: either this loop sees the smaller value of buffered, or the method
		// receive sees waitingForSpace.
		a.waitingForSpace.Store(true)
		if !a.isFull(b.size, limit) {
			break
		}
		select {
		case <-a.spaceFreed:
		case <-ended:
			return false
		}
	}
	a.buffered.Add(b.size)
	select {
	case a.ordered <- b:
	case <-ended:
		return false
	}
	if inline {
		return true
	}
	select {
	case a.slots <- struct{}{}:
		a.group.Go(func() { a.worker(b) })
		return true
	case a.work <- b: // a worker has just become free
		return true
	case <-ended:
		return false
	}
}

// isFull reports whether size more bytes would exceed the limit.
func (a *pipeline[T]) isFull(size, limit int64) bool {
	buffered := a.buffered.Load()
	return buffered > 0 && buffered+size > limit
}

// next returns the next result in order, with the contract of a stream's Next.
func (a *pipeline[T]) next() (listwatch.Event[T], error) {
	var none listwatch.Event[T]
	for a.err == nil {
		err := a.exchange.ctx.Err()
		if err == nil && a.current == nil {
			err = a.receive()
		}
		if err != nil {
			a.err = a.exchange.wrapError(err)
			break
		}
		if a.delivered < len(a.current.results) {
			result := a.current.results[a.delivered]
			// The result belongs to the consumer now.
			a.current.results[a.delivered] = decodeResult[T]{}
			a.delivered++
			if _, skipped := errors.AsType[*listwatch.ObjectError](result.err); result.err != nil && !skipped {
				a.err = result.err
			}
			return result.value, result.err
		}
		switch end := a.current.end; {
		case end == io.EOF:
			a.err = end
		case end != nil:
			a.err = a.exchange.wrapError(end)
		}
		a.earlierBytes += a.current.size
		a.putBatch(a.current)
		a.current, a.delivered = nil, 0
	}
	return none, a.err
}

// receive waits for the next batch, or until the context ends.
func (a *pipeline[T]) receive() error {
	running := a.exchange.requestCtx
	var b *batch[T]
	select {
	case b = <-a.ordered:
	case <-running.Done():
		return running.Err()
	}
	if b == nil { // The reading goroutine has ended without a final batch.
		return errors.Join(running.Err(), errGoexit)
	}
	if b.async {
		select {
		case <-b.decoded:
		case <-running.Done():
			return running.Err()
		}
	}
	a.buffered.Add(-b.size)
	if a.waitingForSpace.Load() && a.waitingForSpace.Swap(false) {
		select {
		case a.spaceFreed <- struct{}{}:
		default: // the token that is there suffices: its receiver checks buffered again
		}
	}
	a.current, a.envelope, a.received = b, b.envelope, b.received
	return nil
}

// close ends the stream at any point, and returns when its goroutines have ended.
func (a *pipeline[T]) close() {
	a.exchange.close()
	a.group.Wait()
	a.current = nil
	if a.err == nil {
		a.err = a.exchange.wrapError(errStreamClosed)
	}
}
