package demo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPercentiles(t *testing.T) {
	t.Parallel()
	var l latencies
	p50, p99 := l.percentiles()
	require.Zero(t, p50)
	require.Zero(t, p99)

	for ms := 100; ms > 0; ms-- {
		l.add(time.Duration(ms) * time.Millisecond)
	}
	p50, p99 = l.percentiles()
	require.Equal(t, 51*time.Millisecond, p50)
	require.Equal(t, 100*time.Millisecond, p99)
}

func TestNewestLatenciesAreKept(t *testing.T) {
	t.Parallel()
	var l latencies
	for range 10 {
		l.add(time.Hour)
	}
	for range maxLatencies {
		l.add(time.Millisecond)
	}
	require.Len(t, l.all, maxLatencies)
	_, p99 := l.percentiles()
	require.Equal(t, time.Millisecond, p99)
	require.NotContains(t, l.all, time.Hour)
}
