package indexer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

func TestAVersionThatCannotBeComparedReplacesTheOld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{"", "7", "7"}, {"7", "", "7"}, {"7", "0", "7"}, {"", "", ""}, {"", "0", ""},
		{"7", "8", "8"}, {"8", "7", "8"}, {"9", "10", "10"}, {"10", "9", "10"}, {"7", "7", "7"},
		{"8", "07", "07"}, {"10", "x", "x"}, {"xx", "7", "7"}, {"0x", "7", "7"}, {"12", "-1", "-1"}, {"100", "1 0", "1 0"},
	} {
		require.Equal(t, c.want, advanceVersion(c.from, c.to), "from %q to %q", c.from, c.to)
	}
}

// Kubernetes has a function that compares versions. advanceVersion gives the same results, and is
// faster in the usual case.
func TestVersionsAreComparedAsKubernetesDoes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	version := func() string {
		s := make([]byte, random.IntN(4))
		for i := range s {
			s[i] = "0123459/:x"[random.IntN(10)]
		}
		return string(s)
	}
	lower := 0
	for range 100_000 {
		from, to := version(), version()
		want := to
		if order, err := resourceversion.CompareResourceVersion(to, from); err == nil && order < 0 {
			want = from
			lower++
		}
		if to == "" || to == "0" {
			want = from
		}
		require.Equal(t, want, advanceVersion(from, to), "from %q to %q", from, to)
	}
	require.NotZero(t, lower)
}
