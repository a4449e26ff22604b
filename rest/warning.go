package rest

import (
	"iter"
	"strings"
	"sync"
)

// warnings returns the texts of Warning headers that are meant for people:
//
//	299 agent "text" "date", 299 agent "text", ...
//
// The date is optional. One header may have several warnings, because a proxy may join headers.
// Only code 299 is for people; the other codes are about caches (RFC 7234, section 5.5). The part
// of a header that follows a malformed warning is ignored.
func warnings(headers []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, header := range headers {
			for header != "" {
				code, text, after, ok := cutWarning(header)
				if !ok {
					break
				}
				if code == "299" && !yield(text) {
					return
				}
				header = after
			}
		}
	}
}

// cutWarning cuts the first warning off a header.
func cutWarning(header string) (code, text, after string, ok bool) {
	code, header, _ = strings.Cut(strings.TrimSpace(header), " ")
	_, header, ok = strings.Cut(header, ` "`) // after the agent
	if !ok {
		return "", "", "", false
	}
	if text, header, ok = cutQuoted(header); !ok {
		return "", "", "", false
	}
	header = strings.TrimSpace(header)
	if date, found := strings.CutPrefix(header, `"`); found {
		if _, header, ok = cutQuoted(date); !ok {
			return "", "", "", false
		}
	}
	header = strings.TrimSpace(header)
	return code, text, strings.TrimPrefix(header, ","), header == "" || header[0] == ','
}

// cutQuoted reads a quoted string without its first quote. It leaves out control characters,
// which could change the display of a terminal.
func cutQuoted(s string) (text, after string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '"' {
			return b.String(), s[i+1:], true
		}
		if c == '\\' && i+1 < len(s) {
			i++
			c = s[i]
		}
		if c >= ' ' && c != 0x7f {
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// maxWarnings limits how many warnings of one response are reported. Their texts are truncated like
// the texts of a failure. An API server keeps all warnings of a response together below 4 KiB.
const maxWarnings = 64

// maxLoggedWarnings limits how many texts are remembered. Texts may contain names of objects, so
// their number is unbounded.
const maxLoggedWarnings = 1000

// loggedWarnings remembers the warnings that were logged, so that each is logged once. Every
// response for a deprecated version has a warning, and a new watch starts every few minutes.
type loggedWarnings struct {
	mu    sync.Mutex // guards following
	texts map[string]struct{}
}

// addIfNew reports whether a text is new. If there are too many texts, it forgets all of them.
func (w *loggedWarnings) addIfNew(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.texts[text]; known {
		return false
	}
	if w.texts == nil || len(w.texts) >= maxLoggedWarnings {
		w.texts = map[string]struct{}{}
	}
	w.texts[text] = struct{}{}
	return true
}
