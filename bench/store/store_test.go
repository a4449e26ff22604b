package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryRowIsMeasured(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run("", 200, 2, time.Millisecond, &out))
	require.NotContains(t, out.String(), "NaN")
	require.NotContains(t, out.String(), "Inf")
	require.Regexp(t, `client-go ns +plain ns +kinform ns +ratio`, out.String())
	for _, r := range rows {
		require.Contains(t, out.String(), "\n"+r.name)
	}
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, len(line), 170)
	}
}

// Measurements are only comparable if the stores behave the same.
func TestAllStoresHaveTheSameContent(t *testing.T) {
	const objects = 250
	ours, err := newKinform(objects)
	require.NoError(t, err)
	for _, s := range []side{newClientGo(objects), ours, newTextbook(objects)} {
		require.Equal(t, objects, s.all())
		onFirst, onSecond := s.node(0), s.node(1)
		s.get(0)
		s.update(0, true)
		require.Equal(t, objects, s.all())
		require.Equal(t, onFirst-1, s.node(0), "%T", s)
		require.Equal(t, onSecond+1, s.node(1), "%T", s)
		s.update(0, false)
		require.Equal(t, onSecond+1, s.node(1), "%T", s)
	}
}

func TestRatiosCompareTheSameRun(t *testing.T) {
	ns := func(values ...float64) (all []figure) {
		for _, v := range values {
			all = append(all, figure{nanoseconds: v})
		}
		return all
	}
	m := measurement{byClientGo: ns(20, 100, 1000), byKinform: ns(10, 40, 300), byTextbook: ns(1, 2, 3)}
	require.Equal(t, []float64{0.5, 0.4, 0.3}, m.ratios())
	require.Equal(t, []string{"row", "100", "2", "40", "0.400", "0.40", "0", "0", "0", "0", "0", "0", "met"}, row{name: "row", target: 0.4, limit: -1}.cells(m))
}
