package reflector

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

func TestWatchGoesOnFromItsLastVersion(t *testing.T) { // RC-21, RC-24, RC-25
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{whole("10", "a@1")}
		g.source.watches = []reply{
			play(modified("a@11"), bookmark("15"), io.EOF),
			play(time.Minute, io.EOF),
			play(deleted("a@16"), time.Second, io.EOF),
		}
		g.run(t, 2*time.Minute,
			`0s list "0" limit=500`,
			`0s replace "10": a@1`,
			`0s watch "10"`,
			`0s modified a@11`,
			`0s bookmark @15`,
			`0s watch "15"`,
			`1m0s watch "15"`,
			`1m0s deleted a@16`,
			`1m1s watch "16"`,
		)
	})
}

func TestBrokenWatchIsNoReasonToList(t *testing.T) { // RC-22, RC-26, D7, RC-27, D9
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{whole("10")}
		g.source.watches = []reply{
			play(bookmark("11"), errBroken),
			refuse(errRefused), refuse(errRefused), refuse(errRefused),
			play(bookmark("12")),
		}
		g.run(t, time.Minute,
			`0s list "0" limit=500`,
			`0s replace "10":`,
			`0s watch "10"`,
			`0s bookmark @11`,
			`0s reflector: watching: connection reset (failure 1 in a row, next attempt in 800ms)`,
			`800ms watch "11"`,
			`800ms reflector: connecting: dial: connection refused (failure 2 in a row, next attempt in 800ms)`,
			`1.6s watch "11"`,
			`1.6s reflector: connecting: dial: connection refused (failure 3 in a row, next attempt in 1s)`,
			`2.6s watch "11"`,
			`2.6s reflector: connecting: dial: connection refused (failure 4 in a row, next attempt in 1.25s)`,
			`3.85s watch "11"`,
			`3.85s bookmark @12`,
		)
	})
}

func TestWatchesThatKeepFailingLeadToLists(t *testing.T) { // G2
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{whole("10"), whole("20", "a@20")}
		g.source.watches = times(4, play(io.EOF))
		g.run(t, 10*time.Second,
			`0s list "0" limit=500`,
			`0s replace "10":`,
			`0s watch "10"`,
			`0s reflector: watching: the server ended the watch at once, without any event (failure 1 in a row, next attempt in 800ms)`,
			`800ms watch "10"`,
			`800ms reflector: watching: the server ended the watch at once, without any event (failure 2 in a row, next attempt in 1.6s)`,
			`2.4s watch "10"`,
			`2.4s reflector: watching: the server ended the watch at once, without any event (failure 3 in a row, next attempt in 3.2s)`,
			`5.6s list "10" limit=0`,
			`5.6s replace "20": a@20`,
			`5.6s watch "20"`,
			`5.6s reflector: watching: the server ended the watch at once, without any event (failure 4 in a row, next attempt in 6.4s)`,
		)
	})
}

func TestExpiryWaitsOnlyWhenItRepeats(t *testing.T) { // RC-26
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = times(3, whole("10"))
		g.source.watches = []reply{refuse(errExpired), play(errExpired), play()}
		g.run(t, 2*time.Second,
			`0s list "0" limit=500`,
			`0s replace "10":`,
			`0s watch "10"`,
			`0s reflector: connecting: wrapped: too old (failure 1 in a row, going on at once)`,
			`0s list "10" limit=0`,
			`0s replace "10":`,
			`0s watch "10"`,
			`0s reflector: watching: wrapped: too old (failure 2 in a row, next attempt in 1.6s)`,
			`1.6s list "10" limit=0`,
			`1.6s replace "10":`,
			`1.6s watch "10"`,
		)
	})
}

func TestVersionIsNotTakenFromSyntheticEvents(t *testing.T) { // RC-24
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{whole("")}
		g.source.watches = []reply{
			play(added("b@7"), added("a@3"), modified("b@9"), added("c@10"), io.EOF),
		}
		g.run(t, time.Second,
			`0s list "0" limit=500`,
			`0s replace "":`,
			`0s watch ""`,
			`0s added b@7`,
			`0s added a@3`,
			`0s modified b@9`,
			`0s added c@10`,
			`0s watch "10"`,
		)
	})
}

// RC-24: a watch from no version, or from "0", does not show which objects were deleted before it
// began.
func TestWithoutAVersionToResumeFromListsFollow(t *testing.T) {
	for name, end := range map[string]any{
		"an orderly end": io.EOF, "a cut": errBroken, "an error": errInternal, "silence": time.Hour, "a refusal": nil,
	} {
		for _, version := range []string{"", "0"} {
			t.Run(fmt.Sprintf("%s, from %q", name, version), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					g := newRig(Options{})
					g.source.lists = []reply{whole(version, "a@1", "b@2"), whole(version, "a@1")}
					g.source.watches = []reply{play(added("a@1"), added("b@2"), bookmark(""), end)}
					if end == nil {
						g.source.watches[0] = refuse(apierrors.NewServiceUnavailable(""))
					}
					ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
					defer cancel()
					require.NoError(t, g.reflector.Run(ctx))
					require.Equal(t, map[types.NamespacedName]string{key("a"): "1"}, g.sink.content)
					var requests []string
					for _, line := range g.take() {
						if _, call, _ := strings.Cut(line, " "); strings.HasPrefix(call, "list") || strings.HasPrefix(call, "watch") {
							requests = append(requests, call)
						}
					}
					list, watch := `list "0" limit=500`, fmt.Sprintf("watch %q", version)
					require.Equal(t, []string{list, watch, list, watch}, requests[:4])
				})
			})
		}
	}
}

