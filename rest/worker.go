package rest

import (
	"errors"
	"runtime"

	"github.com/kinform/kinform/rest/internal/wire"
)

// maxWorkers limits the goroutines that decode for one stream. Only one goroutine reads frames, and
// it could not keep more workers busy.
const maxWorkers = 8

// worker decodes b, and then each waiting batch. It ends when no batch waits, so that a quiet watch
// has no workers.
func (a *pipeline[T]) worker(b *batch[T]) {
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

// decodeAll decodes the frames of a batch.
func (a *pipeline[T]) decodeAll(b *batch[T]) {
	if cap(b.results) < len(b.frames) {
		b.results = make([]decodeResult[T], len(b.frames))
	}
	b.results = b.results[:len(b.frames)]
	i, finished := 0, false
	defer func() {
		if !finished {
			b.results[i] = decodeResult[T]{err: errGoexit} // This error ends the stream.
		}
	}()
	var f wire.Frame
	for i, f = range b.frames {
		b.results[i].value, b.results[i].err = a.decode(f, &b.envelope)
	}
	finished = true
	if !b.divided {
		a.exchange.config.recycleBuffer(b.buffer)
	}
	clear(b.frames)
	b.buffer, b.frames = nil, b.frames[:0]
}

// errGoexit is the error of a stream after a method of the type ended the decoding goroutine.
var errGoexit = errors.New("rest: a method of the Go type called runtime.Goexit while decoding an object, which ended the stream: in tests, call FailNow of package testing only in the test's own goroutine")

// growStack grows the stack for decoding once, while there is almost nothing on it to copy.
// Otherwise it would grow step by step, which costs a worker more than decoding a batch.
//
//go:noinline
func growStack() {
	var room [6 << 10]byte
	runtime.KeepAlive(&room)
}
