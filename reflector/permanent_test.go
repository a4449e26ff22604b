package reflector

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/listwatch"
)

var (
	errNotFound  = apierrors.NewNotFound(schema.GroupResource{Resource: "widgets"}, "")
	errOversized = fmt.Errorf("wrapped: %w", listwatch.ErrListTooLarge)
	errForbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "widgets"}, "", errBroken)
)

// After failures that do not go away by themselves, the reflector sends requests ever more rarely,
// but does not stop.
func TestPermanentFailuresSlowDown(t *testing.T) {
	for name, permanent := range map[string]error{"404": errNotFound, "403": errForbidden} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(Options{})
				g.source.lists = append(times(30, refuse(permanent)), whole("10"))
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
				defer cancel()
				require.NoError(t, g.reflector.Run(ctx))

				require.Equal(t, 25600*time.Millisecond, g.reported[5].RetryIn)
				require.Equal(t, 51200*time.Millisecond, g.reported[6].RetryIn, "the wait exceeds Backoff.Max")
				require.Equal(t, 5*time.Minute, g.reported[29].RetryIn)
				require.True(t, g.reflector.Status().Synced, "the reflector recovers when the failure has gone away")
			})
		})
	}
}

func TestOtherFailuresAreNotSlowedDown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{GiveUpAfter: 11})
		g.source.lists = append(append(times(10, refuse(errNotFound)), refuse(errBroken)), times(10, refuse(errNotFound))...)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		defer cancel()
		require.NoError(t, g.reflector.Run(ctx), "there are not eleven consecutive permanent failures")
		require.Equal(t, 5*time.Minute, g.reported[9].RetryIn)
		require.Equal(t, 30*time.Second, g.reported[10].RetryIn, "a lost connection resets the count of permanent failures")
	})
}

// A list that is too large costs more than any other attempt. The reflector repeats it only after a
// long wait, and no part of it reaches the sink (G7).
func TestListThatIsTooLargeIsRetriedAfterALongWait(t *testing.T) {
	for name, mode := range map[string]ListMode{"list": List, "streaming list": WatchList} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(Options{ListMode: mode})
				broken := play(item("a@1"), errOversized)
				g.source.lists = []reply{page("10", "c1", "b@1"), broken, whole("10", "a@1")}
				verbs := []string{`0s list "0" limit=500`, `0s list c1/ limit=500`}
				if mode == WatchList {
					g.source.watches = []reply{play(added("a@1"), errOversized), play(added("a@1"), endMarker("10"))}
					verbs = []string{`0s stream ""`}
				}
				ctx, cancel := context.WithTimeout(t.Context(), 301*time.Second)
				defer cancel()
				require.NoError(t, g.reflector.Run(ctx))
				lines := g.take()
				require.Equal(t, verbs, lines[:len(verbs)])
				require.Contains(t, lines[len(verbs)], "wrapped: list too large (failure 1 in a row, next attempt in 5m0s)")
				require.Contains(t, lines, `5m0s replace "10": a@1`)
				require.Len(t, g.reported, 1)
			})
		})
	}
	t.Run("or Run ends, with GiveUpAfter 1", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(Options{GiveUpAfter: 1})
			g.source.lists = []reply{refuse(errOversized)}
			require.ErrorIs(t, g.reflector.Run(t.Context()), listwatch.ErrListTooLarge)
			require.Zero(t, time.Since(g.began))
		})
	})
	t.Run("the wait is shorter with a shorter PermanentMax", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(Options{Backoff: Backoff{Max: time.Second, PermanentMax: 2 * time.Second, Factor: 1}})
			g.source.lists = []reply{refuse(errOversized), refuse(errOversized), whole("10")}
			g.run(t, 5*time.Second,
				`0s list "0" limit=500`,
				`0s reflector: listing: wrapped: list too large (failure 1 in a row, next attempt in 2s)`,
				`2s list "0" limit=500`,
				`2s reflector: listing: wrapped: list too large (failure 2 in a row, next attempt in 2s)`,
				`4s list "0" limit=500`,
				`4s replace "10":`,
				`4s watch "10"`,
			)
		})
	})
}

func TestPermanentMaxIsNoShorterThanMax(t *testing.T) {
	t.Parallel()
	require.Equal(t, time.Hour, Backoff{Max: time.Hour}.withDefaults().PermanentMax)
	require.Equal(t, 5*time.Minute, Backoff{Max: time.Second}.withDefaults().PermanentMax)
}

func TestRunReturnsAfterGiveUpAfterFailures(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{GiveUpAfter: 3})
		g.source.lists = []reply{whole("10")}
		g.source.watches = []reply{refuse(errNotFound), refuse(errForbidden), refuse(errNotFound)}
		err := g.reflector.Run(t.Context())

		require.True(t, apierrors.IsNotFound(err))
		require.EqualError(t, err, `reflector: connecting: widgets "" not found (failure 3 in a row, giving up)`)
		require.Len(t, g.reported, 3)
		require.True(t, g.reported[2].Final)
		require.False(t, g.reported[1].Final)
		require.Equal(t, err, g.reflector.Status().LastError)
		require.Equal(t, Stopped, g.reflector.Status().Phase)
		require.Equal(t, 2400*time.Millisecond, time.Since(g.began))
		require.Zero(t, g.source.open)
	})
}

// If a client may list but not watch, the sink still makes progress (G2).
func TestSinkMakesProgressWithoutWatches(t *testing.T) {
	for name, refusal := range map[string]error{"403": errForbidden, "404": errNotFound, "405": apierrors.NewMethodNotSupported(schema.GroupResource{}, "watch")} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(Options{})
				g.source.lists = []reply{whole("10", "a@1"), whole("20", "a@15")}
				g.source.watches = times(100, refuse(refusal))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				require.NoError(t, g.reflector.Run(ctx))
				require.Equal(t, "15", g.sink.content[key("a")])
				require.Equal(t, "20", g.reflector.Status().ResourceVersion)
			})
		})
	}
}

// A new Run starts to count from zero.
func TestRunAfterGivingUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{GiveUpAfter: 2})
		g.source.lists = append(times(3, refuse(errForbidden)), whole("10"))
		require.True(t, apierrors.IsForbidden(g.reflector.Run(t.Context())))
		g.take()
		g.began = time.Now()
		g.run(t, time.Second,
			`0s list "0" limit=500`,
			`0s reflector: listing: widgets is forbidden: connection reset (failure 1 in a row, next attempt in 800ms)`,
			`800ms list "0" limit=500`,
			`800ms replace "10":`,
			`800ms watch "10"`,
		)
	})
}
