package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEverythingIsMeasured(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(settings{pods: 20, events: 40, runs: 1, slow: time.Millisecond}, &out))
	for _, r := range rows() {
		require.Contains(t, out.String(), r.name)
	}
	require.Regexp(t, `bare +client-go +plain +kinform`, out.String())
	require.Regexp(t, `p50 +\d+ µs +\d+ µs +\d+ µs +\d+ µs`, out.String())
	require.Regexp(t, `goroutines per informer +\d\.\d +\d\.\d +\d\.\d`, out.String())
	require.NotContains(t, out.String(), "NaN")
	require.NotContains(t, out.String(), "Inf")
}

func TestQuantiles(t *testing.T) {
	t.Parallel()
	var d durations
	for n := range 1000 {
		d = append(d, time.Duration(1000-n)*time.Microsecond)
	}
	require.Equal(t, 501.0, d.quantile(0.5))
	require.Equal(t, 991.0, d.quantile(0.99))
	require.Equal(t, 1000.0, d.quantile(0.9999))
	require.Zero(t, durations{}.quantile(0.5))
}

func TestTheGoroutinesOfAServerAreNotCounted(t *testing.T) {
	t.Parallel()
	require.True(t, serverStacks.MatchString("goroutine 1 [IO wait]:\nnet.x()\ncreated by net/http.(*Server).Serve in goroutine 7\n"))
	require.True(t, serverStacks.MatchString("goroutine 1 [select]:\nx()\ncreated by github.com/kinform/kinform/apitest.(*Server).Listen in goroutine 7\n"))
	require.False(t, serverStacks.MatchString("goroutine 1 [IO wait]:\nnet/http.(*body).Read()\ncreated by sync.(*WaitGroup).Go in goroutine 7\n"))
}

func TestRatiosCompareTheSameRun(t *testing.T) {
	t.Parallel()
	measured := map[string]map[string][]float64{rows()[1].name: {"kinform": {10, 40, 300}, "plain": {70, 70, 70}, "client-go": {20, 100, 1000}}}
	require.Regexp(t, `p99 +100 µs +70 µs +40 µs +0\.40 +<= 0\.50 +met`, compare(measured))
}
