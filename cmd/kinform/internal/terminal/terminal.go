// Package terminal prevents texts from a server from controlling the user's terminal. Names,
// versions and messages may contain escape sequences, or characters that reverse the text
// direction.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Writer writes texts and escapes invisible characters: control characters (\u001b), marks that
// change the text direction, and bytes that are not UTF-8 (\xff). Spaces, tabs and line ends stay
// unchanged. In a JSON string, an escape still means the original character. Each call of Write
// must get complete characters.
//
// All output of the command goes through a Writer, so that no other code needs to escape texts.
// Control sequences for the terminal go to [File]. Concurrent writes do not interleave their bytes.
type Writer struct {
	to io.Writer

	mu sync.Mutex // held while the field to is written to
}

// NewWriter returns a Writer on top of another writer.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write implements io.Writer. The returned count is a number of bytes of p.
func (w *Writer) Write(p []byte) (int, error) {
	shown := escape(string(p), keptByWriter)
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, err := io.WriteString(w.to, shown); err != nil {
		return min(n, len(p)), err
	}
	return len(p), nil
}

// File returns the file to which w finally writes, or nil if w does not write to a file.
func File(w io.Writer) *os.File {
	if safe, ok := w.(*Writer); ok {
		return File(safe.to)
	}
	f, _ := w.(*os.File)
	return f
}

// Text escapes a text like a Writer, and also escapes tabs and line ends, so the result is one
// line.
func Text(s string) string { return escape(s, func(rune) bool { return false }) }

// Plain reports whether a Writer writes a text unchanged.
func Plain(s string) bool {
	return escape(s, keptByWriter) == s
}

func keptByWriter(r rune) bool { return r == '\n' || r == '\t' }

func escape(s string, keep func(rune) bool) string {
	plain := func(r rune) bool { return unicode.IsPrint(r) || keep(r) }
	bad := func(r rune) bool { return r == utf8.RuneError || !plain(r) }
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	var out strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, s[0])
		case plain(r):
			out.WriteString(s[:size])
		case r > 0xffff: // JSON needs two escapes for such a character.
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		s = s[size:]
	}
	return out.String()
}
