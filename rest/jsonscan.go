package rest

import (
	"bytes"
	"encoding/json"
	"iter"
)

// jsonScan finds the end of a JSON value. It knows brackets and strings and
// leaves everything else to whoever decodes the value. It can stop anywhere and
// go on when more bytes are there, so that no byte is looked at twice.
type jsonScan struct {
	at       int // where to go on
	depth    int // open brackets
	inString bool
}

// end returns the length of the value that data starts with, or false where more
// bytes are needed; data must then start with the same bytes at the next call. A
// number, true, false and null end where something else follows.
func (s *jsonScan) end(data []byte) (length int, ok bool) {
	i := s.at
	for i < len(data) {
		if s.inString {
			for i < len(data) && data[i] != '"' && data[i] != '\\' {
				i++
			}
			if i == len(data) || data[i] == '\\' && i+1 == len(data) {
				break
			}
			if data[i] == '\\' {
				i += 2
				continue
			}
			s.inString = false
		} else {
			for i < len(data) && structure[data[i]] == 0 {
				i++
			}
			if i == len(data) {
				break
			}
			switch structure[data[i]] {
			case quote:
				s.inString = true
				i++
				continue
			case opening:
				s.depth++
				i++
				continue
			case closing:
				s.depth--
			}
			if s.depth < 0 || s.depth == 0 && structure[data[i]] == delimiter {
				*s = jsonScan{}
				return i, true // after a number, or a word
			}
		}
		i++
		if s.depth == 0 {
			*s = jsonScan{}
			return i, true
		}
	}
	s.at = i
	return 0, false
}

// What a byte outside of strings can mean for the end of a value.
const (
	quote = iota + 1
	opening
	closing
	delimiter
)

var structure = [256]uint8{
	'"': quote, '{': opening, '[': opening, '}': closing, ']': closing,
	',': delimiter, ':': delimiter, ' ': delimiter, '\n': delimiter, '\t': delimiter, '\r': delimiter,
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// spaces is the number of bytes of white space that data starts with.
func spaces(data []byte) int {
	for i, c := range data {
		if !isSpace(c) {
			return i
		}
	}
	return len(data)
}

// jsonFields yields the fields of a complete JSON object in order: the key
// without its quotes, and the value as it stands. What is malformed ends it; who
// needs to know decodes the object.
func jsonFields(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		rest, ok := afterByte(object, '{')
		for ok {
			var key, value []byte
			if key, rest, ok = jsonValue(rest); !ok {
				return
			}
			if rest, ok = afterByte(rest, ':'); !ok {
				return
			}
			if value, rest, ok = jsonValue(rest); !ok || !yield(jsonText(key), value) {
				return
			}
			rest, ok = afterByte(rest, ',')
		}
	}
}

// jsonValue takes the first value off data.
func jsonValue(data []byte) (value, rest []byte, ok bool) {
	data = data[spaces(data):]
	var scan jsonScan
	n, ok := scan.end(data)
	if !ok || n == 0 {
		return nil, nil, false
	}
	return data[:n], data[n:], true
}

// afterByte returns what follows c, if that is the next byte other than space.
func afterByte(data []byte, c byte) ([]byte, bool) {
	data = data[spaces(data):]
	if len(data) == 0 || data[0] != c {
		return nil, false
	}
	return data[1:], true
}

// jsonText returns the text of a JSON string, and nothing for any other value.
// Nearly always that is a part of the value; escapes, and bytes beyond ASCII,
// which may be invalid, are left to encoding/json.
func jsonText(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	plain := value[1 : len(value)-1]
	if bytes.IndexFunc(plain, func(r rune) bool { return r == '\\' || r >= 0x80 }) < 0 {
		return plain
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return nil
	}
	return []byte(text)
}
