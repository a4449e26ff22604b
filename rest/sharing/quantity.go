package sharing

import (
	"bytes"
	"errors"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// maxQuantity bounds the text of a quantity, in bytes.
const maxQuantity = 1 << 10

// errQuantity says that a quantity is refused on purpose; see [Decoder.DecodeJSON].
var errQuantity = errors.New("a quantity has more than 1024 characters, or an exponent of more than three digits")

// endless reports whether apimachinery would calculate for hours with the text of a
// quantity, such as 1e-1000000000, or for minutes, as with a number of megabytes.
func endless(text []byte) bool {
	if len(text) > maxQuantity {
		return true
	}
	e := bytes.IndexAny(text, "eE")
	if e < 0 {
		return false
	}
	exponent := bytes.TrimLeft(text[e+1:], "+-")
	return digits(exponent, 0) > 3
}

// quantity decodes a Quantity, which is a message with its text as field 1. What is
// malformed is left to its own method.
func quantity(at unsafe.Pointer, data []byte) error {
	for i := 0; i < len(data); {
		tag, end, err := number(data, i)
		if err != nil {
			break
		}
		if tag>>3 == 1 && tag&7 == wireBytes {
			from, end, err := contents(data, end)
			if err == nil && endless(data[from:end]) {
				return errQuantity
			}
		}
		if i, err = skip(data, end, tag&7); err != nil {
			break
		}
	}
	return (*resource.Quantity)(at).Unmarshal(data)
}
