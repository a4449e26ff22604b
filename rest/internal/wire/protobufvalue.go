package wire

import (
	"errors"
	"fmt"
	"io"
)

// These are the errors of [Varint], [Contents] and [SkipField].
var (
	ErrTruncated = fmt.Errorf("protobuf: a message ends within a field: %w", io.ErrUnexpectedEOF)
	ErrOverflow  = errors.New("protobuf: a number has more than 64 bits")
	ErrLength    = errors.New("protobuf: a length is negative")
	ErrGroup     = errors.New("protobuf: a group ends that has not begun")
	ErrType      = errors.New("protobuf: unknown wire type")
)

// Varint reads the varint at data[i:], and returns where it ends.
func Varint(data []byte, i int) (v uint64, end int, err error) {
	if i < len(data) && data[i] < 0x80 {
		return uint64(data[i]), i + 1, nil
	}
	return LongVarint(data, i)
}

// LongVarint is [Varint] for varints of several bytes, up to ten. Like generated code, it drops
// bits beyond the 64th.
func LongVarint(data []byte, i int) (v uint64, end int, err error) {
	for shift := 0; shift < 64; shift += 7 {
		if i >= len(data) {
			return 0, 0, ErrTruncated
		}
		b := data[i]
		i++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, i, nil
		}
	}
	return 0, 0, ErrOverflow
}

// Contents finds the bytes that follow the length at data[i:].
func Contents(data []byte, i int) (start, end int, err error) {
	length, start, err := Varint(data, i)
	switch {
	case err != nil:
		return 0, 0, err
	case int(length) < 0:
		return 0, 0, ErrLength
	case length > uint64(len(data)-start):
		return 0, 0, ErrTruncated
	}
	return start, start + int(length), nil
}

// SkipField returns the end of a field whose tag ends at i. It skips a group of proto2 with its
// content.
func SkipField(data []byte, i int, wire uint64) (end int, err error) {
	for depth := 0; ; {
		switch wire {
		case TypeVarint:
			_, i, err = Varint(data, i)
		case TypeFixed64:
			i += 8
		case TypeFixed32:
			i += 4
		case TypeBytes:
			_, i, err = Contents(data, i)
		case TypeStartGroup:
			depth++
		case TypeEndGroup:
			if depth == 0 {
				return 0, ErrGroup
			}
			depth--
		default:
			return 0, ErrType
		}
		switch {
		case err != nil:
			return 0, err
		case i > len(data):
			return 0, ErrTruncated
		case depth == 0:
			return i, nil
		}
		var tag uint64
		if tag, i, err = Varint(data, i); err != nil {
			return 0, err
		}
		wire = tag & 7
	}
}

// CountRepeated counts consecutive fields with the same tag, and returns where the last of these
// fields ends. The first field is data[start:end], and its tag ends at tagEnd.
func CountRepeated(data []byte, start, tagEnd, end int) (count, runEnd int) {
	if tagEnd-start == 1 && (end == len(data) || data[end] != data[start]) {
		return 1, end // the usual case
	}
	tag := string(data[start:tagEnd])
	for count = 1; len(data)-end >= len(tag) && string(data[end:end+len(tag)]) == tag; count++ {
		_, next, err := Contents(data, end+len(tag))
		if err != nil {
			break // the caller continues at this field, and gets the error
		}
		end = next
	}
	return count, end
}
