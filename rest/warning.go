package rest

import "strings"

// warningText returns the text of a Warning header, `299 - "text"` with an
// optional date after it. Only code 299 is for people; the others are about
// caches (RFC 7234, section 5.5).
func warningText(header string) (string, bool) {
	rest, ok := strings.CutPrefix(header, "299 ")
	if !ok {
		return "", false
	}
	_, rest, ok = strings.Cut(rest, ` "`) // after the agent
	if !ok {
		return "", false
	}
	var text strings.Builder
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			return text.String(), true
		case c == '\\' && i+1 < len(rest):
			i++
			text.WriteByte(rest[i])
		default:
			text.WriteByte(c)
		}
	}
	return "", false
}
