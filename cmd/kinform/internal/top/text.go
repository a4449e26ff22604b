package top

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// span is a text in one style.
type span struct {
	text  string
	style style
}

// line is a line of the screen. All text in it that comes from outside this program has been passed
// through [safe].
type line []span

// text makes a line with one style.
func text(style style, s string) line { return line{{s, style}} }

// joined concatenates lines.
func joined(parts ...line) (all line) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// width returns the number of cells of a line.
func (l line) width() (n int) {
	for _, s := range l {
		n += cells(s.text)
	}
	return n
}

// fit makes a line exactly this wide: it cuts a long line and adds a mark, or it pads a short line
// with spaces.
func (l line) fit(width int) line {
	if width <= 0 {
		return nil
	}
	n := l.width()
	if n == width {
		return l
	}
	if n < width {
		return append(l[:len(l):len(l)], span{strings.Repeat(" ", width-n), plain})
	}
	room := width - 1 // one cell is for the mark
	var cut line
	for _, s := range l {
		shown := clip(s.text, room)
		room -= cells(shown)
		if shown != "" {
			cut = append(cut, span{shown, s.style})
		}
		if shown != s.text {
			return append(cut, span{"…" + strings.Repeat(" ", room), muted})
		}
	}
	return cut
}

// padLeft pads a line with spaces on the left.
func (l line) padLeft(width int) line {
	return joined(text(plain, strings.Repeat(" ", max(width-l.width(), 0))), l)
}

// String returns the line without styles.
func (l line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// leftAndRight puts one part on the left and the other on the right. If there is no room for both,
// it cuts the left part.
func leftAndRight(left, right line, width int) line {
	room := width - right.width()
	if room < 0 {
		return right.fit(width)
	}
	return joined(left.fit(room), right)
}

// sideBySide puts blocks next to each other. Each block has one of the widths.
func sideBySide(blocks [][]line, widths []int, between []line) (all []line) {
	high := 0
	for _, b := range blocks {
		high = max(high, len(b))
	}
	for y := range high {
		var l line
		for n, b := range blocks {
			var part line
			if y < len(b) {
				part = b[y]
			}
			l = append(l, part.fit(widths[n])...)
			if n < len(blocks)-1 && between != nil {
				l = append(l, between[min(y, len(between)-1)]...)
			}
		}
		all = append(all, l)
	}
	return all
}

// wrapped wraps a text at spaces. It breaks words that are too long for a line.
func wrapped(style style, s string, width int) (all []line) {
	if width <= 0 {
		return nil
	}
	var now string
	flush := func() {
		if now != "" {
			all = append(all, text(style, now))
		}
		now = ""
	}
	for _, word := range strings.Fields(s) {
		for cells(word) > width {
			flush()
			part := clip(word, width)
			if part == "" { // The next character is wider than the screen.
				return all
			}
			all = append(all, text(style, part))
			word = word[len(part):]
		}
		switch {
		case now == "":
			now = word
		case cells(now)+1+cells(word) <= width:
			now += " " + word
		default:
			flush()
			now = word
		}
	}
	flush()
	return all
}

// clip returns the longest prefix of a text that fits.
func clip(s string, width int) string {
	n := 0
	for at, r := range s {
		n += cellsOf(r)
		if n > width {
			return s[:at]
		}
	}
	return s
}

// cells returns the number of cells of a text. All texts of this package consist of independent,
// visible characters; see [safe].
func cells(s string) (n int) {
	for _, r := range s {
		n += cellsOf(r)
	}
	return n
}

func cellsOf(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	return ansi.StringWidth(string(r))
}

// maxText limits the length in bytes of a text from outside this program. Package view sends
// shorter texts.
const maxText = 2000

// safe returns a text that cannot control the terminal, and that has the same width in all
// terminals. It replaces every invisible or combining character by a mark, including line ends and
// tabs. A safe text stays unchanged.
func safe(s string) string {
	if len(s) <= maxText && strings.IndexFunc(s, isUnsafeRune) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s { // an invalid byte is a utf8.RuneError here, longer than the byte
		if isUnsafeRune(r) {
			r = utf8.RuneError
		}
		if b.Len()+utf8.RuneLen(r) > maxText {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isUnsafeRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	if !unicode.IsPrint(r) && r != utf8.RuneError || unicode.Is(unicode.M, r) {
		return true
	}
	// Terminals differ in whether they join certain characters with their neighbours: halves of
	// flags, parts of Hangul syllables, skin colours.
	s, n := string(r), cellsOf(r)
	return n == 0 || ansi.StringWidthWc(s) != n || ansi.StringWidth(s+s) != 2*n || ansi.StringWidth("a"+s+"a") != n+2
}
