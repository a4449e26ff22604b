package lab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
)

func TestCurveHasFewMomentsAndThePeak(t *testing.T) {
	t.Parallel()
	var c curve
	c.add(0, 5)
	c.add(300*time.Microsecond, -1)
	c.add(time.Millisecond, 3)
	require.Equal(t, []view.Moment{{0, 5}, {0.001, 3}}, c.moments, "of a span the most, and never less than nothing")
	for ms := 2; ms < 60_000; ms++ {
		if c.add(time.Duration(ms)*time.Millisecond, int64(ms%1000)); len(c.moments) > mostMoments {
			require.Len(t, c.moments, mostMoments)
		}
	}
	c.add(time.Minute, 7)
	require.GreaterOrEqual(t, len(c.moments), mostMoments/2-1)
	require.Equal(t, int64(999), c.peak())
	for n, m := range c.moments[1:] {
		require.Less(t, c.moments[n][0], m[0])
	}
	require.InDelta(t, 60, c.moments[len(c.moments)-1][0], 2)
}
