package quantity

// Bounds for the text of a quantity that apimachinery may parse; see Suspect.
const (
	maxExponent = 3   // digits
	maxDigits   = 512 // in a row
)

// Suspect finds the next digit, from a place on, of what may be a quantity that takes
// too long, and where to go on, or returns -1. Such a quantity has many digits in a
// row, so that only one byte of so many needs to be looked at.
func Suspect(protobuf bool, data []byte, from int) (at, next int) {
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
		case end-first >= row && isExponent(protobuf, data, first, end):
			return first, end
		}
		from, i = end, end-1
	}
	return -1, 0
}

// isExponent says whether digits are the exponent of a number that may be the whole
// text of a field. In names and hashes there is much that looks like one.
func isExponent(protobuf bool, data []byte, first, end int) bool {
	last := first - 1
	if last > 0 && isSign(data[last]) {
		last--
	}
	if last <= 0 || data[last]|0x20 != 'e' || !protobuf && end < len(data) && isWord(data[end]) {
		return false
	}
	start := last // of the digits and the point before it
	for ; start > 0 && (isDigit(data[start-1]) || data[start-1] == '.'); start-- {
		if protobuf && start < last && isLength(data[start-1], first-start, end-start) {
			return true // a length that happens to look like a digit
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

// isWord says whether a number that c stands next to is only a part of something.
func isWord(c byte) bool {
	return isDigit(c) || isSign(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '/' || c == '.'
}

// isLength says whether c may end the length of a field, which is a varint, and may be
// longer than it needs to be. What follows the field may look like a digit of it.
func isLength(c byte, least, most int) bool {
	return int(c) > least && int(c) <= most || c == 0 || most > 127
}
