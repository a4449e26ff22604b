// Package terminal keeps texts of others from steering the terminal of whoever looks:
// names, versions and messages of a server may hold escape sequences, or characters
// that turn what follows around.
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

// Writer writes texts in which everything that has no picture of its own is spelled
// out, but for spaces, tabs and ends of lines: control characters (\u001b), marks that
// change the direction, and bytes that are no UTF-8 (\xff). In a string of JSON that
// means the same as before. Each call of Write gets whole characters.
//
// All output of the command goes through one, so that nobody has to think of it; what
// is to steer the terminal is written to [Raw]. It may be used by several goroutines:
// what one call writes is in one piece.
type Writer struct {
	to io.Writer

	mu sync.Mutex // held while to is written to
}

// NewWriter returns a writer to another one.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write implements io.Writer. The count is that of p.
func (w *Writer) Write(p []byte) (int, error) {
	shown := escape(string(p), keptByWriter)
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, err := io.WriteString(w.to, shown); err != nil {
		return min(n, len(p)), err
	}
	return len(p), nil
}

// Raw is what a Writer writes to, for the program's own control sequences, or w if it is
// none.
func Raw(w io.Writer) io.Writer {
	for {
		safe, ok := w.(*Writer)
		if !ok {
			return w
		}
		w = safe.to
	}
}

// File is the file that is written to in the end, nil if it is none.
func File(w io.Writer) *os.File {
	f, _ := Raw(w).(*os.File)
	return f
}

// Text is a text as a Writer writes it, in one line: tabs and ends of lines are spelled
// out as well.
func Text(s string) string { return escape(s, func(rune) bool { return false }) }

// Plain says whether a text is written as it is.
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
		case r > 0xffff: // as JSON has it
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		s = s[size:]
	}
	return out.String()
}
