package quantity

// FindExtreme ignores texts within these limits, because apimachinery parses them quickly.
const (
	maxExponent = 3   // number of digits
	maxDigits   = 512 // number of consecutive digits
)

// FindExtreme finds the next text that may be an extreme quantity. It returns the index of one of
// its digits, and the index at which to continue the search. If there is no such text, the result
// at is -1. An extreme quantity has several consecutive digits, so FindExtreme reads only every
// fourth byte until it finds a digit.
func FindExtreme(protobuf bool, data []byte, from int) (at, next int) {
	const step = maxExponent + 1
	for i := from + step - 1; i < len(data); i += step {
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
			// The first digits may be part of a length, or of an escape such as \u0001.
			return first + len("0001"), end
		case end-first >= step && isExponent(protobuf, data, first, end):
			return first, end
		}
		from, i = end, end-1
	}
	return -1, 0
}

// isExponent reports whether digits may be the exponent of a number that is the whole text of a
// field. Many names and hashes contain texts that look like exponents.
func isExponent(protobuf bool, data []byte, first, end int) bool {
	last := first - 1
	if last > 0 && isSign(data[last]) {
		last--
	}
	if last <= 0 || data[last]|0x20 != 'e' || !protobuf && end < len(data) && isWord(data[end]) {
		return false
	}
	start := last // start of the digits and the point before the exponent
	for ; start > 0 && (isDigit(data[start-1]) || data[start-1] == '.'); start-- {
		if protobuf && start < last && isLength(data[start-1], first-start, end-start) {
			return true // the byte may be a length that looks like a digit
		}
	}
	signed := start
	if start > 0 && isSign(data[start-1]) {
		signed--
	}
	switch {
	case start == last:
		return false
	case !protobuf:
		return signed == 0 || !isWord(data[signed-1])
	case signed == 0:
		return false
	}
	return isLength(data[start-1], first-start, end-start) || isLength(data[signed-1], first-signed, end-signed)
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isSign(c byte) bool { return c == '-' || c == '+' }

// isWord reports whether c can be part of a word, so that a number beside it is not a whole text.
func isWord(c byte) bool {
	return isDigit(c) || isSign(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '/' || c == '.'
}

// isLength reports whether c may be the last byte of a field's length. The length is a varint,
// which may be longer than necessary, and the first byte of the text may look like a digit of it.
func isLength(c byte, least, most int) bool {
	return int(c) > least && int(c) <= most || c == 0 || most > 127
}
