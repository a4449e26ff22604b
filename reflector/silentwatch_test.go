package reflector

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/listwatch"
)

func TestSilentWatchIsReopenedWhereItWas(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{WatchTimeout: 30 * time.Minute})
		g.source.lists = []reply{whole("10")}
		g.source.watches = []reply{
			play(2*time.Minute, bookmark("11"), 2*time.Minute, modified("a@12"), 170*time.Second, bookmark("13")),
			play(time.Hour), play(bookmark("14")),
		}
		g.run(t, 13*time.Minute,
			`0s list "0" limit=500`,
			`0s replace "10":`,
			`0s watch "10"`,
			`2m0s bookmark @11`,
			`4m0s modified a@12`,
			`6m50s bookmark @13`,
			`9m50s reflector: watching: the watch fell silent: not even a bookmark came`,
			`9m50s watch "13"`,
			`12m50s reflector: watching: the watch fell silent: not even a bookmark came`,
			`12m50s watch "13"`,
			`12m50s bookmark @14`,
		)
		require.ErrorIs(t, g.reported[0], ErrIdle)
		require.Zero(t, g.reflector.Status().Failures)
		require.Zero(t, g.reflector.Status().Errors, "silence must not count as a failure")
	})
}

// kube-apiserver sends no bookmarks for the resource events. While nothing happens there, the
// version expires between two watches, again and again. This is neither a failure nor a reason to
// wait.
func TestSilenceIsNoFailureAndALaterExpiryIsTheFirst(t *testing.T) {
	for name, opts := range map[string]Options{
		"by default":               {},
		"shorter than Backoff.Max": {WatchIdleTimeout: 20 * time.Second},
		"with a long Backoff.Max":  {Backoff: Backoff{Max: time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(opts)
				g.source.lists = times(200, whole("10"))
				for range 100 {
					g.source.watches = append(g.source.watches, play(), play(), refuse(errExpired))
				}
				ctx, cancel := context.WithTimeout(t.Context(), 200*g.reflector.opts.WatchIdleTimeout+time.Second)
				defer cancel()
				require.NoError(t, g.reflector.Run(ctx))
				require.Len(t, g.source.lists, 200-101, "one list after each expired version, and the first list")
				expired := 0
				for _, e := range g.reported {
					require.Zero(t, e.RetryIn)
					if IsExpired(e) {
						expired++
					}
				}
				require.Equal(t, 100, expired)
			})
		})
	}
}

func TestWatchAfterAStreamingListHasAnIdleTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{ListMode: WatchList, WatchIdleTimeout: time.Minute})
		g.source.watches = []reply{play(endMarker("13"))}
		g.run(t, 90*time.Second,
			`0s stream ""`,
			`0s replace "13":`,
			`1m0s reflector: watching: the watch fell silent: not even a bookmark came`,
			`1m0s watch "13"`,
		)
	})
}

func TestNegativeWatchIdleTimeoutAllowsSilence(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{WatchIdleTimeout: -1, WatchTimeout: 24 * time.Hour})
		g.source.lists = []reply{whole("10")}
		g.source.watches = []reply{play(23*time.Hour, bookmark("11"))}
		g.run(t, 24*time.Hour,
			`0s list "0" limit=500`,
			`0s replace "10":`,
			`0s watch "10"`,
			`23h0m0s bookmark @11`,
		)
	})
}

// slowSink takes an hour for each event.
type slowSink struct{ *mirror }

func (s slowSink) Apply(ev listwatch.Event[string]) error {
	time.Sleep(time.Hour)
	return s.mirror.Apply(ev)
}

func TestSlowSinkIsNotTheServersSilence(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{whole("10")}
		g.source.watches = []reply{play(modified("a@11"), 2*time.Minute, modified("a@12"), 2*time.Minute, modified("a@13"))}
		var err error
		g.reflector, err = New(g.source, Sink[string](slowSink{g.sink}), Options{WatchTimeout: 24 * time.Hour, OnError: g.reflector.opts.OnError})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour+5*time.Minute)
		defer cancel()
		require.NoError(t, g.reflector.Run(ctx))
		require.Empty(t, g.reported)
		require.Equal(t, "13", g.sink.content[key("a")])
	})
}

func TestSilenceIsMeasuredExactly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		began := time.Now()
		ended := make(chan time.Duration, 1)
		s := newSilenceTimer(time.Minute, func(error) { ended <- time.Since(began) }, ErrIdle)
		for range 100 {
			time.Sleep(59 * time.Second)
			s.received()
			time.Sleep(17 * time.Second) // the reflector does not wait for the stream in this time
			s.wait()
		}
		require.Equal(t, 7600*time.Second+time.Minute, <-ended)
		s.stop()

		s = newSilenceTimer(time.Minute, func(error) { t.Error("it was stopped") }, ErrIdle)
		s.stop()
		s.check() // as if the timer had fired already
		require.False(t, s.timer.Stop())
	})
}
