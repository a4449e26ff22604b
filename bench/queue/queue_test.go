package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEverythingIsMeasured(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(settings{runs: 1, period: time.Millisecond}, &out))
	for _, r := range rows {
		require.Contains(t, out.String(), r.name)
	}
	require.NotContains(t, out.String(), "NaN")
	require.NotContains(t, out.String(), "Inf")
}
