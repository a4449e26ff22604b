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

// aloneSize is the size of the largest frame that the reading goroutine decodes itself. While it
// decodes, the following bytes wait, and then become a batch for the workers. A larger frame would
// delay them for too long.
const aloneSize = feedSize / 4

// maxAhead limits the bytes of frames that have been read but not handed out, because the memory of
// decoded frames may be MaxExpansion times as large. A single batch may exceed it.
const maxAhead = 8 << 20

// ahead decodes the frames of a stream on several cores, beside the goroutine that consumes them,
// and hands them out in the order of their arrival.
//
// One goroutine reads. Its reader cuts the stream into pieces (a buffer with its frames), and the
// goroutine hands each piece to a worker, as a batch. So all frames of a batch share the cost of
// waking the worker. If a frame arrives alone while no worker is busy, such as the event of a quiet
// watch, the reading goroutine decodes it itself. plain/client.go decodes in the goroutine that
// reads: a watch hands out 5,632 events per second there, and 38,752 here (plain/README.md).
type ahead[T any] struct {
	exchange *exchange
	reader   reader
	decode   func(wire.Frame, *wire.Envelope) (listwatch.Event[T], error)

	order chan *batch[T] // to the consumer; its capacity limits how many batches are read ahead
	work  chan *batch[T] // the same batches, to the workers
	slots chan struct{}  // one token for each worker that runs
	held  atomic.Int64   // bytes of the frames in the channel order; maxAhead bounds them
	room  chan struct{}  // gets a token when the counter held has decreased
	// crowded says that the reading goroutine waits for room, or is about to wait. It is a flag of
	// its own, because a failed send to the channel room would not synchronize with the reading
	// goroutine.
	crowded atomic.Bool
	group   sync.WaitGroup
	done    sync.Pool // of *batch[T], for reuse

	current *batch[T]     // this field and the fields below belong to the consumer
	taken   int           // number of results of the current batch that were handed out
	around  wire.Envelope // the fields of the envelope that were read up to the current batch
	arrived int64         // bytes of the stream up to the end of the current batch
	passed  int64         // bytes of the frames in batches before the current one
	err     error         // if set, next returns it from now on
}

// startAhead starts to read the response of an exchange. The method close also closes the exchange.
func startAhead[T any](x *exchange, c wire.Cutter, decode func(wire.Frame, *wire.Envelope) (listwatch.Event[T], error)) *ahead[T] {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers)
	a := &ahead[T]{
		exchange: x, reader: reader{exchange: x, cutter: c}, decode: decode,
		order: make(chan *batch[T], 2*workers), work: make(chan *batch[T]), slots: make(chan struct{}, workers),
		room: make(chan struct{}, 1),
	}
	a.group.Go(a.read)
	return a
}

// read hands over one batch after another, until the stream ends, or until a decoder panics or
// calls runtime.Goexit. In each case it closes the channels, so that the consumer notices the end.
func (a *ahead[T]) read() {
	defer close(a.work)
	defer close(a.order)
	for ended := false; !ended; {
		b := a.newBatch()
		a.reader.next(&b.piece)
		ended = b.end != nil // read before the hand-over, because b then belongs to the consumer
		if !a.dispatch(b) {
			return
		}
	}
}

// dispatch gives a batch to the consumer, and to a worker unless it decodes the batch itself. It
// blocks while the consumer is too far behind, and returns false once the exchange has ended.
func (a *ahead[T]) dispatch(b *batch[T]) bool {
	b.waits = len(b.frames) > 1 || b.size > aloneSize || len(a.slots) > 0 || len(a.order) > 0
	here := !b.waits // read now: once b is in the channel order, it belongs to the consumer
	if here {
		a.decodeAll(b)
	} else if b.decoded == nil {
		b.decoded = make(chan struct{}, 1)
	}
	gone := a.exchange.running.Done()
	limit := int64(min(2*a.exchange.reading.maxObjectBytes, maxAhead))
	for a.isFull(b.size, limit) {
		// No wake-up is lost: either this loop sees the smaller value of held, or the method take
		// sees crowded.
		a.crowded.Store(true)
		if !a.isFull(b.size, limit) {
			break
		}
		select {
		case <-a.room:
		case <-gone:
			return false
		}
	}
	a.held.Add(b.size)
	select {
	case a.order <- b:
	case <-gone:
		return false
	}
	if here {
		return true
	}
	select {
	case a.slots <- struct{}{}:
		a.group.Go(func() { a.worker(b) })
		return true
	case a.work <- b: // a worker has just become free
		return true
	case <-gone:
		return false
	}
}

// isFull reports whether size more bytes would exceed the limit.
func (a *ahead[T]) isFull(size, limit int64) bool {
	held := a.held.Load()
	return held > 0 && held+size > limit
}

// next returns the next result in order, with the contract of a stream's Next.
func (a *ahead[T]) next() (listwatch.Event[T], error) {
	var none listwatch.Event[T]
	for a.err == nil {
		err := a.exchange.ctx.Err()
		if err == nil && a.current == nil {
			err = a.take()
		}
		if err != nil {
			a.err = a.exchange.fail(err)
			break
		}
		if a.taken < len(a.current.results) {
			result := a.current.results[a.taken]
			a.current.results[a.taken] = outcome[T]{} // the result belongs to the consumer now
			a.taken++
			if _, skipped := errors.AsType[*listwatch.ObjectError](result.err); result.err != nil && !skipped {
				a.err = result.err
			}
			return result.value, result.err
		}
		switch end := a.current.end; {
		case end == io.EOF:
			a.err = end
		case end != nil:
			a.err = a.exchange.fail(end)
		}
		a.passed += a.current.size
		a.reuse(a.current)
		a.current, a.taken = nil, 0
	}
	return none, a.err
}

// take waits for the next batch, or until the context ends.
func (a *ahead[T]) take() error {
	running := a.exchange.running
	var b *batch[T]
	select {
	case b = <-a.order:
	case <-running.Done():
		return running.Err()
	}
	if b == nil { // The reading goroutine has ended without a final batch.
		return errors.Join(running.Err(), errGoexit)
	}
	if b.waits {
		select {
		case <-b.decoded:
		case <-running.Done():
			return running.Err()
		}
	}
	a.held.Add(-b.size)
	if a.crowded.Load() && a.crowded.Swap(false) {
		select {
		case a.room <- struct{}{}:
		default: // there is a token already, and the reading goroutine checks held after it
		}
	}
	a.current, a.around, a.arrived = b, b.envelope, b.arrived
	return nil
}

// close ends the stream at any point, and returns when its goroutines have ended.
func (a *ahead[T]) close() {
	a.exchange.close()
	a.group.Wait()
	a.current = nil
	if a.err == nil {
		a.err = a.exchange.fail(errStreamClosed)
	}
}
