package rest

import (
	"errors"
	"io"

	"github.com/kinform/kinform/rest/internal/wire"
)

// maxFrames bounds the frames of a piece: what is made of a tiny one is many times
// as large.
const maxFrames = 512

// piece is a part of a stream: a buffer, as it was filled from the network, and the
// complete frames in it.
type piece struct {
	buffer   *[]byte
	divided  bool // other pieces have frames in buffer, too
	frames   []wire.Frame
	size     int64         // bytes of the frames
	envelope wire.Envelope // what has been read around the frames so far
	arrived  int64         // bytes of the stream, with those of this piece
	end      error         // what follows the frames, nil if there are more pieces
}

// reader cuts a stream into pieces. It starts no goroutine, and waits for the network
// only while it has no frame: a frame is handed out when it has arrived, never later.
type reader struct {
	exchange *exchange
	cutter   wire.Cutter

	buffer        *[]byte // nil at the beginning
	divided       bool    // earlier pieces have frames in buffer
	start, filled int     // these bytes of buffer have arrived, and have not been cut
	latest        int     // bytes that arrived last
	ended         error   // what followed them
	count         int64   // bytes that have arrived, of the whole stream
}

// next fills a piece, which is empty. One with an end is the last.
func (r *reader) next(p *piece) {
	if r.buffer == nil {
		r.buffer = r.exchange.client.newBuffer(0)
	}
	for !r.cut(p) {
		r.read()
	}
	p.envelope = r.cutter.Envelope()
	p.arrived = r.count
}

// cut cuts what has arrived, and reports whether the piece is complete: with as many
// frames as it may have, with those that are there, or with an end.
func (r *reader) cut(p *piece) bool {
	for len(p.frames) < maxFrames {
		f, done, err := r.cutter.Cut((*r.buffer)[r.start:r.filled])
		r.start += done
		rest := (*r.buffer)[r.start:r.filled]
		switch {
		case err == nil && f.Data != nil:
			p.frames = append(p.frames, f)
			p.size += int64(len(f.Data))
			continue
		case err == nil && r.ended != nil:
			err = r.ending(rest)
		}
		if p.buffer, p.divided, p.end = r.buffer, r.divided, err; err != nil {
			return true
		}
		return r.goOn(rest, len(p.frames) > 0)
	}
	p.buffer, p.divided = r.buffer, true
	r.divided = true
	return true
}

// goOn makes room for what follows rest, which is not a whole frame. The buffer is left
// to the piece if that has frames, which goOn returns.
func (r *reader) goOn(rest []byte, taken bool) bool {
	switch {
	case taken:
		used := len(rest)
		if r.latest >= idleSize || r.filled == len(*r.buffer) {
			used = max(used, idleSize) // more is coming
		}
		r.use(r.exchange.client.newBuffer(used), rest)
	case len(rest) == 0 && !r.divided:
		r.start, r.filled = 0, 0 // what was in it has been skipped
	case r.filled == len(*r.buffer): // no frame ends here
		used, divided := r.buffer, r.divided
		r.use(r.exchange.client.newBuffer(len(rest)), rest)
		if !divided {
			r.exchange.client.recycle(used)
		}
	}
	return taken
}

// use goes on in another buffer.
func (r *reader) use(buffer *[]byte, rest []byte) {
	r.buffer, r.divided = buffer, false
	r.start, r.filled = 0, copy(*buffer, rest)
}

// read waits for more bytes.
func (r *reader) read() {
	free := (*r.buffer)[r.filled:]
	if r.filled > r.start || r.cutter.Within() {
		r.latest, r.ended = r.exchange.Read(free)
	} else {
		r.latest, r.ended = r.exchange.idle(free)
	}
	r.filled += r.latest
	r.count += int64(r.latest)
	if x := r.exchange; x.most > 0 && x.sum.Add(int64(r.latest)) > x.most {
		r.ended = x.client.listTooLarge()
	}
}

// ending says what it means that reading has ended and left rest.
func (r *reader) ending(rest []byte) error {
	switch err := r.ended; {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return interrupted(err)
	case isCorrupt(err):
		return wire.Malformed("the body cannot be decompressed: %w", err)
	case err != io.EOF:
		return err
	}
	return r.cutter.End(rest)
}
