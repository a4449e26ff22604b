package reflector

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
)

// newComparingRig is newRig with a reflector that compares histories, and that starts with a list
// at version 10. watches are the replies to watches, beginning with the watch after this list.
func newComparingRig(opts Options, watches []reply, lists ...reply) *rig {
	g := newRig(opts)
	g.reflector.opts.SkipComparison = false
	g.source.lists = append([]reply{whole("10", "a@1", "b@2")}, lists...)
	g.source.watches = watches
	return g
}

const (
	broken     = `reflector: watching: connection reset (failure 1 in a row, next attempt in 800ms)`
	notAllowed = `reflector: connecting: dial: connection refused (failure 2 in a row, next attempt in 800ms)`
)

// runLost is run for a script whose first watch sends a modified a@12 and then breaks, at 0s. The
// argument want has the lines of the journal after that.
func (g *rig) runLost(t *testing.T, d time.Duration, want ...string) {
	t.Helper()
	start := []string{
		`0s list "0" limit=500`,
		`0s replace "10": a@1 b@2`,
		`0s watch "10"`,
		`0s modified a@12`,
		`0s ` + broken,
	}
	g.run(t, d, append(start, want...)...)
}

func TestLostWatchIsComparedBeforeItGoesOn(t *testing.T) {
	t.Run("the history is the same", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{
				play(modified("a@12"), errBroken),
				play(bookmark("9"), modified("a@12"), modified("b@13"), time.Minute, errBroken),
				play(modified("b@13"), 30*time.Second, deleted("a@14")),
			}, whole("13", "a@12"), whole("13", "a@12"))
			g.runLost(t, 2*time.Minute,
				`800ms watch "11"`,
				`800ms list "" limit=1`,
				`800ms modified b@13`,
				`1m0.8s reflector: watching: connection reset (failure 1 in a row, next attempt in 800ms)`,
				`1m1.6s watch "12"`,
				`1m1.6s list "" limit=1`,
				`1m31.6s deleted a@14`,
			)
			require.EqualValues(t, 2, g.reflector.Stats().Comparisons)
			require.EqualValues(t, 1, g.reflector.Stats().Lists)
			require.Zero(t, g.reflector.Status().Failures)
		})
	})
	t.Run("bookmarks may have come since the last event", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{
				play(modified("a@12"), bookmark("20"), errBroken),
				play(modified("a@12"), modified("b@21")),
			}, whole("20", "a@12"))
			g.run(t, time.Minute,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s modified a@12`,
				`0s bookmark @20`,
				`0s `+broken,
				`800ms watch "11"`,
				`800ms list "" limit=1`,
				`800ms modified b@21`,
			)
		})
	})
	t.Run("a watch that ends after its timeout is not lost", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{WatchTimeout: 8 * time.Second}, []reply{play(modified("a@12"), 12*time.Second, io.EOF), play()})
			g.run(t, 13*time.Second,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s modified a@12`,
				`12s watch "12"`,
			)
		})
	})
	t.Run("a watch that ends early, without an error, is lost", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{WatchTimeout: 10 * time.Minute, WatchIdleTimeout: -1}, []reply{
				play(modified("a@12"), 5*time.Minute, io.EOF), play(modified("a@12")),
			}, whole("12"))
			g.run(t, 6*time.Minute,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s modified a@12`,
				`5m0s watch "11"`,
				`5m0s list "" limit=1`,
			)
		})
	})
	t.Run("a watch that falls silent is lost", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{play(modified("a@12")), play(modified("a@12"))}, whole("13"))
			g.run(t, 4*time.Minute,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s modified a@12`,
				`3m0s reflector: watching: the watch fell silent: not even a bookmark came`,
				`3m0s watch "11"`,
				`3m0s list "" limit=1`,
			)
		})
	})
	t.Run("SkipComparison switches the comparison off", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{play(modified("a@12"), errBroken), play()})
			g.reflector.opts.SkipComparison = true
			g.runLost(t, time.Minute, `800ms watch "12"`)
		})
	})
	t.Run("versions that are not numbers are not compared", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{play(modified("a@x12"), errBroken), play()})
			g.run(t, time.Minute,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s modified a@x12`,
				`0s `+broken,
				`800ms watch "x12"`,
			)
		})
	})
}

func TestServerWhoseVersionIsBehindIsRelistedAtOnce(t *testing.T) {
	const behind = `800ms reflector: comparing: the server's history differs from the known history: the server is at version 9, but the sink has everything up to version 12 (failure 2 in a row, going on at once)`
	watches := []reply{play(modified("a@12"), errBroken), play(), play()}
	const timeTravelAccepted = `: the snapshot is older than the known version: version 9, but the sink has everything up to version 12; the server has confirmed this version, so the reflector accepts the snapshot`
	t.Run("list", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, watches, whole("9", "a@1"), whole("9", "a@1", "c@7"))
			g.runLost(t, time.Minute,
				`800ms watch "11"`,
				`800ms list "" limit=1`,
				behind,
				`800ms list "" limit=500`,
				`800ms restore "9": a@1 c@7`,
				`800ms reflector: listing`+timeTravelAccepted,
				`800ms watch "9"`,
			)
			require.ErrorIs(t, g.reported[1], ErrOtherHistory)
			require.ErrorIs(t, g.reported[2], ErrTimeTravel)
			require.Equal(t, "9", g.reflector.Status().ResourceVersion)
		})
	})
	t.Run("streaming list", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{ListMode: WatchList}, []reply{
				play(added("a@1"), endMarker("10"), modified("a@12"), errBroken), play(), play(added("a@1"), added("c@7"), endMarker("9")),
			})
			g.source.lists = []reply{whole("9", "a@1")}
			g.run(t, time.Minute,
				`0s stream ""`,
				`0s replace "10": a@1`,
				`0s modified a@12`,
				`0s `+broken,
				`800ms watch "11"`,
				`800ms list "" limit=1`,
				behind,
				`800ms stream ""`,
				`800ms restore "9": a@1 c@7`,
				`800ms reflector: streaming`+timeTravelAccepted,
			)
		})
	})
	t.Run("a list that is older than the compared version is refused", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, watches, whole("9"), whole("8", "c@7"), whole("13", "a@12"))
			g.runLost(t, time.Minute,
				`800ms watch "11"`,
				`800ms list "" limit=1`,
				behind,
				`800ms list "" limit=500`,
				`800ms reflector: listing: the snapshot is older than the known version: version 8, but the sink has everything up to version 12 (failure 1 in a row, next attempt in 800ms)`,
				`1.6s list "" limit=500`,
				`1.6s restore "13": a@12`,
				`1.6s watch "13"`,
			)
		})
	})
}

