package rest

import (
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/kinform/kinform/listwatch"
)

// The sizes of the buffers that are filled from the network: while bytes arrive
// faster than they are read, and else. A watch waits most of its time, with its
// buffer.
const (
	feedSize = 64 << 10
	idleSize = 4 << 10
)

// maxWorkers bounds the goroutines that decode for one stream. One goroutine
// cuts, and more than this many could not be kept busy by it.
const maxWorkers = 8

// aloneSize is the largest frame that the reader decodes itself. While it does, what
// follows comes together, and is enough for the workers, unless frames are larger.
const aloneSize = feedSize / 4

// maxAhead bounds the bytes of the frames that have been read and not handed out, unless
// they are those of one batch: of each byte, MaxExpansion may have been made.
const maxAhead = 8 << 20

// maxFrames bounds the frames of a batch: what is made of a tiny one is many times
// as large.
const maxFrames = 512

// A cutter finds the frames in a stream of bytes that arrives in pieces. A frame
// is the encoding of one object, or of one watch event.
type cutter interface {
	// cut returns the first frame of data, and how many bytes of data are done
	// with, that frame included. A frame without data means that more bytes are
	// needed; the next call then gets data from where this one left off.
	cut(data []byte) (f frame, done int, err error)

	// end says what it means that the stream ended and left rest: io.EOF if that
	// is orderly, and otherwise what is missing.
	end(rest []byte) error

	// within says whether something has begun of which the rest is skipped.
	within() bool

	// envelope is what has been read so far around the frames.
	envelope() envelope
}

// frame is the bytes of one object or event, or, with an error, the start of one
// that is skipped.
type frame struct {
	data []byte
	err  error
	size jsonSize // in JSON
}

// envelope is what a list says about itself.
type envelope struct {
	apiVersion string
	kind       string
	meta       listwatch.ListMeta
}

// ahead reads a stream, cuts it into frames and decodes these beside the
// goroutine that consumes them, on several cores, and hands them out in the order
// in which they arrived.
//
// What is passed around is the buffer. The reader fills one from the network and
// cuts it; when it would have to wait for more bytes, it gives the buffer with
// its frames to a worker, and goes on in another one, into which it copies the
// incomplete frame at the end. So frames are complete when they have arrived,
// never later, and many of them share the cost of being handed over. A frame that
// comes alone while nobody is busy, as the event of a quiet watch does, is decoded
// by the reader itself: to wake a worker would take longer.
type ahead[T any] struct {
	exchange *exchange
	cutter   cutter
	decode   func(frame, *envelope) (listwatch.Event[T], error)

	order chan *batch[T] // to the consumer; its capacity bounds how far reading runs ahead
	work  chan *batch[T] // to the workers, the same batches
	slots chan struct{}  // one token for each worker that runs
	held  atomic.Int64   // bytes of the frames in order, a bound for reading ahead as well
	room  chan struct{}  // tells the reader that held has become less
	// crowded says that the reader waits for room, or is about to. That room is full
	// would not do: a send that fails synchronizes with nothing.
	crowded atomic.Bool
	count   int64 // bytes that have arrived, as the reader knows
	group   sync.WaitGroup
	done    sync.Pool // of *batch[T], to be used again

	current *batch[T] // from here on used by the consumer only
	taken   int       // results of current that were handed out
	around  envelope  // as of current
	passed  int64     // bytes of the frames in batches before current
	err     error     // the last word
}

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

// startAhead starts to read the answer of an exchange, which it closes in close.
func startAhead[T any](x *exchange, c cutter, decode func(frame, *envelope) (listwatch.Event[T], error)) *ahead[T] {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers)
	a := &ahead[T]{
		exchange: x, cutter: c, decode: decode,
		order: make(chan *batch[T], 2*workers), work: make(chan *batch[T]), slots: make(chan struct{}, workers),
		room: make(chan struct{}, 1),
	}
	a.group.Go(a.read)
	return a
}

// read fills buffers and cuts them, until the stream ends.
func (a *ahead[T]) read() {
	defer close(a.work)
	b := a.newBatch(a.newBuffer(0), false)
	finished := false
	defer func() {
		if !finished {
			a.goneWith(b)
		}
	}()
	finished = a.readOn(&b)
}

// goneWith tells the consumer that the reader has ended at b, in the middle of something.
func (a *ahead[T]) goneWith(b *batch[T]) {
	b.end, b.waits, b.size = errGoexit, false, 0
	select {
	case a.order <- b:
	case <-a.exchange.running.Done():
	}
}

// readOn is read, beginning with an empty batch. It keeps current what is read into, and
// is true.
func (a *ahead[T]) readOn(current **batch[T]) bool {
	b := *current
	var start, filled int // of the buffer, these bytes are not cut yet
	var n int             // bytes that arrived last
	var ended error
	for {
		for {
			f, done, err := a.cutter.cut((*b.buffer)[start:filled])
			start += done
			if err != nil {
				b.end = err
				a.dispatch(b)
				return true
			}
			if f.data == nil {
				break
			}
			b.frames = append(b.frames, f)
			b.size += int64(len(f.data))
			if len(b.frames) == maxFrames {
				b.shared = true
				next := a.newBatch(b.buffer, true)
				if !a.dispatch(b) {
					return true
				}
				b, *current = next, next
			}
		}
		rest := (*b.buffer)[start:filled]
		switch {
		case ended != nil:
			b.end = a.ending(ended, rest)
			a.dispatch(b)
			return true
		case len(b.frames) > 0:
			used := len(rest)
			if n >= idleSize || filled == len(*b.buffer) {
				used = max(used, idleSize) // more is coming
			}
			next := a.newBatch(a.newBuffer(used), false)
			start, filled = 0, copy(*next.buffer, rest)
			if !a.dispatch(b) {
				return true
			}
			b, *current = next, next
		case len(rest) == 0 && !b.shared:
			start, filled = 0, 0 // what was in it has been skipped
		case filled == len(*b.buffer):
			// No frame ends here: make room behind the bytes that have arrived.
			larger := a.newBuffer(len(rest))
			start, filled = 0, copy(*larger, rest)
			a.recycle(b)
			b.buffer, b.shared = larger, false
		}
		if filled > start || a.cutter.within() {
			n, ended = a.exchange.Read((*b.buffer)[filled:])
		} else {
			n, ended = a.exchange.idle((*b.buffer)[filled:])
		}
		filled += n
		a.count += int64(n)
		if x := a.exchange; x.most > 0 && x.sum.Add(int64(n)) > x.most {
			ended = a.exchange.client.listTooLarge()
		}
	}
}

