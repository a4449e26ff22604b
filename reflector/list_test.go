package reflector

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

func TestPagesAreOneReplace(t *testing.T) { // RC-7, RC-8, RC-9, RC-10
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{page("10", "c1", "a@1", "b@2"), page("10", "c2", "c@3"), whole("10", "d@4")}
		g.run(t, time.Second,
			`0s list "0" limit=500`,
			`0s list c1/ limit=500`,
			`0s list c2/ limit=500`,
			`0s replace "10": a@1 b@2 c@3 d@4`,
			`0s watch "10"`,
		)
	})
}

func TestListHasTheVersionOfItsFirstPage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{page("10", "c1", "a@1"), whole("12", "b@11")}
		g.run(t, time.Second,
			`0s list "0" limit=500`,
			`0s list c1/ limit=500`,
			`0s replace "10": a@1 b@11`,
			`0s watch "10"`,
		)
	})
}

func TestPageSize(t *testing.T) { // RC-7
	bubble(t, func(t *testing.T) {
		for _, c := range []struct {
			size  int64
			at    string
			paged bool
			whole bool
			want  int64
			match bool
		}{
			{at: "0", want: 500},
			{at: "", want: 500},
			{at: "7", want: 0},
			{at: "7", paged: true, want: 500, match: true},
			{at: "7", paged: true, whole: true, want: 0},
			{size: 20, at: "0", want: 20},
			{size: 20, at: "7", want: 20, match: true},
			{size: 20, at: "7", whole: true, want: 0},
			{size: -1, at: "0", want: 0},
		} {
			r := newRig(Options{PageSize: c.size}).reflector
			r.paged = c.paged
			opts := r.listOptions(&listing[string]{requestedVersion: c.at, unpaged: c.whole})
			require.Equal(t, c.want, opts.Limit, "%+v", c)
			require.Equal(t, c.match, opts.ResourceVersionMatch == metav1.ResourceVersionMatchNotOlderThan, "%+v", c)
			opts = r.listOptions(&listing[string]{requestedVersion: c.at, unpaged: c.whole, token: "c1"})
			require.Equal(t, c.want, opts.Limit, "%+v", c)
			require.Empty(t, opts.ResourceVersion+string(opts.ResourceVersionMatch), "the token contains the version")
		}
	})
}

func TestServerThatPagesItsCacheGetsPagedListsFromThenOn(t *testing.T) { // RC-7
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{page("10", "c1", "a@1"), whole("10", "b@2"), whole("12", "b@2")}
		g.source.watches = []reply{play(errExpired)}
		g.run(t, time.Second,
			`0s list "0" limit=500`,
			`0s list c1/ limit=500`,
			`0s replace "10": a@1 b@2`,
			`0s watch "10"`,
			`0s reflector: watching: wrapped: too old (failure 1 in a row, going on at once)`,
			`0s list "10" limit=500 NotOlderThan`,
			`0s replace "12": b@2=`,
			`0s watch "12"`,
		)
	})
}

func TestExpiredTokenIsReplacedByOneWholeList(t *testing.T) { // RC-8
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{page("10", "c1", "gone@1"), refuse(errExpired), whole("20", "b@12")}
		g.run(t, time.Second,
			`0s list "0" limit=500`,
			`0s list c1/ limit=500`,
			`0s reflector: listing: wrapped: too old (failure 1 in a row, going on at once)`,
			`0s list "0" limit=0`,
			`0s replace "20": b@12`,
			`0s watch "20"`,
		)
	})
}

// G11: a list whose pages repeat would otherwise grow for ever.
func TestPageThatIsRepeatedIsReplacedByOneWholeList(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{page("10", "c1", "a@1"), page("10", "c2", "b@2"), page("10", "c2", "b@2"), whole("20", "b@12")}
		g.run(t, time.Second,
			`0s list "0" limit=500`,
			`0s list c1/ limit=500`,
			`0s list c2/ limit=500`,
			`0s reflector: listing: the list would not end: the server's continue token is the token of an earlier page (failure 1 in a row, next attempt in 800ms)`,
			`800ms list "0" limit=0`,
			`800ms replace "20": b@12`,
			`800ms watch "20"`,
		)
		require.ErrorIs(t, g.reported[0], ErrPageRepeated)
	})
}

