package wire

import (
	"encoding/binary"
	"encoding/json"
	"iter"
	"math/bits"
)

// JSONScan finds the end of a JSON value. It knows brackets and strings and leaves
// everything else to the decoder of the value. It can stop anywhere and go on when more
// bytes are there, so that no byte is looked at twice. Its zero value is ready.
//
// Counterpart: plain/client.go has json.Decoder do it, which checks every byte and
// decodes at once; BenchmarkList/JSON.
type JSONScan struct {
	at       int // where to go on
	depth    int // open brackets
	inString bool
	Size     JSONSize // of the value, also after its end
}

// JSONSize is what a scan has counted of a value. A decoder makes little memory of
// anything else.
type JSONSize struct {
	Parts int // objects, lists and commas, of which there are as many as elements and members
	Depth int // of what is nested
}

// End returns the length of the value that data starts with, or false where more
// bytes are needed; data must then start with the same bytes at the next call. A
// number, true, false and null end where something else follows.
func (s *JSONScan) End(data []byte) (length int, ok bool) {
	i, depth, inString, size := s.at, s.depth, s.inString, s.Size
	if i == 0 && depth == 0 {
		size = JSONSize{}
	}
	for i < len(data) {
		if inString {
			i = unescaped(data, i)
			if i == len(data) || data[i] == '\\' && i+1 == len(data) {
				break
			}
			if data[i] == '\\' {
				i += 2
				continue
			}
			inString = false
		} else {
			c := structure[data[i]]
			if c == 0 {
				i++
				continue
			}
			switch c {
			case quote:
				inString = true
				i++
				continue
			case opening:
				depth++
				size.Parts++
				size.Depth = max(size.Depth, depth)
				i++
				continue
			case comma:
				if depth > 0 {
					size.Parts++
					i++
					continue
				}
			case closing:
				depth--
			}
			if depth < 0 || depth == 0 && c >= delimiter {
				*s = JSONScan{Size: size}
				return i, true // after a number, or a word
			}
		}
		i++
		if depth == 0 {
			*s = JSONScan{Size: size}
			return i, true
		}
	}
	s.at, s.depth, s.inString, s.Size = i, depth, inString, size
	return 0, false
}

// skip is End for a value that is dropped: done is how many bytes of data are no longer
// needed, and the next call gets what follows them.
func (s *JSONScan) skip(data []byte) (done int, ended bool) {
	if done, ended = s.End(data); !ended {
		done, s.at = s.at, 0
	}
	return done, ended
}

// unescaped finds the first quote or backslash from i on. It looks at eight bytes at a
// time (BenchmarkList/JSON): in q and b a byte that is looked for is zero. Only there, or
// above it, subtracting one takes from the highest bit of a byte.
func unescaped(data []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; len(data)-i >= 8; i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		q, b := w^ones*'"', w^ones*'\\'
		if hit := ((q-ones)&^q | (b-ones)&^b) & highs; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for i < len(data) && data[i] != '"' && data[i] != '\\' {
		i++
	}
	return i
}

// The meanings of a byte outside of strings for the end of a value.
const (
	quote = iota + 1
	opening
	closing
	delimiter
	comma
)

var structure = [256]uint8{
	'"': quote, '{': opening, '[': opening, '}': closing, ']': closing,
	',': comma, ':': delimiter, ' ': delimiter, '\n': delimiter, '\t': delimiter, '\r': delimiter,
}

// JSONFields yields the fields of a JSON object in order: the key without its quotes,
// and the value as it stands. A malformed field ends it without an error, which only a
// decoder of the object gives. Where the object is cut off within a value that is an object
// itself, the beginning of that value comes last.
func JSONFields(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		rest, ok := AfterByte(object, '{')
		for ok {
			var key, value []byte
			if key, value, rest, ok = jsonField(rest); value == nil || !yield(key, value) {
				return
			}
		}
	}
}

// jsonField takes the first field off the inside of an object, with the comma that
// follows, which is missing after the last one.
func jsonField(data []byte) (key, value, rest []byte, more bool) {
	key, rest, ok := JSONValue(data)
	if ok {
		rest, ok = AfterByte(rest, ':')
	}
	if !ok {
		return nil, nil, nil, false
	}
	value, rest, ok = JSONValue(rest)
	switch {
	case ok:
		rest, more = AfterByte(rest, ',')
		return JSONText(key), value, rest, more
	case len(rest) > 0 && rest[0] == '{':
		return JSONText(key), rest, nil, false
	}
	return nil, nil, nil, false
}

// JSONValue takes the first value off data, or only the space before it, where it is
// not complete.
func JSONValue(data []byte) (value, rest []byte, ok bool) {
	data = data[Space(data, 0):]
	var scan JSONScan
	n, ok := scan.End(data)
	if !ok || n == 0 {
		return nil, data, false
	}
	return data[:n], data[n:], true
}

// AfterByte returns the data that follows c, if c is the next byte other than space.
func AfterByte(data []byte, c byte) ([]byte, bool) {
	data = data[Space(data, 0):]
	if len(data) == 0 || data[0] != c {
		return nil, false
	}
	return data[1:], true
}

// JSONText returns the text of a JSON string, and nothing for any other value.
// Nearly always the text is a part of the value; escapes, and bytes beyond ASCII,
// which may be invalid, are left to encoding/json.
func JSONText(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	plain := value[1 : len(value)-1]
	for _, c := range plain {
		if c == '\\' || c >= 0x80 {
			var text string
			if json.Unmarshal(value, &text) != nil {
				return nil
			}
			return []byte(text)
		}
	}
	return plain
}
