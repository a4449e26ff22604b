package view

import (
	"encoding/json"
	"fmt"
)

// maxJSONValues limits the number of values in a decoded JSON text. A frame with many handlers and
// queues has some thousands of values. The type with the worst ratio, an Event, takes fifty times
// the two bytes of its text "{}". Without a limit, a text of MaxRecordingLine bytes could take
// gigabytes.
const maxJSONValues = 100_000

// Unmarshal decodes JSON from a page or a recording into a [Line], [Pipelines] or a [Lookup]. Since
// the source is not trusted, it refuses a text with more than 100,000 values before it decodes
// anything. The caller limits the number of bytes.
func Unmarshal(text []byte, into any) error {
	if countValues(text) > maxJSONValues {
		return fmt.Errorf("more than %d values", maxJSONValues)
	}
	return json.Unmarshal(text, into)
}

// countValues returns an upper bound of the number of values in a JSON text. Each value except the
// first follows a comma, or begins a list or an object.
func countValues(text []byte) (n int) {
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