// A bookmark with version 0 is ignored. The reflector keeps the version that it had, and resumes
// the watch from there.
func TestABookmarkOfVersionZeroTakesNoVersionAway(t *testing.T) { // RC-24
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{whole("10")}
		g.source.watches = []reply{play(modified("a@12"), bookmark("0"), io.EOF)}
		g.run(t, time.Second, `0s list "0" limit=500`, `0s replace "10":`, `0s watch "10"`, `0s modified a@12`, `0s watch "12"`)
	})
}

func TestWatchTimeoutIsDrawnFromItsRange(t *testing.T) { // RC-20
	bubble(t, func(t *testing.T) {
		for _, opts := range []Options{{}, {WatchTimeout: time.Second}} {
			opts = opts.withDefaults()
			shortest, longest := opts.watchTimeout(), opts.watchTimeout()
			for range 1000 {
				d := opts.watchTimeout()
				shortest, longest = min(shortest, d), max(longest, d)
			}
			shortest, longest = shortest/opts.WatchTimeout, longest*100/opts.WatchTimeout
			require.EqualValues(t, 1, shortest)
			require.GreaterOrEqual(t, int(longest), 190)
			require.Less(t, int(longest), 200)
		}
	})
}

func TestWatchThatOutlivesItsTimeoutIsReopened(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{WatchIdleTimeout: -1})
		g.source.lists = []reply{whole("10")}
		// and then silence
		g.source.watches = []reply{play(time.Minute, bookmark("11")), play(bookmark("12"))}
		var reopened time.Duration
		g.reflector.opts.Observer.OnPhase = func(c PhaseChange) {
			if c.From == Watching && c.To == Connecting && reopened == 0 {
				reopened = time.Since(g.began)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 11*time.Minute)
		defer cancel()
		require.NoError(t, g.reflector.Run(ctx))

		require.Equal(t, g.source.options[0].Timeout+5*time.Second, reopened)
		require.Equal(t, "11", g.source.options[1].ResourceVersion, "the next watch must start from the last version")
		require.Empty(t, g.reported, "the end must not be reported as a failure")
		require.Zero(t, g.source.open)
	})
}

func TestWatchWithoutAResponseIsRequestedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{WatchIdleTimeout: -1})
		g.source.lists = []reply{whole("10")}
		ctx, cancel := context.WithTimeout(t.Context(), 11*time.Minute)
		defer cancel()
		require.NoError(t, g.reflector.Run(ctx))

		require.ErrorIs(t, g.reported[0], ErrOverdue)
		require.Equal(t, Connecting, g.reported[0].Phase)
		require.Equal(t, "10", g.source.options[1].ResourceVersion)
	})
}

func TestUndecodableObjectsDoNotEndAWatch(t *testing.T) { // RC-23, G11
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{whole("10", "a@1", "b@2")}
		g.source.watches = []reply{play(
			undecodable(listwatch.Modified, "a"), modified("b@12"), undecodable(listwatch.Deleted, "a"), modified("b@13"),
		)}
		g.run(t, time.Second,
			`0s list "0" limit=500`,
			`0s replace "10": a@1 b@2`,
			`0s watch "10"`,
			`0s reflector: watching: object ns/a could not be read: garbage`,
			`0s modified b@12`,
			`0s reflector: watching: object ns/a could not be read: garbage`,
			`0s deleted a@99=`,
			`0s modified b@13`,
		)
		require.Zero(t, g.reflector.Status().Failures)
		require.Equal(t, map[types.NamespacedName]string{key("b"): "13"}, g.sink.content)
	})
}

func TestSinkThatFailsLosesNothing(t *testing.T) { // G2
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{whole("10", "a@1"), whole("10", "a@1"), whole("12", "a@11")}
		g.source.watches = []reply{play(modified("a@11"))}
		g.sink.fail = []error{errBroken, nil, errBroken}
		g.run(t, 2*time.Second,
			`0s list "0" limit=500`,
			`0s replace "10": a@1`,
			`0s reflector: listing: sink: connection reset (failure 1 in a row, next attempt in 800ms)`,
			`800ms list "0" limit=500`,
			`800ms replace "10": a@1`,
			`800ms watch "10"`,
			`800ms modified a@11`,
			`800ms reflector: watching: sink: connection reset (failure 1 in a row, next attempt in 800ms)`,
			`1.6s list "10" limit=0`,
			`1.6s replace "12": a@11`,
			`1.6s watch "12"`,
		)
	})
}
