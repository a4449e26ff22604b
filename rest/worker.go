package rest

import (
	"errors"
	"runtime"

	"github.com/kinform/kinform/rest/internal/wire"
)

// maxWorkers bounds the goroutines that decode for one stream. One goroutine
// cuts, and more than this many could not be kept busy by it.
const maxWorkers = 8

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
	var f wire.Frame
	for i, f = range b.frames {
		b.results[i].value, b.results[i].err = a.decode(f, &b.envelope)
	}
	finished = true
	if !b.divided {
		a.exchange.client.recycle(b.buffer)
	}
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
