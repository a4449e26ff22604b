package top

import (
	"image/color"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// style is the look of a text. A style never carries information alone: letters and words repeat
// it.
type style uint8

const (
	plain style = iota
	muted
	strong
	accent
	good
	bad
	selected // the selected element
	alarm    // important texts that must not be missed
	kindAdded
	kindModified
	kindDeleted
	kindListed
	kindUnchanged
	kindSync
	kindBookmark
	kindKey
	styles
)

// colour has one colour for a light background and one for a dark background. For an unknown
// background it has one of the terminal's own colours.
type colour struct {
	light, dark uint32
	basic       ansi.BasicColor
}

// colours are the colours of the page.
var colours = map[style]colour{
	accent:        {0x1f5f9f, 0x7db8f0, ansi.Cyan},
	good:          {0x1c6b34, 0x7ad394, ansi.Green},
	bad:           {0xb3261e, 0xff9a90, ansi.Red},
	muted:         {0x5b6470, 0x9aa5b1, ansi.BrightBlack},
	kindAdded:     {0x1c7c3c, 0x6fd08c, ansi.Green},
	kindModified:  {0xb35900, 0xffb058, ansi.Yellow},
	kindDeleted:   {0xb3261e, 0xff8a80, ansi.Red},
	kindListed:    {0x1f5f9f, 0x7db8f0, ansi.Cyan},
	kindUnchanged: {0x737b85, 0x929ca7, ansi.BrightBlack},
	kindSync:      {0x7a3f9d, 0xd0a0ee, ansi.Magenta},
	kindBookmark:  {0x5b6470, 0x9aa5b1, ansi.BrightBlack},
	kindKey:       {0x4a5460, 0xb6c0ca, ansi.Blue},
}

// background is the kind of background that a terminal has.
type background uint8

const (
	unknownBackground background = iota
	lightBackground
	darkBackground
)

// palette has the control sequences of the styles.
type palette [styles]string

// paletteFor returns the styles for a background. The terminal library removes styles that the
// terminal does not support, and colours if NO_COLOR is set.
func paletteFor(g background) (p palette) {
	for of := plain + 1; of < styles; of++ {
		s := ansi.NewStyle()
		switch of {
		case strong:
			s = s.Bold()
		case selected:
			s = s.Reverse(true)
		case alarm:
			s = s.Bold().Reverse(true)
		}
		t, coloured := colours[of]
		if coloured {
			s = s.ForegroundColor(t.on(g))
		}
		p[of] = s.String()
	}
	return p
}

func (t colour) on(g background) color.Color {
	switch g {
	case lightBackground:
		return rgb(t.light)
	case darkBackground:
		return rgb(t.dark)
	}
	return t.basic
}

func rgb(c uint32) color.Color {
	return color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 0xff}
}

// render writes lines with their styles.
func (p *palette) render(lines []line) string {
	var b strings.Builder
	for n, l := range lines {
		if n > 0 {
			b.WriteByte('\n')
		}
		for _, s := range l {
			begin := p[s.style]
			b.WriteString(begin)
			b.WriteString(s.text)
			if begin != "" {
				b.WriteString(ansi.ResetStyle)
			}
		}
	}
	return b.String()
}
