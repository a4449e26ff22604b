package sharing

import (
	"errors"
	"fmt"
	"io"
)

// The wire types of protobuf.
const (
	wireVarint     = 0
	wireFixed64    = 1
	wireBytes      = 2
	wireStartGroup = 3
	wireEndGroup   = 4
	wireFixed32    = 5
)

var (
	errShort    = fmt.Errorf("protobuf: a message ends within a field: %w", io.ErrUnexpectedEOF)
	errOverflow = errors.New("protobuf: a number has more than 64 bits")
	errLength   = errors.New("protobuf: a length is negative")
	errGroup    = errors.New("protobuf: a group ends that has not begun")
	errWire     = errors.New("protobuf: unknown wire type")
)

// number reads the varint at data[i:] and says where it ends.
func number(data []byte, i int) (v uint64, end int, err error) {
	if i < len(data) && data[i] < 0x80 {
		return uint64(data[i]), i + 1, nil
	}
	return longNumber(data, i)
}

// longNumber is number for any length. Bits beyond the 64th are dropped, as
// generated code does.
func longNumber(data []byte, i int) (v uint64, end int, err error) {
	for shift := 0; shift < 64; shift += 7 {
		if i >= len(data) {
			return 0, 0, errShort
		}
		b := data[i]
		i++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, i, nil
		}
	}
	return 0, 0, errOverflow
}

// contents finds what follows the length at data[i:].
func contents(data []byte, i int) (start, end int, err error) {
	length, start, err := number(data, i)
	switch {
	case err != nil:
		return 0, 0, err
	case int(length) < 0:
		return 0, 0, errLength
	case length > uint64(len(data)-start):
		return 0, 0, errShort
	}
	return start, start + int(length), nil
}

// skip finds the end of a field that is of no interest; its tag was read before i.
// Groups, which proto2 had, are skipped with all that is in them.
func skip(data []byte, i int, wire uint64) (end int, err error) {
	for depth := 0; ; {
		switch wire {
		case wireVarint:
			_, i, err = number(data, i)
		case wireFixed64:
			i += 8
		case wireFixed32:
			i += 4
		case wireBytes:
			_, i, err = contents(data, i)
		case wireStartGroup:
			depth++
		case wireEndGroup:
			if depth == 0 {
				return 0, errGroup
			}
			depth--
		default:
			return 0, errWire
		}
		switch {
		case err != nil:
			return 0, err
		case i > len(data):
			return 0, errShort
		case depth == 0:
			return i, nil
		}
		var tag uint64
		if tag, i, err = number(data, i); err != nil {
			return 0, err
		}
		wire = tag & 7
	}
}

// run measures the fields that follow each other with the same tag: data[start:]
// begins with one whose tag ends at tagEnd and which itself ends at end.
func run(data []byte, start, tagEnd, end int) (count, runEnd int) {
	if tagEnd-start == 1 && (end == len(data) || data[end] != data[start]) {
		return 1, end // which is most often so
	}
	tag := string(data[start:tagEnd])
	for count = 1; len(data)-end >= len(tag) && string(data[end:end+len(tag)]) == tag; count++ {
		_, next, err := contents(data, end+len(tag))
		if err != nil {
			break // whoever goes on from here will meet it again
		}
		end = next
	}
	return count, end
}