func TestRepeatingTokensAreDetected(t *testing.T) {
	t.Parallel()
	for lead := range 40 {
		for period := 1; period < 40; period++ {
			var tokens tokenCycle
			n := 0
			for ; ; n++ {
				at := n
				if n >= lead {
					at = lead + (n-lead)%period
				}
				if tokens.repeats(strconv.Itoa(at)) {
					break
				}
			}
			require.GreaterOrEqual(t, n, lead+period, "no repetition may be reported before there is one: %d tokens, then a cycle of %d", lead, period)
			require.LessOrEqual(t, n, 3*(lead+period))
		}
	}
}

func TestPagesGetTheByteCountOfEarlierPages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		for i, token := range []string{"c1", "c2", ""} {
			p := page("10", token)
			p.meta.Bytes = int64(100 << i)
			g.source.lists = append(g.source.lists, p)
		}
		g.source.lists = append(g.source.lists, whole("11"))
		g.source.watches = []reply{play(errExpired)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.NoError(t, g.reflector.Run(ctx))
		require.Equal(t, []int64{0, 100, 300, 0}, g.source.bytesBefore)
	})
}

func TestMostRecentStateIsRequestedUntilItArrives(t *testing.T) { // RC-4, RC-5, RC-6
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{
			whole("10"),
			refuse(errTooLarge), refuse(errBroken), whole("11"),
			whole("12"),
		}
		g.source.watches = []reply{play(bookmark("10"), errExpired), play(bookmark("11"), errExpired)}
		g.run(t, time.Minute,
			`0s list "0" limit=500`,
			`0s replace "10":`,
			`0s watch "10"`,
			`0s bookmark @10`,
			`0s reflector: watching: wrapped: too old (failure 1 in a row, going on at once)`,
			`0s list "10" limit=0`,
			`0s reflector: listing:  (failure 1 in a row, going on at once)`,
			`0s list "" limit=500`,
			`0s reflector: listing: connection reset (failure 2 in a row, next attempt in 1.6s)`,
			`1.6s list "" limit=500`,
			`1.6s replace "11":`,
			`1.6s watch "11"`,
			`1.6s bookmark @11`,
			`1.6s reflector: watching: wrapped: too old (failure 1 in a row, going on at once)`,
			`1.6s list "11" limit=0`, // not ""
			`1.6s replace "12":`,
			`1.6s watch "12"`,
		)
	})
}

func TestListWithoutAResponseIsRequestedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.run(t, 61*time.Second,
			`0s list "0" limit=500`,
			`1m0s reflector: listing: the list has made no progress for too long (failure 1 in a row, next attempt in 800ms)`,
			`1m0.8s list "0" limit=500`,
		)
		require.ErrorIs(t, g.reported[0], ErrNoProgress)
	})
}

func TestTimeTravelIsRefused(t *testing.T) {
	script := func(g *rig) {
		g.source.lists = []reply{whole("20"), whole("9", "old@1"), whole("21", "new@21")}
		g.source.watches = []reply{play(errExpired)}
	}
	t.Run("by default", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(Options{})
			script(g)
			g.run(t, time.Second,
				`0s list "0" limit=500`,
				`0s replace "20":`,
				`0s watch "20"`,
				`0s reflector: watching: wrapped: too old (failure 1 in a row, going on at once)`,
				`0s list "20" limit=0`,
				`0s reflector: listing: the snapshot is older than the known version: version 9, `+
					`but the sink has everything up to version 20 (failure 1 in a row, next attempt in 800ms)`,
				`800ms list "" limit=500`,
				`800ms replace "21": new@21`,
				`800ms watch "21"`,
			)
			require.ErrorIs(t, g.reported[1], ErrTimeTravel)
		})
	})
	t.Run("unless it is allowed", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(Options{AllowTimeTravel: true})
			script(g)
			g.run(t, time.Second,
				`0s list "0" limit=500`,
				`0s replace "20":`,
				`0s watch "20"`,
				`0s reflector: watching: wrapped: too old (failure 1 in a row, going on at once)`,
				`0s list "20" limit=0`,
				`0s restore "9": old@1`,
				`0s watch "9"`,
			)
		})
	})
}

