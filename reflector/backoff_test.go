package reflector

import (
	"context"
	"io"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestWaitsGrowToTheirCapAndNeverExceedIt(t *testing.T) { // RC-3
	t.Parallel()
	b := Backoff{}.withDefaults()
	base := 800 * time.Millisecond
	for n := 1; n < 100; n++ {
		fixed := min(base<<min(n-1, 10), 15*time.Second)
		for range 100 {
			wait := b.wait(n, b.Factor, b.Max)
			require.GreaterOrEqual(t, wait, fixed, "failure %d", n)
			require.LessOrEqual(t, wait, min(2*fixed, 30*time.Second), "failure %d", n)
		}
	}
}

func TestWaitsWithoutJitterAreFixed(t *testing.T) {
	t.Parallel()
	b := Backoff{Base: time.Second, Max: 5 * time.Second, Factor: 3, Jitter: -1}.withDefaults()
	require.Equal(t, 1*time.Second, b.wait(1, b.Factor, b.Max))
	require.Equal(t, 3*time.Second, b.wait(2, b.Factor, b.Max))
	require.Equal(t, 5*time.Second, b.wait(3, b.Factor, b.Max))
	require.Equal(t, 5*time.Second, b.wait(1_000_000, b.Factor, b.Max))
}

func TestWaitsDontStartAfreshWithTime(t *testing.T) { // D8
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = times(1000, refuse(errBroken))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.NoError(t, g.reflector.Run(ctx))

		require.Equal(t, 3200*time.Millisecond, g.reported[2].RetryIn)
		for i, e := range g.reported[6:] {
			require.Equal(t, 30*time.Second, e.RetryIn)
			require.Equal(t, i+7, e.Failures)
		}
		require.Greater(t, len(g.reported), 100)
	})
}

func TestOnlySuccessResetsTheFailureCount(t *testing.T) { // D8
	t.Run("the first event", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(Options{})
			g.source.lists = []reply{whole("10")}
			g.source.watches = []reply{play(errBroken), play(errBroken), play(bookmark("10"), errBroken)}
			requireFailures(t, g, 10*time.Second, 1, 2, 1)
		})
	})
	t.Run("a watch that lasts for as long as the longest wait", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(Options{})
			g.source.lists = []reply{whole("10")}
			g.source.watches = []reply{play(errBroken), play(29*time.Second, errBroken), play(30*time.Second, errBroken)}
			requireFailures(t, g, 2*time.Minute, 1, 2, 1)
		})
	})
	t.Run("a snapshot resets the count of snapshots", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(Options{})
			g.source.lists = []reply{refuse(errBroken), refuse(errBroken), whole("10"), refuse(errBroken), whole("11")}
			g.source.watches = []reply{play(errExpired)}
			requireFailures(t, g, time.Minute, 1, 2, 1, 1)
		})
	})
	t.Run("a snapshot does not reset the count of watches", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(Options{})
			g.source.lists = times(5, whole("10"))
			g.source.watches = times(3, play(errExpired))
			requireFailures(t, g, time.Minute, 1, 2, 3)
		})
	})
	t.Run("an event on which the sink fails does not reset the count", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(Options{})
			g.source.lists = times(5, whole("10"))
			g.source.watches = times(3, play(added("a@11")))
			g.sink.fail = []error{nil, errBroken, nil, errBroken, nil, errBroken}
			requireFailures(t, g, time.Minute, 1, 2, 3)
		})
	})
}

func requireFailures(t *testing.T, g *rig, d time.Duration, want ...int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	require.NoError(t, g.reflector.Run(ctx))
	var got []int
	for _, e := range g.reported {
		got = append(got, e.Failures)
	}
	require.Equal(t, want, got)
}

func TestRetryAfterMayExceedTheCap(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{refuse(apierrors.NewTooManyRequests("busy", 90)), whole("10")}
		g.run(t, 2*time.Minute,
			`0s list "0" limit=500`,
			`0s reflector: listing: busy (failure 1 in a row, next attempt in 1m30s)`,
			`1m30s list "0" limit=500`,
			`1m30s replace "10":`,
			`1m30s watch "10"`,
		)
	})
}

