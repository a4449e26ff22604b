package informer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/invariant"
)

// in returns a firstSync that has reached the state by legal transitions.
func (s syncState) in(catchesUp bool) *firstSync {
	f := &firstSync{catchesUp: catchesUp, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	if s > listing {
		f.reachSyncPoint("1")
	}
	if s > catchingUp && catchesUp {
		f.catchUpReturned(s)
	}
	return f
}

func TestFirstSyncTransitions(t *testing.T) { // G6
	t.Parallel()
	type row struct {
		from      syncState
		catchesUp bool
		result    syncState // listing means a mark instead of an answer
		to        syncState
		illegal   bool
	}
	const syncPoint = listing
	for _, c := range []row{
		{listing, false, syncPoint, finished, false},
		{finished, false, syncPoint, finished, false},
		{listing, true, syncPoint, catchingUp, false},
		{catchingUp, true, syncPoint, catchingUp, false},
		{synced, true, syncPoint, synced, false},
		{finished, true, syncPoint, finished, false},

		{catchingUp, true, catchingUp, catchingUp, false},
		{catchingUp, true, synced, synced, false},
		{catchingUp, true, finished, finished, false},
		{synced, true, catchingUp, synced, false}, // catchUp was interrupted
		{synced, true, synced, synced, false},
		{synced, true, finished, finished, false},

		{listing, false, finished, listing, true},
		{listing, true, catchingUp, listing, true},
		{listing, true, synced, listing, true},
		{listing, true, finished, listing, true},
		{finished, false, finished, finished, true},
		{finished, true, catchingUp, finished, true},
		{finished, true, synced, finished, true},
		{finished, true, finished, finished, true},
	} {
		f := c.from.in(c.catchesUp)
		require.Equal(t, c.from, f.now())
		switch {
		case c.result == syncPoint:
			calls := c.catchesUp && c.from != finished
			require.Equal(t, calls, f.reachSyncPoint("2"), "%v: only a catchUp that has not finished is asked", c)
			require.Equal(t, calls, f.version == "2", "%v", c)
		case c.illegal && invariant.Enabled:
			require.Panics(t, func() { f.catchUpReturned(c.result) }, "%v", c)
		default:
			f.catchUpReturned(c.result)
		}
		require.Equal(t, c.to, f.now(), "%v", c)
		require.Equal(t, c.to >= synced, isClosed(f.done), "%v: Synced", c)
		require.Equal(t, c.catchesUp && c.to != finished, f.wantsSyncPoints(), "%v: marks", c)
		f.stop()
	}
	for _, from := range []syncState{catchingUp, synced} {
		f := from.in(true)
		if invariant.Enabled {
			require.Panics(t, func() { f.catchUpReturned(listing) }, "no answer leads back to listing")
		} else {
			f.catchUpReturned(listing)
		}
		require.Equal(t, from, f.now())
		f.stop()
	}
}

func TestCatchUpIsCalledAgainWithoutANewSyncPoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := listing.in(true)
		woken := func() bool {
			synctest.Wait()
			select {
			case <-f.wake:
				return true
			default:
				return false
			}
		}
		require.True(t, f.reachSyncPoint("1"))
		time.Sleep(2 * catchUpInterval)
		require.False(t, woken() || f.catchUpDue(), "nothing is asked again before it has been answered")
		f.catchUpReturned(catchingUp)
		for _, result := range []syncState{catchingUp, synced, synced} {
			time.Sleep(catchUpInterval - time.Second)
			require.False(t, woken() || f.catchUpDue(), "%v: it is early", result)
			time.Sleep(time.Second)
			require.True(t, woken() && f.catchUpDue(), "%v: it is time", result)
			f.catchUpReturned(result)
		}
		time.Sleep(catchUpInterval / 2)
		require.True(t, f.reachSyncPoint("2"))
		f.catchUpReturned(synced)
		time.Sleep(catchUpInterval - time.Second)
		require.False(t, woken() || f.catchUpDue(), "a mark is an occasion as well")
		require.True(t, f.reachSyncPoint("3"))
		f.catchUpReturned(finished)
		time.Sleep(2 * catchUpInterval)
		require.False(t, woken() || f.catchUpDue(), "nothing is asked of one that has finished")
	})
}

func TestFirstSyncStartsAtARevision(t *testing.T) { // G5
	t.Parallel()
	f := &firstSync{startRevision: 7}
	require.True(t, f.covers(6) && f.covers(7), "its snapshot has them")
	require.False(t, f.covers(8), "the informer posts it")
}
