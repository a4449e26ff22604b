package lab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
)

func TestCurveHasFewPointsAndThePeak(t *testing.T) {
	t.Parallel()
	var c curve
	c.add(0, 5)
	c.add(300*time.Microsecond, -1)
	c.add(time.Millisecond, 3)
	require.Equal(t, []view.MemoryPoint{{0, 5}, {0.001, 3}}, c.points, "a span must have its maximum, and at least 0")
	for ms := 2; ms < 60_000; ms++ {
		if c.add(time.Duration(ms)*time.Millisecond, int64(ms%1000)); len(c.points) > maxPoints {
			require.Len(t, c.points, maxPoints)
		}
	}
	c.add(time.Minute, 7)
	require.GreaterOrEqual(t, len(c.points), maxPoints/2-1)
	require.Equal(t, int64(999), c.peak())
	for n, m := range c.points[1:] {
		require.Less(t, c.points[n][0], m[0])
	}
	require.InDelta(t, 60, c.points[len(c.points)-1][0], 2)
}