func TestRunEndsAtOnceInEveryPhase(t *testing.T) { // D5, RC-12, RC-28
	for name, c := range map[string]struct {
		mode  ListMode
		phase Phase
		play  func(*script)
	}{
		"requesting a list":           {List, Listing, func(*script) {}},
		"reading a list":              {List, Listing, func(s *script) { s.lists = []reply{play(item("a@1"), time.Hour)} }},
		"waiting after a list":        {List, BackingOff, func(s *script) { s.lists = []reply{refuse(errBroken)} }},
		"requesting a streaming list": {WatchList, Streaming, func(*script) {}},
		"reading a streaming list":    {WatchList, Streaming, func(s *script) { s.watches = []reply{play(added("a@1"))} }},
		"waiting after a streaming list": {WatchList, BackingOff, func(s *script) {
			s.watches = []reply{refuse(errBusy)}
		}},
		"requesting a watch": {List, Connecting, func(s *script) { s.lists = []reply{whole("10")} }},
		"reading a watch":    {List, Watching, func(s *script) { s.lists, s.watches = []reply{whole("10")}, []reply{play()} }},
		"waiting after a watch": {List, BackingOff, func(s *script) {
			s.lists, s.watches = []reply{whole("10")}, []reply{play(io.EOF)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(Options{ListMode: c.mode, Backoff: Backoff{Base: time.Hour, Max: time.Hour}})
				c.play(g.source)
				ctx, cancel := context.WithCancel(t.Context())
				var before Phase
				time.AfterFunc(time.Second, func() {
					before = g.reflector.Status().Phase
					cancel()
				})
				require.NoError(t, g.reflector.Run(ctx))
				require.Equal(t, time.Second, time.Since(g.began))
				require.Equal(t, c.phase, before)
				require.Equal(t, Stopped, g.reflector.Status().Phase)
				require.Zero(t, g.source.open)
				require.LessOrEqual(t, len(g.reported), 1, "the end of the context must not be reported as a failure")
			})
		})
	}
}

// A Retry-After of a year must not make the reflector wait for a year.
func TestRetryAfterOfAYearIsCapped(t *testing.T) {
	year := apierrors.NewTooManyRequests("busy", 365*24*60*60)
	longest := apierrors.NewTooManyRequests("busy", math.MaxInt32)
	negative := apierrors.NewTooManyRequests("busy", -5)
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{refuse(year), refuse(longest), refuse(negative), whole("10")}
		g.run(t, 11*time.Minute,
			`0s list "0" limit=500`,
			`0s reflector: listing: busy (failure 1 in a row, next attempt in 5m0s, although the server asks for 8760h0m0s)`,
			`5m0s list "0" limit=500`,
			`5m0s reflector: listing: busy (failure 2 in a row, next attempt in 5m0s, although the server asks for 596523h14m7s)`,
			`10m0s list "0" limit=500`,
			`10m0s reflector: listing: busy (failure 3 in a row, next attempt in 3.2s)`,
			`10m3.2s list "0" limit=500`,
			`10m3.2s replace "10":`,
			`10m3.2s watch "10"`,
		)
	})
	t.Run("unless MaxRetryAfter allows it", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(Options{Backoff: Backoff{MaxRetryAfter: math.MaxInt64}})
			g.source.lists = []reply{refuse(year), whole("10")}
			g.run(t, 365*24*time.Hour+time.Second,
				`0s list "0" limit=500`,
				`0s reflector: listing: busy (failure 1 in a row, next attempt in 8760h0m0s)`,
				`8760h0m0s list "0" limit=500`,
				`8760h0m0s replace "10":`,
				`8760h0m0s watch "10"`,
			)
		})
	})
}

// Code that retries with a FailureStreak waits as long as a reflector.
func TestFailureStreakWaitsLikeAReflector(t *testing.T) {
	t.Parallel()
	b := Backoff{Jitter: -1}
	var r FailureStreak
	require.Equal(t, 800*time.Millisecond, r.Failed(errCut, b))
	require.Equal(t, time.Second, r.Failed(errRefused, b))
	require.Equal(t, 1250*time.Millisecond, r.Failed(errUnauthorized, b))
	require.Equal(t, 800*time.Millisecond, r.Failed(errExpired, b))
	require.True(t, r.Expired())
	require.Equal(t, 7*time.Second, r.Failed(errBusy, b))
	require.False(t, r.Expired())
	require.Equal(t, 800*time.Millisecond, r.Failed(errRefused, b))
	r.Reached()
	require.Equal(t, 800*time.Millisecond, r.Failed(errRefused, b))
	require.Equal(t, 7, r.Failures())
	require.Equal(t, 2, r.ConnectedFailures())
	for range 20 {
		r.Failed(errForbidden, b)
	}
	require.Equal(t, 5*time.Minute, r.Failed(errForbidden, b))
	require.Equal(t, 30*time.Second, r.Failed(errBroken, b))
}
