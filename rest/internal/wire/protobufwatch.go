package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// nameBytes is the number of bytes of an oversized object that its frame has. They include the
// name, because API servers write metadata first.
const nameBytes = 4 << 10

// NewProtobufWatch is like [NewJSONWatch], for a watch in protobuf.
func NewProtobufWatch(max int) Framer { return &protobufWatch{max: max} }

// protobufWatch finds the events of a watch. Each event is a length of four bytes, the most
// significant byte first, and a metav1.WatchEvent.
type protobufWatch struct {
	max  int
	skip uint64 // remaining bytes of an oversized event, to be skipped
}

func (c *protobufWatch) Incomplete() bool { return c.skip > 0 }

func (c *protobufWatch) Envelope() Envelope { return Envelope{} }

func (c *protobufWatch) NextFrame(data []byte) (f Frame, done int, err error) {
	if c.skip > 0 {
		n := min(c.skip, uint64(len(data)))
		c.skip -= n
		done = int(n)
	}
	rest := data[done:]
	const prefix = 4
	if len(rest) < prefix {
		return Frame{}, done, nil
	}
	length := uint64(binary.BigEndian.Uint32(rest))
	rest = rest[prefix:]
	switch {
	case length > uint64(c.max):
		if len(rest) < nameBytes && uint64(len(rest)) < length {
			return Frame{}, done, nil
		}
		c.skip = length
		return oversized(rest, length, c.max), done + prefix, nil
	case length > uint64(len(rest)):
		return Frame{}, done, nil
	}
	return Frame{Data: rest[:length]}, done + prefix + int(length), nil
}

func (c *protobufWatch) End(rest []byte) error {
	if c.skip > 0 || len(rest) > 0 {
		return Malformed("the body ends within an event: %w", io.ErrUnexpectedEOF)
	}
	return io.EOF
}

// oversized returns the frame for an oversized item or event. The slice start has the bytes of the
// item or event that have arrived.
func oversized(start []byte, length uint64, limit int) Frame {
	return Frame{
		Data: start[:min(uint64(len(start)), length, nameBytes)],
		Err:  fmt.Errorf("%w: it has %d bytes, the limit is %d", ErrTooLarge, length, limit),
	}
}
