package rest

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nameBytes is how much of an object that is too large is looked at for its name,
// which the encoder of the API server writes first.
const nameBytes = 4 << 10

// protobufList cuts the items out of a list:
//
//	"k8s\0" Unknown{ typeMeta=1{apiVersion=1 kind=2} raw=2{ metadata=1 items=2... } }
//
// Fields may come in any order and unknown ones are skipped, although the server
// writes metadata first.
type protobufList struct {
	max     int
	of      *kinds // what the items may be
	around  envelope
	started bool   // the magic number has been read
	listed  bool   // raw has begun
	left    uint64 // bytes of raw that are still to come
	skip    uint64 // bytes of the current field that are to be dropped
}

func (c *protobufList) within() bool { return true }

func (c *protobufList) envelope() envelope { return c.around }

func (c *protobufList) cut(data []byte) (f frame, done int, err error) {
	for {
		rest := data[done:]
		switch {
		case c.skip > 0:
			n := min(c.skip, uint64(len(rest)))
			c.skip -= n
			done += int(n)
			if c.skip > 0 {
				return frame{}, done, nil
			}
			continue
		case !c.started:
			if n := min(len(rest), len(magic)); string(rest[:n]) != magic[:n] {
				return frame{}, done, malformed("protobuf: the body does not start with the magic number but with %q", beginning(rest))
			}
			if len(rest) < len(magic) {
				return frame{}, done, nil
			}
			c.started = true
			done += len(magic)
			continue
		}

		h, err := readHeader(rest)
		inList := c.left > 0
		switch {
		case err == errShort && !(inList && uint64(len(rest)) >= c.left):
			return frame{}, done, nil
		case err != nil:
			return frame{}, done, err
		case inList && (h.length > c.left || h.length+uint64(h.size) > c.left):
			return frame{}, done, malformed("protobuf: a field of %d bytes in a list that has %d left", h.length, c.left)
		}
		f, taken, err := c.field(h, rest, inList)
		if err != nil || taken == 0 {
			return frame{}, done, err
		}
		if inList {
			c.left -= uint64(h.size) + h.length
		}
		done += taken
		if f.data != nil {
			return f, done, nil
		}
	}
}

// field handles the field that rest starts with and says how many bytes of it are
// done with: 0 if it must be complete and is not.
func (c *protobufList) field(h header, rest []byte, inList bool) (f frame, taken int, err error) {
	var use bool
	if h.wire == wireBytes {
		use = h.field == 1 || h.field == 2
	}
	switch {
	case !use:
		c.skip = h.length
		return frame{}, h.size, nil
	case !inList && h.field == 2: // raw
		if c.listed || h.length > math.MaxInt64 {
			return frame{}, 0, malformed("protobuf: the envelope has two lists, or one of %d bytes", h.length)
		}
		c.listed, c.left = true, h.length
		return frame{}, h.size, nil
	case h.length > uint64(c.max) && inList && h.field == 2: // an item
		start := rest[h.size:]
		if len(start) < nameBytes && uint64(len(start)) < h.length {
			return frame{}, 0, nil
		}
		c.skip = h.length
		return oversized(start, h.length, c.max), h.size, nil
	case h.length > uint64(c.max):
		return frame{}, 0, fmt.Errorf("%w: the head of the list has %d bytes, the limit is %d", ErrTooLarge, h.length, c.max)
	case h.length > uint64(len(rest)-h.size):
		return frame{}, 0, nil
	}
	value := rest[h.size : h.size+int(h.length)]
	taken = h.size + int(h.length)
	switch {
	case inList && h.field == 2:
		return frame{data: value}, taken, nil
	case inList:
		var meta metav1.ListMeta
		if meta, err = readListMeta(value); err == nil {
			err = c.around.take(&meta)
		}
	default:
		var apiVersion, kind []byte
		if apiVersion, kind, err = readTypeMeta(value); err == nil {
			c.around.apiVersion, c.around.kind = string(apiVersion), string(kind)
			err = c.of.checkList(c.around.apiVersion, c.around.kind)
		}
	}
	return frame{}, taken, err
}

// readListMeta reads what a list says about itself. The error of generated code for a
// message that is cut off is that of a lost connection, which this is not: it is only
// quoted.
func readListMeta(message []byte) (meta metav1.ListMeta, err error) {
	if err = guarded(func() error { return meta.Unmarshal(message) }); err != nil {
		err = malformed("metadata of the list: %v", err)
	}
	return meta, err
}

func (c *protobufList) end(rest []byte) error {
	switch {
	case !c.started && len(rest) == 0:
		return malformed("the body is empty")
	case !c.listed || c.left > 0 || c.skip > 0 || len(rest) > 0:
		return malformed("the body ends within the list: %w", io.ErrUnexpectedEOF)
	case c.around.kind == "":
		return errNoKind
	}
	return io.EOF
}

// protobufWatch cuts events out of a watch: four bytes with the length, the most
// significant first, and a metav1.WatchEvent, over and over.
type protobufWatch struct {
	max  int
	skip uint64 // bytes of the current event that are to be dropped
}

func (c *protobufWatch) within() bool { return c.skip > 0 }

func (c *protobufWatch) envelope() envelope { return envelope{} }

func (c *protobufWatch) cut(data []byte) (f frame, done int, err error) {
	if c.skip > 0 {
		n := min(c.skip, uint64(len(data)))
		c.skip -= n
		done = int(n)
	}
	rest := data[done:]
	const prefix = 4
	if len(rest) < prefix {
		return frame{}, done, nil
	}
	length := uint64(binary.BigEndian.Uint32(rest))
	rest = rest[prefix:]
	switch {
	case length > uint64(c.max):
		if len(rest) < nameBytes && uint64(len(rest)) < length {
			return frame{}, done, nil
		}
		c.skip = length
		return oversized(rest, length, c.max), done + prefix, nil
	case length > uint64(len(rest)):
		return frame{}, done, nil
	}
	return frame{data: rest[:length]}, done + prefix + int(length), nil
}

func (c *protobufWatch) end(rest []byte) error {
	if c.skip > 0 || len(rest) > 0 {
		return malformed("the body ends within an event: %w", io.ErrUnexpectedEOF)
	}
	return io.EOF
}

// oversized is the frame for an object that will be skipped.
func oversized(start []byte, length uint64, limit int) frame {
	return frame{
		data: start[:min(uint64(len(start)), length, nameBytes)],
		err:  fmt.Errorf("%w: it has %d bytes, the limit is %d", ErrTooLarge, length, limit),
	}
}

// errNoKind says that a list, complete as it may look, does not say that it is one.
var errNoKind = fmt.Errorf("%w: the answer is an object without a kind, not a list", ErrMalformed)
