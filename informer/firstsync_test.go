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
		f.marked("1")
	}
	if s > catchingUp && catchesUp {
		f.answered(s)
	}
	return f
}

func TestFirstSyncMakesTheTransitionsOfItsTable(t *testing.T) { // G6
	t.Parallel()
	type row struct {
		from      syncState
		catchesUp bool
		answer    syncState // listing means a mark instead of an answer
		to        syncState
		illegal   bool
	}
	const mark = listing
	for _, c := range []row{
		{listing, false, mark, finished, false},
		{finished, false, mark, finished, false},
		{listing, true, mark, catchingUp, false},
		{catchingUp, true, mark, catchingUp, false},
		{synced, true, mark, synced, false},
		{finished, true, mark, finished, false},

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
		case c.answer == mark:
			asks := c.catchesUp && c.from != finished
			require.Equal(t, asks, f.marked("2"), "%v: only a catchUp that has not finished is asked", c)
			require.Equal(t, asks, f.version == "2", "%v", c)
		case c.illegal && invariant.Enabled:
			require.Panics(t, func() { f.answered(c.answer) }, "%v", c)
		default:
			f.answered(c.answer)
		}
		require.Equal(t, c.to, f.now(), "%v", c)
		require.Equal(t, c.to >= synced, isClosed(f.done), "%v: Synced", c)
		require.Equal(t, c.catchesUp && c.to != finished, f.wantsMarks(), "%v: marks", c)
		f.stop()
	}
	for _, from := range []syncState{catchingUp, synced} {
		f := from.in(true)
		if invariant.Enabled {
			require.Panics(t, func() { f.answered(listing) }, "no answer leads back to listing")
		} else {
			f.answered(listing)
		}
		require.Equal(t, from, f.now())
		f.stop()
	}
}

func TestFirstSyncIsAskedAgainWhereNoMarkComes(t *testing.T) {
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
		require.True(t, f.marked("1"))
		time.Sleep(2 * askAgain)
		require.False(t, woken() || f.overdue(), "nothing is asked again before it has been answered")
		f.answered(catchingUp)
		for _, answer := range []syncState{catchingUp, synced, synced} {
			time.Sleep(askAgain - time.Second)
			require.False(t, woken() || f.overdue(), "%v: it is early", answer)
			time.Sleep(time.Second)
			require.True(t, woken() && f.overdue(), "%v: it is time", answer)
			f.answered(answer)
		}
		time.Sleep(askAgain / 2)
		require.True(t, f.marked("2"))
		f.answered(synced)
		time.Sleep(askAgain - time.Second)
		require.False(t, woken() || f.overdue(), "a mark is an occasion as well")
		require.True(t, f.marked("3"))
		f.answered(finished)
		time.Sleep(2 * askAgain)
		require.False(t, woken() || f.overdue(), "nothing is asked of one that has finished")
	})
}

func TestFirstSyncBeginsWithARevision(t *testing.T) { // G5
	t.Parallel()
	f := &firstSync{begins: 7}
	require.True(t, f.has(6) && f.has(7), "its snapshot has them")
	require.False(t, f.has(8), "the informer posts it")
}
