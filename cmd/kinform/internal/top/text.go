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

// line is a line of the screen. All texts of others that are in it have come through [safe].
type line []span

// text makes a line of one style.
func text(style style, s string) line { return line{{s, style}} }

// joined returns lines as one.
func joined(parts ...line) (all line) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// width is how many cells a line takes.
func (l line) width() (n int) {
	for _, s := range l {
		n += cells(s.text)
	}
	return n
}

// fit makes a line exactly so wide: it is cut, with a mark, or filled with spaces.
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
	room := width - 1 // for the mark
	var cut line
	for _, s := range l {
		shown := clip(s.text, room)
		room -= cells(shown)
		if shown != "" {
			cut = append(cut, span{shown, s.style})
		}
		if shown != s.text {
			return append(cut, span{"…" + strings.Repeat(" ", room), soft})
		}
	}
	return cut
}

// right fills a line at its left, where it is not as wide.
func (l line) right(width int) line {
	return joined(text(plain, strings.Repeat(" ", max(width-l.width(), 0))), l)
}

// String is the line without styles.
func (l line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// spread has one part at the left, and the other at the right. The left one is cut where there is no room for both.
func spread(left, right line, width int) line {
	room := width - right.width()
	if room < 0 {
		return right.fit(width)
	}
	return joined(left.fit(room), right)
}

// beside puts blocks next to each other. Each is as wide as it is said to be.
func beside(blocks [][]line, widths []int, between []line) (all []line) {
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

// wrapped breaks a text into lines at spaces, and words that are too long where they have to be.
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
			if part == "" { // one character that is wider than the screen
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

// clip returns the beginning of a text that fits.
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

// cells is how many cells a text takes. The texts of this package have only characters that stand for themselves, see [safe].
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

// mostText bounds a text of others, in bytes, as it is shown. Longer than any that package view sends.
const mostText = 2000

// safe makes a text of others one that cannot steer a terminal, and whose width all terminals agree on: what is not a
// visible character, and what changes the character before it or joins with it, becomes a mark. Ends of lines and tabs are among these.
// A text that is safe already stays as it is.
func safe(s string) string {
	if len(s) <= mostText && strings.IndexFunc(s, steers) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s { // An unreadable byte is a utf8.RuneError here, which takes more room than the byte.
		if steers(r) {
			r = utf8.RuneError
		}
		if b.Len()+utf8.RuneLen(r) > mostText {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

func steers(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	if !unicode.IsPrint(r) && r != utf8.RuneError || unicode.Is(unicode.M, r) {
		return true
	}
	// Halves of flags, parts of Hangul syllables, colours of skin: terminals differ in whether they join with what is next to them.
	s, n := string(r), cellsOf(r)
	return n == 0 || ansi.StringWidthWc(s) != n || ansi.StringWidth(s+s) != 2*n || ansi.StringWidth("a"+s+"a") != n+2
}