// ending says what it means that reading ended with err and left rest.
func (a *ahead[T]) ending(err error, rest []byte) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return interrupted(err)
	case isCorrupt(err):
		return malformed("the body cannot be decompressed: %w", err)
	case err != io.EOF:
		return err
	}
	return a.cutter.end(rest)
}

// dispatch gives a batch to the consumer and to a worker. It blocks while the
// consumer is too far behind, and answers false when nobody is there any more.
func (a *ahead[T]) dispatch(b *batch[T]) bool {
	b.envelope = a.cutter.envelope()
	b.envelope.meta.Bytes = a.count
	b.waits = len(b.frames) > 1 || b.size > aloneSize || len(a.slots) > 0 || len(a.order) > 0
	here := !b.waits // b is the consumer's as soon as it is in order
	if here {
		a.decodeAll(b)
	} else if b.decoded == nil {
		b.decoded = make(chan struct{}, 1)
	}
	gone := a.exchange.running.Done()
	limit := int64(min(2*a.exchange.client.maxObjectBytes, maxAhead))
	for a.isFull(b.size, limit) {
		// Either this sees that held has become less, or take sees that it is waited for.
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

// isFull reports whether there is no room for that many bytes more.
func (a *ahead[T]) isFull(size, limit int64) bool {
	held := a.held.Load()
	return held > 0 && held+size > limit
}

// worker decodes b, and then one batch after another as long as one is waiting: a
// watch on which nothing happens has no workers.
func (a *ahead[T]) worker(b *batch[T]) {
	growStack()
	decoding := true
	defer func() {
		if decoding {
			b.decoded <- struct{}{}
			<-a.slots
		}
	}()
	for ok := true; ok; {
		decoding = true
		a.decodeAll(b)
		decoding = false
		b.decoded <- struct{}{}
		select {
		case b, ok = <-a.work:
		default:
			<-a.slots
			return
		}
	}
}

// decodeAll makes results of the frames of a batch.
func (a *ahead[T]) decodeAll(b *batch[T]) {
	if cap(b.results) < len(b.frames) {
		b.results = make([]outcome[T], len(b.frames))
	}
	b.results = b.results[:len(b.frames)]
	i, finished := 0, false
	defer func() {
		if !finished {
			b.results[i] = outcome[T]{err: errGoexit} // after which nothing is read
		}
	}()
	var f frame
	for i, f = range b.frames {
		b.results[i].value, b.results[i].err = a.decode(f, &b.envelope)
	}
	finished = true
	a.recycle(b)
	clear(b.frames)
	b.buffer, b.frames = nil, b.frames[:0]
}

// errGoexit is what remains of a type's method that ended the goroutine of a decoder.
var errGoexit = errors.New("rest: a method of the Go type called runtime.Goexit while an object was decoded, which ended the stream; testing's FailNow does so: call it in the test's own goroutine only")

// growStack makes room on the stack for decoding, at once and while there is next to
// nothing on it. Step by step, in the middle of decoding, it costs a worker more
// than a batch is worth.
//
//go:noinline
func growStack() {
	var room [6 << 10]byte
	runtime.KeepAlive(&room)
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

// next returns the next result in order, with the contract of a stream's Next.
func (a *ahead[T]) next() (listwatch.Event[T], error) {
	var none listwatch.Event[T]
	for a.err == nil {
		if a.exchange.ctx.Err() != nil || a.current == nil && !a.take() {
			a.err = a.exchange.fail(a.exchange.running.Err())
			break
		}
		if a.taken < len(a.current.results) {
			result := a.current.results[a.taken]
			a.current.results[a.taken] = outcome[T]{} // it belongs to the consumer now
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

// take waits for the next batch, and answers false when the context has ended.
func (a *ahead[T]) take() bool {
	gone := a.exchange.running.Done()
	var b *batch[T]
	select {
	case b = <-a.order:
	case <-gone:
		return false
	}
	if b.waits {
		select {
		case <-b.decoded:
		case <-gone:
			return false
		}
	}
	a.held.Add(-b.size)
	if a.crowded.Load() && a.crowded.Swap(false) {
		select {
		case a.room <- struct{}{}:
		default: // The reader has yet to take a token, and looks after that.
		}
	}
	a.current, a.around = b, b.envelope
	return true
}

// close ends the stream, wherever it is, and returns when its goroutines have
// ended.
func (a *ahead[T]) close() {
	a.exchange.close()
	a.group.Wait()
	a.current = nil
	if a.err == nil {
		a.err = a.exchange.fail(errStreamClosed)
	}
}