// A server's version may be wrong, for example because of a network without TLS or a restored
// backup. A wrong version must not stop the reflector for good (G2).
func TestTimeTravelIsAcceptedAfterSixSnapshots(t *testing.T) {
	future := func(options Options, lists ...reply) *rig {
		g := newRig(options)
		g.source.lists = append([]reply{whole("20", "a@1")}, lists...)
		g.source.watches = []reply{play(bookmark("2000000"), errExpired)}
		return g
	}
	t.Run("six times", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			older := []reply{refuse(errTooLarge), whole("21", "b@2"), whole("21", "b@2"), whole("22", "b@2"), whole("23", "b@2"), whole("24", "b@2"), whole("25", "b@3")}
			g := future(Options{}, older...)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			require.NoError(t, g.reflector.Run(ctx))
			lines := g.take()
			require.Equal(t, []string{
				`49.6s reflector: listing: the snapshot is older than the known version: version 25, ` +
					`but the sink has everything up to version 2000000; the server has confirmed this version, so the reflector accepts the snapshot`,
				`49.6s watch "25"`,
			}, lines[len(lines)-2:])
			require.Equal(t, map[types.NamespacedName]string{key("b"): "3"}, g.sink.content)
			require.Equal(t, "25", g.reflector.Status().ResourceVersion)
			for _, e := range g.reported[2:] {
				require.ErrorIs(t, e, ErrTimeTravel)
			}
		})
	})
	t.Run("but not if servers contradict each other", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := future(Options{}, slices.Concat(times(5, whole("30")), times(5, whole("29")), []reply{whole("2000001", "c@4")})...)
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			require.NoError(t, g.reflector.Run(ctx))
			require.Equal(t, map[types.NamespacedName]string{key("c"): "4"}, g.sink.content)
			require.Equal(t, "2000001", g.reflector.Status().ResourceVersion)
		})
	})
}

func TestUndecodableObjectsStayInTheSink(t *testing.T) { // G11
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{
			whole("10", "a@1", "b@2"),
			play(undecodable(0, "a"), &listwatch.ObjectError{Err: errors.New("no name")}, item("b@2")),
		}
		g.source.watches = []reply{play(errExpired)}
		g.run(t, time.Second,
			`0s list "0" limit=500`,
			`0s replace "10": a@1 b@2`,
			`0s watch "10"`,
			`0s reflector: watching: wrapped: too old (failure 1 in a row, going on at once)`,
			`0s list "10" limit=0`,
			`0s reflector: listing: object ns/a could not be read: garbage`,
			`0s reflector: listing: an object without a readable name could not be read: no name`,
			`0s replace "": a@= b@2= names missing`,
			`0s watch ""`,
		)
		require.Equal(t, "1", g.sink.content[key("a")])
		require.EqualValues(t, 2, g.reflector.Stats().Skipped)
	})
}

func TestListThatFallsSilentIsTriedAgain(t *testing.T) { // D6
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{play(item("a@1"), 29*time.Second, item("b@2"), time.Hour), whole("10", "a@1")}
		g.run(t, 2*time.Minute,
			`0s list "0" limit=500`,
			`1m29s reflector: listing: the list has made no progress for too long (failure 1 in a row, next attempt in 800ms)`,
			`1m29.8s list "0" limit=500`,
			`1m29.8s replace "10": a@1`,
			`1m29.8s watch "10"`,
		)
	})
}
