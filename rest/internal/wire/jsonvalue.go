package wire

import (
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is the largest depth of nested values. encoding/json, which API servers use, has the
// same limit.
const MaxDepth = 10_000

// ErrTooDeep is the error for a value that is nested deeper than [MaxDepth].
var ErrTooDeep = errors.New("json: values are nested too deep")

// Unexpected returns the error for data that lacks the expected element at index i. The text want
// describes the element.
func Unexpected(data []byte, i int, want string) error {
	if i >= len(data) {
		return fmt.Errorf("json: %s is expected at byte %d, where the data ends", want, i)
	}
	return fmt.Errorf("json: %s is expected at byte %d, not %q", want, i, data[i])
}

// Space finds the first byte from i on that is not white space.
func Space(data []byte, i int) int {
	for i < len(data) && data[i] <= ' ' && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// These constants classify the bytes within a string.
const (
	ordinary = iota
	ending
	escape
	control
	beyondASCII
)

var stringByteClasses = func() (t [256]uint8) {
	for i := range t {
		switch {
		case i < ' ':
			t[i] = control
		case i >= utf8.RuneSelf:
			t[i] = beyondASCII
		}
	}
	t['"'], t['\\'] = ending, escape
	return t
}()

// StringEnd finds the end of the string that starts with the quote data[i]. plain says that the
// bytes between the quotes are the text itself.
func StringEnd(data []byte, i int) (end int, plain bool, err error) {
	start := i + 1
	plain = true
	high := false
	for i = start; i < len(data); i++ {
		switch stringByteClasses[data[i]] {
		case ending:
			return i + 1, plain && (!high || utf8.Valid(data[start:i])), nil
		case escape:
			plain = false
			if i++; i == len(data) {
				return 0, false, Unexpected(data, i, "an escaped character")
			}
			switch data[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if hex(data[i+1:]) < 0 {
					return 0, false, Unexpected(data, i+1, "a number of four hexadecimal digits")
				}
				i += 4
			default:
				return 0, false, Unexpected(data, i, "an escaped character")
			}
		case control:
			return 0, false, Unexpected(data, i, "the rest of a string")
		case beyondASCII:
			high = true
		}
	}
	return 0, false, Unexpected(data, i, "the end of a string")
}

// hex reads four hexadecimal digits. It returns -1 if data does not start with them.
func hex(data []byte) (r rune) {
	if len(data) < 4 {
		return -1
	}
	for _, c := range data[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// AppendText appends the text of a well-formed string. raw is the string without its quotes.
// AppendText replaces invalid UTF-8 by U+FFFD.
func AppendText(text, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '\\' && raw[i+1] == 'u':
			r := hex(raw[i+2:])
			i += 6
			if utf16.IsSurrogate(r) {
				pair := rune(-1)
				if i+1 < len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
					pair = hex(raw[i+2:])
				}
				if r = utf16.DecodeRune(r, pair); r != utf8.RuneError {
					i += 6
				}
			}
			text = utf8.AppendRune(text, r)
		case c == '\\':
			text = append(text, escapes[raw[i+1]])
			i += 2
		case c < utf8.RuneSelf:
			text = append(text, c)
			i++
		default:
			r, size := utf8.DecodeRune(raw[i:])
			text = utf8.AppendRune(text, r)
			i += size
		}
	}
	return text
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// NumberEnd finds the end of the number that starts at data[i].
func NumberEnd(data []byte, i int) (int, error) {
	if i < len(data) && data[i] == '-' {
		i++
	}
	if i < len(data) && data[i] == '0' {
		i++
	} else if end := digits(data, i); end > i {
		i = end
	} else {
		return 0, Unexpected(data, i, "a digit")
	}
	if i < len(data) && data[i] == '.' {
		end := digits(data, i+1)
		if end == i+1 {
			return 0, Unexpected(data, end, "a digit")
		}
		i = end
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		end := digits(data, i)
		if end == i {
			return 0, Unexpected(data, end, "a digit")
		}
		i = end
	}
	return i, nil
}

// digits finds the end of the digits that start at data[i].
func digits(data []byte, i int) int {
	for i < len(data) && data[i] >= '0' && data[i] <= '9' {
		i++
	}
	return i
}

// WordEnd finds the end of true, false or null at data[i].
func WordEnd(data []byte, i int) (int, error) {
	for _, word := range [...]string{"true", "false", "null"} {
		if len(data)-i >= len(word) && string(data[i:i+len(word)]) == word {
			return i + len(word), nil
		}
	}
	return 0, Unexpected(data, i, "a value")
}

// ValueEnd checks the value that starts at data[i]. It returns where the value ends, and the number
// of its elements or members.
func ValueEnd(data []byte, i, depth int) (end, count int, err error) {
	if i >= len(data) {
		return 0, 0, Unexpected(data, i, "a value")
	}
	c := data[i]
	switch {
	case c == '"':
		end, _, err = StringEnd(data, i)
		return end, 0, err
	case c == '-' || c >= '0' && c <= '9':
		end, err = NumberEnd(data, i)
		return end, 0, err
	case c != '{' && c != '[':
		end, err = WordEnd(data, i)
		return end, 0, err
	}
	if depth++; depth > MaxDepth {
		return 0, 0, ErrTooDeep
	}
	closing := c + 2 // in ASCII
	if i = Space(data, i+1); i < len(data) && data[i] == closing {
		return i + 1, 0, nil
	}
	for {
		if c == '{' {
			if i, err = KeyEnd(data, i); err != nil {
				return 0, 0, err
			}
			if i, err = Colon(data, i); err != nil {
				return 0, 0, err
			}
		}
		if i < len(data) && data[i] == '"' {
			i, _, err = StringEnd(data, i)
		} else {
			i, _, err = ValueEnd(data, i, depth)
		}
		if err != nil {
			return 0, 0, err
		}
		count++
		var more bool
		if i, more, err = NextValue(data, i, closing); !more {
			return i, count, err
		}
	}
}

// KeyEnd finds the end of the key that starts at data[i].
func KeyEnd(data []byte, i int) (int, error) {
	if i >= len(data) || data[i] != '"' {
		return 0, Unexpected(data, i, "a key")
	}
	end, _, err := StringEnd(data, i)
	return end, err
}

// Colon finds the value after a key that ends at i.
func Colon(data []byte, i int) (int, error) {
	if i = Space(data, i); i >= len(data) || data[i] != ':' {
		return 0, Unexpected(data, i, "a colon")
	}
	return Space(data, i+1), nil
}

// NextValue finds the member or element after the one that ends at i. If there is no further member
// or element, the result more is false, and the result at is the end of the object or list.
func NextValue(data []byte, i int, closing byte) (at int, more bool, err error) {
	i = Space(data, i)
	switch {
	case i < len(data) && data[i] == ',':
		return Space(data, i+1), true, nil
	case i < len(data) && data[i] == closing:
		return i + 1, false, nil
	}
	return 0, false, Unexpected(data, i, "a comma or "+string(closing))
}
