package reflector

import (
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/listwatch"
)

func TestStreamingListBecomesTheWatch(t *testing.T) { // RC-14 to RC-17
	bubble(t, func(t *testing.T) {
		g := newRig(Options{ListMode: WatchList})
		g.source.watches = []reply{play(
			added("a@1"), added("b@2"), added("c@3"), modified("b@11"), deleted("a@12"), bookmark("12"), added("d@13"),
			endMarker("13"), modified("c@14"), io.EOF,
		)}
		g.run(t, time.Second,
			`0s stream ""`,
			`0s replace "13": c@3 b@11 d@13`,
			`0s modified c@14`,
			`0s watch "14"`,
		)
		require.True(t, g.source.options[0].SendInitialEvents)
		require.False(t, g.source.options[1].SendInitialEvents)
	})
}

func TestStreamingListAfterExpiryStartsFromTheLastVersion(t *testing.T) { // RC-14, RC-18
	bubble(t, func(t *testing.T) {
		g := newRig(Options{ListMode: WatchList})
		g.source.watches = []reply{play(endMarker("13"), errExpired), refuse(errExpired), play(endMarker("15"))}
		g.run(t, time.Second,
			`0s stream ""`,
			`0s replace "13":`,
			`0s reflector: watching: wrapped: too old (failure 1 in a row, going on at once)`,
			`0s stream "13"`,
			`0s reflector: streaming: wrapped: too old (failure 1 in a row, going on at once)`,
			`0s stream ""`,
			`0s replace "15":`,
		)
	})
}

func TestStreamingListWithoutEndMarkerGivesWayToAList(t *testing.T) { // D6, RC-19
	bubble(t, func(t *testing.T) {
		g := newRig(Options{ListMode: WatchList})
		g.source.watches = []reply{play(added("a@1"), 29*time.Second, added("b@2")), play(errExpired)}
		g.source.lists = []reply{whole("10", "a@1"), whole("11", "a@1")}
		g.run(t, 2*time.Minute,
			`0s stream ""`,
			`1m29s reflector: streaming: the list has made no progress for too long (failure 1 in a row, going on at once)`,
			`1m29s list "0" limit=500`,
			`1m29s replace "10": a@1`,
			`1m29s watch "10"`,
			`1m29s reflector: watching: wrapped: too old (failure 1 in a row, going on at once)`,
			`1m29s list "10" limit=0`, // the mode is remembered
			`1m29s replace "11": a@1=`,
			`1m29s watch "11"`,
		)
		require.Equal(t, List, g.reflector.Status().ListMode)
		require.ErrorIs(t, g.reported[0], ErrNoProgress)
	})
}

func TestStreamingListWithoutAResponseIsReplacedByAList(t *testing.T) { // D6
	bubble(t, func(t *testing.T) {
		g := newRig(Options{ListMode: WatchList, ListProgressTimeout: 3 * time.Second})
		g.source.lists = []reply{whole("10")}
		g.run(t, time.Minute,
			`0s stream ""`,
			`3s reflector: streaming: the list has made no progress for too long (failure 1 in a row, going on at once)`,
			`3s list "0" limit=500`,
			`3s replace "10":`,
			`3s watch "10"`,
		)
	})
}

func TestWatchAfterAStreamingListMayBeSilent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{ListMode: WatchList})
		g.source.watches = []reply{play(endMarker("13"), 150*time.Second, bookmark("14"))}
		g.run(t, 5*time.Minute,
			`0s stream ""`,
			`0s replace "13":`,
			`2m30s bookmark @14`,
		)
	})
}

func TestStreamingListIsNoVeryShortWatch(t *testing.T) { // RC-25
	bubble(t, func(t *testing.T) {
		g := newRig(Options{ListMode: WatchList})
		g.source.watches = []reply{play(endMarker("13"), io.EOF)}
		g.run(t, time.Second,
			`0s stream ""`,
			`0s replace "13":`,
			`0s watch "13"`,
		)
	})
}

func TestStreamingListThatFailsIsTriedAgainNextTime(t *testing.T) { // RC-18
	bubble(t, func(t *testing.T) {
		g := newRig(Options{ListMode: WatchList})
		g.source.watches = []reply{play(added("a@1"), errBroken), play(bookmark("10"), errExpired)}
		g.source.lists = []reply{whole("10", "a@1")}
		g.run(t, time.Second,
			`0s stream ""`,
			`0s reflector: streaming: connection reset (failure 1 in a row, next attempt in 800ms)`,
			`800ms list "0" limit=500`,
			`800ms replace "10": a@1`,
			`800ms watch "10"`,
			`800ms bookmark @10`,
			`800ms reflector: watching: wrapped: too old (failure 1 in a row, going on at once)`,
			`800ms stream "10"`,
		)
		require.Equal(t, WatchList, g.reflector.Status().ListMode)
	})
}

// The test compares streamedItems with a map, after random puts, removals and undecodable objects.
func TestStreamedItemsBehaveLikeAMap(t *testing.T) {
	t.Parallel()
	for range 200 {
		var c streamedItems[string]
		model := map[string]listwatch.Item[string]{}
		for step := range 100 {
			name := strconv.Itoa(rand.IntN(12))
			it := item(name + "@" + strconv.Itoa(step+1))
			switch rand.IntN(4) {
			case 0:
				c.remove(it.Key)
				delete(model, name)
			case 1:
				c.addUndecodable(&listwatch.ObjectError{Key: it.Key, Type: listwatch.Modified})
				if _, ok := model[name]; !ok {
					model[name] = listwatch.Item[string]{Key: it.Key, State: listwatch.Undecodable}
				}
			default:
				c.put(it)
				model[name] = it
			}
			require.Len(t, c.items, len(model))
			require.Len(t, c.index, len(model))
		}
		for _, it := range model {
			require.True(t, slices.Contains(c.items, it), "%v must be among the items", it)
		}
	}
}
