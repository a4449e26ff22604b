package quantity

import (
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// limits are the limits beyond which simplify replaces a text by a shorter one. Within these
// limits, apimachinery calculates in microseconds.
type limits struct {
	digits    int // number of digits in the text
	exponent  int // absolute value of the exponent
	magnitude int // the value is less than ten to the power of this
}

// defaultLimits has a magnitude that is larger than the magnitude of each text that FindExtreme
// ignores. The magnitude is not a multiple of three. Otherwise apimachinery would take the text of
// the largest value for canonical, and keep it.
var defaultLimits = limits{digits: 2100, exponent: 2100, magnitude: 2000}

// Parse does the same as resource.ParseQuantity, in bounded time. Its results can also be formatted
// and compared in bounded time.
func Parse(text string) (resource.Quantity, error) {
	if simplified, ok := defaultLimits.simplify(text); ok {
		text = simplified
	}
	return resource.ParseQuantity(text)
}

// hugeExponent is an exponent that stands for all larger exponents, with room for sums in 32 bits.
const hugeExponent = 1 << 30

// simplify returns a text that apimachinery parses quickly, to the same quantity. ok is false if
// apimachinery parses the argument quickly, or if the argument is not a quantity.
func (l limits) simplify(text string) (simplified string, ok bool) {
	if len(text) <= 4 {
		return "", false
	}
	sign, whole, fraction, suffix, ok := split(text)
	if !ok {
		return "", false
	}
	exponent, form := interpret(suffix)
	if form == none {
		return "", false
	}
	digits := len(whole) + len(fraction)
	if int64(exponent)-int64(len(fraction)) < math.MinInt32 && max(len(whole), 1)+len(fraction) <= 18 {
		exponent = hugeExponent // apimachinery's 32-bit arithmetic gives the same result
	}
	exponent = max(-hugeExponent, min(exponent, hugeExponent))
	significant := strings.TrimLeft(whole+fraction, "0")
	// The value is 0.significant times ten to the power of magnitude.
	magnitude := len(whole) - (digits - len(significant)) + exponent
	significant = strings.TrimRight(significant, "0")
	huge := magnitude > l.magnitude && significant != ""
	if digits <= l.digits && exponent <= l.exponent && exponent >= -l.exponent && !huge {
		return "", false
	}
	switch {
	case significant == "":
		if exponent < -9 && !strings.Contains(text[:len(text)-len(suffix)], "0") {
			return "", false // for a text without digits, apimachinery returns an error quickly
		}
		return sign + "0" + zeroSuffix(form, suffix), true
	case form == scientific && huge:
		return sign + "1e" + strconv.Itoa(l.magnitude), true
	case form == scientific:
		return sign + l.scientific(significant, magnitude), true
	case form == decimal && huge:
		return sign + "1" + strings.Repeat("0", l.magnitude-exponent) + suffix, true
	case form == decimal:
		fraction = rounded(fraction, max(0, 9+exponent))
	default:
		if len(whole) > len(beyondInt64) {
			whole, fraction = beyondInt64, ""
		}
		fraction = rounded(fraction, 9+60)
	}
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "."
	}
	return sign + whole + fraction + suffix, true
}

// beyondInt64 is larger than the largest value with a binary suffix.
const beyondInt64 = "99999999999999999999"

// scientific formats a value that is not too large, with an exponent. The text is not canonical,
// because apimachinery would keep a canonical text.
func (l limits) scientific(significant string, magnitude int) string {
	if magnitude <= -9 {
		return "1e-10" // less than 1n
	}
	significant = rounded(significant, magnitude+9)
	exponent := magnitude - len(significant)
	if exponent%3 == 0 {
		significant += "0"
		exponent--
	}
	return significant + "e" + strconv.Itoa(exponent)
}

// rounded shortens a number to its first count digits and one more digit. apimachinery rounds the
// remaining digits up, so it only matters whether they are all zero. With a suffix of base 2, count
// is 9 plus the exponent of the power of two. The remaining digits times this power are less than
// the distance to the next multiple of 1n.
func rounded(digits string, count int) string {
	if len(digits) <= count+1 {
		return digits
	}
	rest := "0"
	if strings.TrimLeft(digits[count:], "0") != "" {
		rest = "1"
	}
	return digits[:count] + rest
}

// split splits a text in the same way as apimachinery. The result whole has no leading zeros.
func split(text string) (sign, whole, fraction, suffix string, ok bool) {
	if text != "" && isSign(text[0]) {
		if text[0] == '-' {
			sign = "-"
		}
		text = text[1:]
	}
	n := digitsOf(text)
	whole, text = strings.TrimLeft(text[:n], "0"), text[n:]
	if text != "" && text[0] == '.' {
		n = digitsOf(text[1:])
		fraction, text = text[1:1+n], text[1+n:]
	}
	suffix = text
	text = strings.TrimLeft(text, "eEinumkKMGTP")
	if text != "" && isSign(text[0]) {
		text = text[1:]
	}
	return sign, whole, fraction, suffix, digitsOf(text) == len(text)
}

// digitsOf returns the number of leading digits of a text.
func digitsOf(text string) int {
	for i := range len(text) {
		if !isDigit(text[i]) {
			return i
		}
	}
	return len(text)
}

// form is one of the three notations of a quantity.
type form uint8

const (
	none form = iota
	decimal
	scientific
	baseTwo
)

// interpret returns the exponent of a suffix. It is 0 for a binary suffix.
func interpret(suffix string) (exponent int, f form) {
	switch suffix {
	case "":
		return 0, decimal
	case "Ki", "Mi", "Gi", "Ti", "Pi", "Ei":
		return 0, baseTwo
	}
	if len(suffix) == 1 {
		if i := strings.Index("num kMGTPE", suffix); i >= 0 && suffix != " " {
			return 3*i - 9, decimal
		}
		return 0, none
	}
	if suffix[0]|0x20 != 'e' {
		return 0, none
	}
	n, err := strconv.ParseInt(suffix[1:], 10, 64)
	if err != nil {
		return 0, none
	}
	return int(int32(n)), scientific // as in apimachinery
}

// zeroSuffix returns the suffix of a zero in a form.
func zeroSuffix(f form, suffix string) string {
	if f == scientific {
		return "e0"
	}
	return suffix
}
