package view

import (
	"encoding/json"
	"fmt"
)

// mostJSON bounds the values of a JSON text that is read: a frame of many handlers and queues has some thousands. The
// largest value, an Event, takes fifty times its two bytes, so that a text of MaxRecordingLine would take gigabytes.
const mostJSON = 100_000

// Unmarshal decodes JSON that a page or a recording has: a [Line], [Parts], a [Lookup]. It refuses a text with more than 100,000
// values before it decodes anything, because whoever has made the text is not known. The caller bounds the bytes.
func Unmarshal(text []byte, into any) error {
	if values(text) > mostJSON {
		return fmt.Errorf("it has more than %d values", mostJSON)
	}
	return json.Unmarshal(text, into)
}

// values is at least the number of values in a JSON text: each value but the first follows
// a comma, or begins a list or an object.
func values(text []byte) (n int) {
	for i, quoted := 0, false; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}
