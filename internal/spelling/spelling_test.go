package spelling

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimilarReturnsTheClosestNamesFirst(t *testing.T) {
	t.Parallel()
	names := []string{"apiserver", "demo", "watch", "version", "dome"}
	for word, want := range map[string][]string{
		"demoo": {"demo"}, "demp": {"demo", "dome"}, "wacth": {"watch"}, "apisever": {"apiserver"}, "help": {}, "": {},
	} {
		require.Equal(t, want, Similar(word, names), word)
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"pods", "pods", 0}, {"pods", "pod", 1},
		{"pods", "nods", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 2},
	} {
		require.Equal(t, tt.want, Distance(tt.a, tt.b), "%s %s", tt.a, tt.b)
	}
}
