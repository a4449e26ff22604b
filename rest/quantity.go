package rest

import (
	"bytes"
	"errors"
	"reflect"
)

// errQuantity says that an object is refused because of a quantity in it.
var errQuantity = errors.New("a quantity has an exponent of more than three digits, or more than 512 digits in a row, which apimachinery might calculate with for hours; if it is meant to be there, decode with package rest/sharing or into a type of your own")

// Bounds for the text of a quantity; see wary.
const (
	maxExponent = 3   // digits
	maxDigits   = 512 // in a row
)

// wary is a decoder that does not let apimachinery parse a quantity such as
// 1e-1000000000, with which it would calculate for hours, without an end to it from
// outside (G11). What kind of field a text is in is known only to the decoder. So where
// bytes look like such a quantity, which is rare, it is made an invalid one in a copy:
// if that cannot be decoded, it was a quantity, else a text like any other.
//
//go:noinline
func wary(e Encoding, decode func(data []byte, object any) error) func(data []byte, object any) error {
	return func(data []byte, object any) error {
		at, next := suspect(e, data, 0)
		if at >= 0 && reflect.TypeOf(object) != reflect.TypeFor[*map[string]any]() {
			spoilt := bytes.Clone(data)
			for ; at >= 0; at, next = suspect(e, data, next) {
				spoilt[at] = 'x'
			}
			if decode(spoilt, reflect.New(reflect.TypeOf(object).Elem()).Interface()) != nil {
				return errQuantity
			}
		}
		return decode(data, object)
	}
}

// suspect finds the next digit, from a place on, of what may be a quantity that takes
// too long, and where to go on, or returns -1. Such a quantity has many digits in a
// row, so that only one byte of so many needs to be looked at.
func suspect(e Encoding, data []byte, from int) (at, next int) {
	const row = maxExponent + 1
	for i := from + row - 1; i < len(data); i += row {
		if !isDigit(data[i]) {
			continue
		}
		first, end := i, i+1
		for first > from && isDigit(data[first-1]) {
			first--
		}
		for end < len(data) && isDigit(data[end]) {
			end++
		}
		switch {
		case end-first > maxDigits:
			// The first ones may belong to a length, or to an escape such as \u0001.
			return first + len("0001"), end
		case end-first >= row && isExponent(e, data, first, end):
			return first, end
		}
		from, i = end, end-1
	}
	return -1, 0
}

// isExponent says whether digits are the exponent of a number that may be the whole
// text of a field. In names and hashes there is much that looks like one.
func isExponent(e Encoding, data []byte, first, end int) bool {
	last := first - 1
	if last > 0 && isSign(data[last]) {
		last--
	}
	if last <= 0 || data[last]|0x20 != 'e' || e == JSON && end < len(data) && isWord(data[end]) {
		return false
	}
	start := last // of the digits and the point before it
	for ; start > 0 && (isDigit(data[start-1]) || data[start-1] == '.'); start-- {
		if e == Protobuf && start < last && isLength(data[start-1], end-start) {
			return true // a length that happens to look like a digit
		}
	}
	signed := start
	if start > 0 && isSign(data[start-1]) {
		signed--
	}
	switch {
	case start == last || signed == 0:
		return false
	case e == JSON:
		return !isWord(data[signed-1])
	}
	return isLength(data[start-1], end-start) || isLength(data[signed-1], end-signed)
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isSign(c byte) bool { return c == '-' || c == '+' }

// isWord says whether a number that c stands next to is only a part of something.
func isWord(c byte) bool {
	return isDigit(c) || isSign(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '/' || c == '.'
}

// isLength says whether c may end the length of a field, which is a varint, and may be
// longer than it needs to be.
func isLength(c byte, length int) bool {
	return int(c) == length || c == 0 || length > 127
}
