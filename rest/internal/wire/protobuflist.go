package wire

import (
	"fmt"
	"io"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NewProtobufList is like [NewJSONList], for a list in protobuf.
func NewProtobufList(max int, check func(apiVersion, kind string) error) Framer {
	return &protobufList{max: max, check: check}
}

// protobufList finds the items of a list:
//
//	"k8s\0" Unknown{ typeMeta=1{apiVersion=1 kind=2} raw=2{ metadata=1 items=2... } }
//
// Fields may come in any order, although servers write metadata first. A protobufList skips unknown
// fields.
type protobufList struct {
	max      int
	check    func(apiVersion, kind string) error // see NewJSONList
	envelope Envelope
	started  bool   // the magic number has been read
	listed   bool   // the field raw has started
	left     uint64 // bytes of raw that are still missing
	skip     uint64 // bytes of the current field that must still be skipped
}

func (c *protobufList) Incomplete() bool { return true }

func (c *protobufList) Envelope() Envelope { return c.envelope }

func (c *protobufList) NextFrame(data []byte) (f Frame, done int, err error) {
	for {
		rest := data[done:]
		switch {
		case c.skip > 0:
			n := min(c.skip, uint64(len(rest)))
			c.skip -= n
			done += int(n)
			if c.skip > 0 {
				return Frame{}, done, nil
			}
			continue
		case !c.started:
			if n := min(len(rest), len(Magic)); string(rest[:n]) != Magic[:n] {
				return Frame{}, done, Malformed("protobuf: the body does not start with the magic number but with %q", BodyExcerpt(rest))
			}
			if len(rest) < len(Magic) {
				return Frame{}, done, nil
			}
			c.started = true
			done += len(Magic)
			continue
		}

		h, err := readHeader(rest)
		inList := c.left > 0
		switch {
		case err == errIncomplete && !(inList && uint64(len(rest)) >= c.left):
			return Frame{}, done, nil
		case err != nil:
			return Frame{}, done, err
		case inList && (h.Length > c.left || h.Length+uint64(h.Size) > c.left):
			return Frame{}, done, Malformed("protobuf: a field of %d bytes in a list with %d bytes left", h.Length, c.left)
		}
		f, taken, err := c.field(h, rest, inList)
		if err != nil || taken == 0 {
			return Frame{}, done, err
		}
		if inList {
			c.left -= uint64(h.Size) + h.Length
		}
		done += taken
		if f.Data != nil {
			return f, done, nil
		}
	}
}

// field handles the field at the start of the slice rest. The result taken is the number of bytes
// of the slice that the Framer no longer needs. It is 0 if the Framer needs the whole field, but
// some of its bytes have not arrived.
func (c *protobufList) field(h Header, rest []byte, inList bool) (f Frame, taken int, err error) {
	var use bool
	if h.Type == TypeBytes {
		use = h.Field == 1 || h.Field == 2
	}
	switch {
	case !use:
		c.skip = h.Length
		return Frame{}, h.Size, nil
	case !inList && h.Field == 2: // raw
		if c.listed || h.Length > math.MaxInt64 {
			return Frame{}, 0, Malformed("protobuf: the envelope has two lists, or a list of %d bytes", h.Length)
		}
		c.listed, c.left = true, h.Length
		return Frame{}, h.Size, nil
	case h.Length > uint64(c.max) && inList && h.Field == 2: // an item
		start := rest[h.Size:]
		if len(start) < nameBytes && uint64(len(start)) < h.Length {
			return Frame{}, 0, nil
		}
		c.skip = h.Length
		return oversized(start, h.Length, c.max), h.Size, nil
	case h.Length > uint64(c.max):
		return Frame{}, 0, fmt.Errorf("%w: the head of the list has %d bytes, the limit is %d", ErrTooLarge, h.Length, c.max)
	case h.Length > uint64(len(rest)-h.Size):
		return Frame{}, 0, nil
	}
	value := rest[h.Size : h.Size+int(h.Length)]
	taken = h.Size + int(h.Length)
	switch {
	case inList && h.Field == 2:
		return Frame{Data: value}, taken, nil
	case inList:
		var meta metav1.ListMeta
		if meta, err = readListMeta(value); err == nil {
			err = c.envelope.setListMeta(&meta)
		}
	default:
		var apiVersion, kind []byte
		if apiVersion, kind, err = readTypeMeta(value); err == nil {
			c.envelope.APIVersion, c.envelope.Kind = string(apiVersion), string(kind)
			err = c.check(c.envelope.APIVersion, c.envelope.Kind)
		}
	}
	return Frame{}, taken, err
}

// readListMeta reads the metadata of a list. If the message is cut off, generated code returns
// io.ErrUnexpectedEOF, which callers would take for a lost connection. So readListMeta keeps the
// text of the error, and does not wrap it.
func readListMeta(message []byte) (meta metav1.ListMeta, err error) {
	if err = CatchPanic(func() error { return meta.Unmarshal(message) }); err != nil {
		err = Malformed("metadata of the list: %v", err)
	}
	return meta, err
}

func (c *protobufList) End(rest []byte) error {
	switch {
	case !c.started && len(rest) == 0:
		return Malformed("the body is empty")
	case !c.listed || c.left > 0 || c.skip > 0 || len(rest) > 0:
		return Malformed("the body ends within the list: %w", io.ErrUnexpectedEOF)
	case c.envelope.Kind == "":
		return errNoKind
	}
	return io.EOF
}

// errNoKind is the error for a response that is an object without a kind instead of a list.
var errNoKind = fmt.Errorf("%w: the response is an object without a kind, not a list", ErrMalformed)
