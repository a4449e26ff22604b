package top

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
)

// The page formats numbers in the same way: see view/page/words.js.
func TestNumberFormatsMatchThePage(t *testing.T) {
	for want, n := range map[string]float64{"0": 0, "999": 999, "1,000": 1000, "1,234,567": 1234567, "12.3 M": 12345678, "-4,200": -4200, "3": 2.5} {
		require.Equal(t, want, formatNumber(n))
	}
	for want, n := range map[string]float64{"0 s": 0, "12 ns": 12e-9, "4.6 µs": 4.6e-6, "11 µs": 11e-6, "1.5 ms": 1.5e-3, "250 ms": 0.25, "1.2 s": 1.2, "90 s": 90, "3 min": 180, "2 h": 7200} {
		require.Equal(t, want, seconds(n))
	}
	for want, n := range map[string]float64{"0 B": 0, "999 B": 999, "1.0 kB": 1000, "590 kB": 590_123, "8.2 MB": 8.2e6, "3.0 GB": 3e9} {
		require.Equal(t, want, formatBytes(n))
	}
	for want, n := range map[string]float64{"0/s": 0, "0.9/s": 0.9, "20/s": 20, "1,500/s": 1500} {
		require.Equal(t, want, rate(n))
	}
	require.Equal(t, "yes", valueOf(view.Number{Unit: "bool"}, 1))
	require.Equal(t, "no", valueOf(view.Number{Unit: "bool"}, 0))
	require.Equal(t, "50 %", valueOf(view.Number{Unit: "%"}, 49.6))
	require.Equal(t, "2.0 kB/s", rateOf(view.Number{Unit: "B"}, 2000))
	require.Equal(t, "…d-000017", shorten("ns-2/pod-000017", 9))
	require.Equal(t, "…語", shorten("日本語", 3))
}

func TestLinesFit(t *testing.T) {
	require.Equal(t, "日本…", text(plain, "日本語").fit(5).String())
	require.Equal(t, "日… ", text(plain, "日本語").fit(4).String(), "half a character is a space")
	require.Equal(t, "ab  ", joined(text(plain, "a"), text(bad, "b")).fit(4).String())
	require.Equal(t, "ab…", joined(text(plain, "ab"), text(bad, "cd")).fit(3).String())
	require.Equal(t, "a…zz", leftAndRight(text(plain, "abcd"), text(plain, "zz"), 4).String())
	var all []string
	for _, l := range wrapped(plain, "one two threeandmore 日本語", 6) {
		all = append(all, l.String())
	}
	require.Equal(t, []string{"one", "two", "threea", "ndmore", "日本語"}, all)
	require.Empty(t, wrapped(plain, "日", 1))
}

// A text is cut between two characters, as close to the limit as possible, whatever it contains.
func TestLongTextsAreCut(t *testing.T) {
	require.Equal(t, strings.Repeat("長", maxText/3)+"…", safe(strings.Repeat("長", 3000)))
	require.Equal(t, "a"+strings.Repeat("長", (maxText-1)/3)+"…", safe("a"+strings.Repeat("長", 3000)))
	require.Equal(t, strings.Repeat("\ufffd", maxText/3)+"…", safe(strings.Repeat("\xff", maxText)))
	require.Equal(t, strings.Repeat("a", maxText), safe(strings.Repeat("a", maxText)))
	require.Equal(t, strings.Repeat("a", maxText)+"…", safe(strings.Repeat("a", maxText+1)))
}

// For any input, safe returns independent, visible characters. All ways to measure the width of the
// result agree.
func FuzzSafe(f *testing.F) {
	f.Add("a\x1b]0;owned\x07\x1b[2J\u009b\x7f\u202e\r\n日本\u0301\u200d\U0001F1E9\U0001F3FE\x00\xff")
	f.Add(strings.Repeat("長", 3000))
	f.Add("\u1112\u1161\u11ab क्षि \u0e33 ❤\ufe0f")
	f.Fuzz(func(t *testing.T, s string) {
		made := safe(s)
		require.True(t, utf8.ValidString(made))
		for _, r := range made {
			require.False(t, isUnsafeRune(r), "%q", r)
		}
		require.Equal(t, cells(made), ansi.StringWidthWc(made), "%q", made)
		require.Equal(t, cells(made), ansi.StringWidth(made), "%q", made)
		require.Equal(t, made, ansi.Strip(made))
		require.Equal(t, made, safe(made))
		require.LessOrEqual(t, len(made), maxText+len("…"))
		for width := range 12 {
			require.Equal(t, width, text(plain, made).fit(width).width())
		}
	})
}
