package reflector

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/listwatch"
)

func TestRunSendsNoRequestAfterItsContextEnded(t *testing.T) { // RC-29
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, g.reflector.Run(ctx))
		require.Empty(t, g.take())
	})
}

func TestRunMayFollowRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{whole("10"), whole("12")}
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			require.NoError(t, g.reflector.Run(ctx))
		}
		require.Equal(t, []string{
			`0s list "0" limit=500`,
			`0s replace "10":`,
			`0s watch "10"`,
			`1s list "10" limit=0`,
			`1s replace "12":`,
			`1s watch "12"`,
		}, g.take())
	})
}

func TestRunStartsWithoutTheFailuresOfTheLast(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = times(3, refuse(errBroken))
		for _, d := range []time.Duration{time.Second, time.Millisecond, time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			require.NoError(t, g.reflector.Run(ctx))
		}
		require.Equal(t, 2, g.reported[1].Failures)
		require.Equal(t, 1, g.reported[2].Failures)
		require.Len(t, g.reported, 3)
		require.Zero(t, g.reflector.Status().Failures)
	})
}

func TestClosedWatchLeavesNoTimer(t *testing.T) { // G10
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.watches = []reply{play()}
		watch, err := g.reflector.open(t.Context(), listwatch.WatchOptions{}, time.Minute, ErrIdle)
		require.NoError(t, err)
		watch.close()
		require.False(t, watch.overdue.Stop())
		require.False(t, watch.silence.Load().timer.Stop())
	})
}

func TestRunIsRefusedWhileRunning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- g.reflector.Run(ctx) }()
		synctest.Wait()
		require.ErrorIs(t, g.reflector.Run(ctx), ErrRunning)
		cancel()
		require.NoError(t, <-done)
	})
}

func TestPanicsOfTheSourceAreNotRecovered(t *testing.T) { // RC-12
	t.Parallel()
	r, err := New[string](endless{}, &discard{}, Options{})
	require.NoError(t, err)
	require.Panics(t, func() { _ = r.Run(t.Context()) })
	require.Panics(t, func() { _ = r.Run(t.Context()) }, "a second call must panic as well, and not return ErrRunning")
}

func TestNewRefusesContradictions(t *testing.T) {
	t.Parallel()
	var nobody *discard
	for _, c := range []struct {
		source listwatch.Source[string]
		sink   Sink[string]
	}{{nil, &discard{}}, {endless{}, nil}, {(*endless)(nil), &discard{}}, {endless{}, nobody}} {
		_, err := New(c.source, c.sink, Options{})
		require.ErrorContains(t, err, "needs a source and a sink")
	}
	for _, opts := range []Options{
		{ListMode: 7},
		{WatchTimeout: -1},
		{ListProgressTimeout: -1},
		{WatchTimeout: 300},
		{ListProgressTimeout: 60},
		{WatchIdleTimeout: 1},
		{Backoff: Backoff{Base: -1}},
		{Backoff: Backoff{Max: -1}},
		{Backoff: Backoff{Factor: 0.5}},
		{Backoff: Backoff{Base: 800}},
		{Backoff: Backoff{Max: 30}},
		{Backoff: Backoff{PermanentMax: 300}},
		{Backoff: Backoff{PermanentMax: 29 * time.Second}},
		{Backoff: Backoff{Max: time.Hour, PermanentMax: time.Minute}},
	} {
		_, err := New[string](endless{}, &discard{}, opts)
		require.ErrorContains(t, err, "reflector: Options.", "%+v", opts)
	}
}

func TestNamesOfPhasesAndModes(t *testing.T) {
	t.Parallel()
	for p := Idle; p <= Stopped; p++ {
		require.NotContains(t, p.String(), "Phase(")
	}
	require.Equal(t, "Phase(99)", Phase(99).String())
	require.Equal(t, "WatchList", WatchList.String())
	require.Equal(t, "ListMode(9)", ListMode(9).String())
}