func TestWatchThatBeginsWithAnotherEventMeansAnotherHistory(t *testing.T) {
	for name, first := range map[string]any{
		"another object":             modified("b@12"),
		"another version":            modified("a@13"),
		"an undecodable object":      undecodable(listwatch.Modified, "b"),
		"another object and version": deleted("c@14"),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newComparingRig(Options{}, []reply{play(modified("a@12"), errBroken), play(first), play()},
					whole("15"), whole("15", "a@12", "c@7"))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				require.NoError(t, g.reflector.Run(ctx))
				lines := g.take()
				require.Equal(t, []string{`800ms list "" limit=500`, `800ms restore "15": a@12 c@7`, `800ms watch "15"`}, lines[len(lines)-3:])
				require.ErrorIs(t, g.reported[1], ErrOtherHistory)
			})
		})
	}
}

func TestServerNoLongerHasTheLastEvent(t *testing.T) {
	t.Run("the next watch starts from the last version", func(t *testing.T) {
		for name, forgotten := range map[string]reply{"at once": refuse(errExpired), "later": play(errExpired)} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					lists := []reply{whole("13")}
					want := []string{`800ms watch "11"`, `800ms watch "12"`, `800ms list "" limit=1`, `800ms modified b@14`}
					if forgotten.refuse == nil {
						want[1], want[2] = want[2], want[1]
					}
					g := newComparingRig(Options{}, []reply{play(modified("a@12"), errBroken), forgotten, play(modified("b@14"))}, lists...)
					g.runLost(t, time.Minute, want...)
					require.Len(t, g.reported, 1, "only the broken watch is a failure")
				})
			})
		}
	})
	t.Run("after an outage, a list follows", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{
				play(modified("a@12"), errBroken), refuse(errRefused), refuse(errExpired), play(),
			}, whole("13", "a@12"))
			g.runLost(t, time.Minute,
				`800ms watch "11"`,
				`800ms `+notAllowed,
				`1.6s watch "11"`,
				`1.6s list "12" limit=0`,
				`1.6s replace "13": a@12=`,
				`1.6s watch "13"`,
			)
		})
	})
	t.Run("after an outage without a last event, a list follows", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{play(errBroken), refuse(errRefused), play(), play()},
				whole("13", "a@1"), whole("13", "a@1"))
			g.run(t, time.Minute,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s `+broken,
				`800ms watch "10"`,
				`800ms `+notAllowed,
				`1.6s watch "10"`,
				`1.6s list "" limit=1`,
				`1.6s list "10" limit=0`,
				`1.6s replace "13": a@1=`,
				`1.6s watch "13"`,
			)
		})
	})
	t.Run("if the watch is silent, a list follows", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{play(modified("a@12"), errBroken), play(time.Hour), play()},
				whole("13", "a@12"), whole("13", "a@12"))
			g.runLost(t, time.Minute,
				`800ms watch "11"`,
				`800ms list "" limit=1`,
				`5.8s list "12" limit=0`,
				`5.8s replace "13": a@12=`,
				`5.8s watch "13"`,
			)
		})
	})
	t.Run("if lists are forbidden, the watch goes on from the last version", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{play(modified("a@12"), errBroken), play(time.Hour), play(modified("b@13"))},
				refuse(errForbidden), refuse(errForbidden))
			g.runLost(t, time.Minute,
				`800ms watch "11"`,
				`800ms list "" limit=1`,
				`5.8s watch "12"`,
				`5.8s modified b@13`,
			)
		})
	})
}

// If a comparison fails, or the server forbids it, the watch goes on.
func TestFailedComparisonDoesNotStopTheWatch(t *testing.T) {
	for name, c := range map[string]struct {
		reply reply
		after string
	}{
		"403":          {refuse(errForbidden), "800ms"},
		"500":          {refuse(errInternal), "800ms"},
		"broken":       {play(errBroken), "800ms"},
		"silent":       {play(time.Hour), "5.8s"},
		"undecodable":  {reply{play: []any{undecodable(0, "a")}, meta: listwatch.ListMeta{ResourceVersion: "13"}}, "800ms"},
		"not a number": {whole("x9"), "800ms"},
		"no version":   {whole(""), "800ms"},
		"not limited":  {whole("12", "a@12", "b@2"), "800ms"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newComparingRig(Options{}, []reply{play(modified("a@12"), errBroken), play(modified("a@12"), modified("b@13"))}, c.reply)
				g.runLost(t, time.Minute, `800ms watch "11"`, `800ms list "" limit=1`, c.after+` modified b@13`)
				require.Len(t, g.reported, 1)
			})
		})
	}
}

func TestComparisonEndsWithTheContext(t *testing.T) { // G10
	bubble(t, func(t *testing.T) {
		for _, d := range []time.Duration{time.Second, 3 * time.Second} {
			list := play(2 * time.Second)
			list.meta.ResourceVersion = "12"
			g := newComparingRig(Options{}, []reply{play(modified("a@12"), errBroken), play(time.Hour)}, list)
			g.runLost(t, d, `800ms watch "11"`, `800ms list "" limit=1`)
			require.Equal(t, Stopped, g.reflector.Status().Phase)
		}
	})
}

func TestLateEvents(t *testing.T) {
	late := func(line string) string {
		return `reflector: comparing: the event is older than an earlier event of the same watch: ` + line +
			`, but the sink has everything up to version 12 (failure 1 in a row, going on at once)`
	}
	t.Run("lead to a comparison and a snapshot, which has the object", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{play(modified("a@12"), added("c@7"), modified("a@13")), play()},
				whole("12"), whole("12", "a@12", "b@2", "c@7"))
			g.run(t, time.Minute,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s modified a@12`,
				`0s list "" limit=1`,
				`0s `+late("ADDED of ns/c at version 7"),
				`0s list "12" limit=0`,
				`0s replace "12": a@12= b@2= c@7`,
				`0s watch "12"`,
			)
			require.ErrorIs(t, g.reported[0], ErrLate)
			require.EqualValues(t, 1, g.reflector.Stats().Stale)
		})
	})
	t.Run("lead to a comparison every five minutes at most", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			lists := []reply{whole("12"), whole("12", "a@12"), whole("12"), whole("12", "a@12")}
			g := newComparingRig(Options{WatchTimeout: 10 * time.Minute}, []reply{
				play(modified("a@12"), added("c@7")),
				play(added("c@7"), added("d@7"), time.Minute, bookmark("12"), 150*time.Second, bookmark("12"), 150*time.Second, bookmark("12")),
				play(),
			}, lists...)
			g.run(t, 7*time.Minute,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s modified a@12`,
				`0s list "" limit=1`,
				`0s `+late("ADDED of ns/c at version 7"),
				`0s list "12" limit=0`,
				`0s replace "12": a@12=`,
				`0s watch "12"`,
				`0s added c@7`,
				`0s added d@7`,
				`1m0s bookmark @12`,
				`3m30s bookmark @12`,
				`6m0s bookmark @12`,
				`6m0s list "" limit=1`,
				`6m0s `+late("ADDED of ns/d at version 7"),
				`6m0s list "12" limit=0`,
				`6m0s replace "12": a@12=`,
				`6m0s watch "12"`,
			)
		})
	})
	t.Run("reach the sink at once if they are repetitions", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{play(modified("a@12"), modified("b@2"), modified("a@12"))})
			g.run(t, time.Minute,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s modified a@12`,
				`0s modified b@2`, // or a change by a server that does not change versions
				`0s modified a@12`,
			)
			require.Zero(t, g.reflector.Stats().Stale)
		})
	})
	t.Run("reach the sink at once if they delete the version of the sink", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{play(modified("a@12"), deleted("b@2"), modified("a@13"), errBroken), play()}, whole("13"))
			g.run(t, 900*time.Millisecond,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s modified a@12`,
				`0s deleted b@2`,
				`0s modified a@13`,
				`0s `+broken,
				`800ms watch "12"`,
				`800ms list "" limit=1`,
			)
			require.Zero(t, g.reflector.Stats().Stale)
		})
	})
	t.Run("are accepted if they go on after the snapshot", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{WatchTimeout: 10 * time.Minute}, []reply{
				play(modified("a@12"), added("c@7")),
				play(modified("c@8"), deleted("b@2"), added("d@1"), &listwatch.ObjectError{Key: key("c"), ResourceVersion: "9", Type: listwatch.Modified, Err: errBroken}, 2*time.Minute, modified("c@9"), 2*time.Minute, bookmark(""), 2*time.Minute, modified("d@2")),
				play(),
			}, whole("12"), whole("12", "a@12", "b@2", "c@7"), whole("12"), whole("12", "a@12", "c@9", "d@2"))
			g.run(t, 7*time.Minute,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s modified a@12`,
				`0s list "" limit=1`,
				`0s `+late("ADDED of ns/c at version 7"),
				`0s list "12" limit=0`,
				`0s replace "12": a@12= b@2= c@7`,
				`0s watch "12"`,
				`0s modified c@8`,
				`0s deleted b@2`,
				`0s added d@1`,
				`2m0s modified c@9`,
				`6m0s list "" limit=1`, // confirms the version
				`6m0s `+late("MODIFIED of ns/d at version 2"),
				`6m0s list "12" limit=0`,
				`6m0s replace "12": a@12= c@9= d@2`,
				`6m0s watch "12"`,
			)
		})
	})
	t.Run("lead to a snapshot only, with SkipComparison", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{play(modified("a@12"), bookmark("11"), added("c@7")), play(modified("c@8"))}, whole("12", "a@12", "c@7"))
			g.reflector.opts.SkipComparison = true
			g.run(t, time.Minute,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s modified a@12`,
				`0s `+strings.Replace(late("ADDED of ns/c at version 7"), "comparing", "watching", 1),
				`0s list "12" limit=0`,
				`0s replace "12": a@12= c@7`,
				`0s watch "12"`,
				`0s modified c@8`,
			)
		})
	})
	t.Run("a late bookmark alone does not lead to a snapshot", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{play(modified("a@12"), bookmark("11"), modified("b@13"))}, whole("12"))
			g.run(t, time.Minute,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s modified a@12`,
				`0s list "" limit=1`,
				`0s modified b@13`,
			)
		})
	})
	t.Run("an event after a late bookmark is not accepted", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{play(modified("a@12"), bookmark("11"), bookmark("11"), added("c@7")), play()},
				whole("12"), whole("12"), whole("12", "a@12"))
			g.run(t, time.Minute,
				`0s list "0" limit=500`,
				`0s replace "10": a@1 b@2`,
				`0s watch "10"`,
				`0s modified a@12`,
				`0s list "" limit=1`,
				`0s list "" limit=1`,
				`0s `+late("ADDED of ns/c at version 7"),
				`0s list "12" limit=0`,
				`0s replace "12": a@12=`,
				`0s watch "12"`,
			)
		})
	})
	t.Run("a late bookmark reveals a server whose version is behind", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newComparingRig(Options{}, []reply{play(modified("a@12"), bookmark("11")), play()}, whole("11"), whole("11", "a@1"))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			require.NoError(t, g.reflector.Run(ctx))
			require.True(t, errors.Is(g.reported[0], ErrOtherHistory))
			require.Equal(t, "11", g.reflector.Status().ResourceVersion)
		})
	})
}

// loginSource is a source that needs a login before each request.
type loginSource struct {
	*script
	login []time.Duration // how long each login takes
}

func (s *loginSource) Prepare(ctx context.Context) error {
	if len(s.login) > 0 {
		sleep(ctx, s.login[0], nil)
		s.login = s.login[1:]
	}
	return ctx.Err()
}

func TestComparisonWaitsForALogin(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newComparingRig(Options{}, []reply{play(modified("a@12"), errBroken), play(modified("a@12"), modified("b@13"))}, whole("13"))
		// The logins are for the list, the watch, the next watch, and the comparison, in this
		// order.
		g.reflector.source = &loginSource{g.source, []time.Duration{0, 0, 0, 20 * time.Second}}
		g.runLost(t, time.Minute,
			`800ms watch "11"`,
			`20.8s list "" limit=1`,
			`20.8s modified b@13`,
		)
		deadline, ok := g.source.contexts[len(g.source.contexts)-1].Deadline()
		require.True(t, ok)
		require.Equal(t, 20800*time.Millisecond+pace.HistoryCheckTimeout, deadline.Sub(g.began))
	})
}
