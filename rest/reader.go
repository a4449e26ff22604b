package rest

import (
	"errors"
	"io"

	"github.com/kinform/kinform/rest/internal/transport"
	"github.com/kinform/kinform/rest/internal/wire"
)

// maxFrames limits the number of frames in a piece, because the result of a tiny frame is many
// times as large as the frame.
const maxFrames = 512

// piece is a part of a stream: a buffer that was filled from the network, and the complete
// frames in it.
type piece struct {
	buffer   *[]byte
	divided  bool // other pieces have frames in the same buffer
	frames   []wire.Frame
	size     int64         // bytes of the frames
	envelope wire.Envelope // the fields read around the frames so far
	received int64         // bytes of the stream up to here
	end      error         // the end of the stream after the frames; nil if another piece follows
}

// reader cuts a stream into pieces. It starts no goroutine. It waits for the network only while it
// has no complete frame. So each frame is in a piece as soon as the frame has arrived.
type reader struct {
	exchange *exchange
	framer   wire.Framer

	buffer        *[]byte // nil at the beginning
	divided       bool    // earlier pieces have frames in this buffer
	start, filled int     // this range of buffer has bytes that are not in a frame yet
	lastRead      int     // bytes of the last read
	readErr       error   // error of the last read
	received      int64   // bytes of the whole stream that have arrived
}

// next fills an empty piece. If the piece has an end, it is the last one.
func (r *reader) next(p *piece) {
	if r.buffer == nil {
		r.buffer = r.exchange.config.newBuffer(0)
	}
	for !r.cut(p) {
		r.read()
	}
	p.envelope = r.framer.Envelope()
	p.received = r.received
}

// cut moves complete frames from the bytes that have arrived into the piece. It reports whether the
// piece is complete: the piece has maxFrames frames, or all frames that have arrived, or an end.
func (r *reader) cut(p *piece) bool {
	for len(p.frames) < maxFrames {
		f, done, err := r.framer.NextFrame((*r.buffer)[r.start:r.filled])
		r.start += done
		rest := (*r.buffer)[r.start:r.filled]
		switch {
		case err == nil && f.Data != nil:
			p.frames = append(p.frames, f)
			p.size += int64(len(f.Data))
			continue
		case err == nil && r.readErr != nil:
			err = r.endError(rest)
		}
		if p.buffer, p.divided, p.end = r.buffer, r.divided, err; err != nil {
			return true
		}
		return r.makeRoom(rest, len(p.frames) > 0)
	}
	p.buffer, p.divided = r.buffer, true
	r.divided = true
	return true
}

// makeRoom makes room for more bytes. The slice rest has the bytes so far of an incomplete frame.
// If the argument taken is true, the piece has frames: it is complete and keeps the buffer, and the
// reader gets a new buffer. makeRoom returns the argument taken.
func (r *reader) makeRoom(rest []byte, taken bool) bool {
	switch {
	case taken:
		used := len(rest)
		if r.lastRead >= idleBufferSize || r.filled == len(*r.buffer) {
			used = max(used, idleBufferSize) // more bytes are coming
		}
		r.switchBuffer(r.exchange.config.newBuffer(used), rest)
	case len(rest) == 0 && !r.divided:
		r.start, r.filled = 0, 0 // the framer has skipped these bytes
	case r.filled == len(*r.buffer): // the buffer is full, and lacks the end of the frame
		used, divided := r.buffer, r.divided
		r.switchBuffer(r.exchange.config.newBuffer(len(rest)), rest)
		if !divided {
			r.exchange.config.recycleBuffer(used)
		}
	}
	return taken
}

// switchBuffer continues with another buffer, and copies the bytes of the slice rest to its start.
func (r *reader) switchBuffer(buffer *[]byte, rest []byte) {
	r.buffer, r.divided = buffer, false
	r.start, r.filled = 0, copy(*buffer, rest)
}

// read waits for more bytes.
func (r *reader) read() {
	free := (*r.buffer)[r.filled:]
	if r.filled > r.start || r.framer.Incomplete() {
		r.lastRead, r.readErr = r.exchange.Read(free)
	} else {
		r.lastRead, r.readErr = r.exchange.readIdle(free)
	}
	r.filled += r.lastRead
	r.received += int64(r.lastRead)
	if x := r.exchange; x.maxBytes > 0 && x.listBytes.Add(int64(r.lastRead)) > x.maxBytes {
		r.readErr = x.config.listTooLarge()
	}
}

// endError returns the error that ends a stream. The slice rest has the bytes that are not a
// complete frame.
func (r *reader) endError(rest []byte) error {
	switch err := r.readErr; {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return connectionLostError(err)
	case transport.IsCorrupt(err):
		return wire.Malformed("the body cannot be decompressed: %w", err)
	case err != io.EOF:
		return err
	}
	return r.framer.End(rest)
}
