package reflector

import (
	"context"
	"fmt"
	"io"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/listwatch"
)

// A server that does not support end markers sends changes and never an end marker.
func TestStreamingListThatSendsOnlyChangesTimesOut(t *testing.T) {
	for name, next := range map[string]func(n int) any{
		"updates":                 func(n int) any { return modified(fmt.Sprintf("a@%d", 10+n)) },
		"additions and deletions": func(n int) any { return []any{added("b@%d"), deleted("b@%d")}[n%2] },
		"new objects and updates": func(n int) any {
			return []any{added(fmt.Sprintf("b%d@%d", n, 10+n)), modified(fmt.Sprintf("a@%d", 10+n))}[n%2]
		},
		"the same again":     func(n int) any { return added(fmt.Sprintf("a@%d", 10+n)) },
		"bookmarks":          func(n int) any { return bookmark(fmt.Sprint(10 + n)) },
		"undecodable events": func(n int) any { return undecodable(listwatch.Modified, "a") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(Options{ListMode: WatchList})
				busy := []any{added("a@1"), added("z@2")}
				for n := range 1000 {
					busy = append(busy, next(n), time.Second)
				}
				g.source.watches = []reply{play(busy...), play(bookmark("21"), errExpired), play()}
				g.source.lists = []reply{whole("20", "a@15"), whole("30", "a@15")}
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				require.NoError(t, g.reflector.Run(ctx))
				lines := g.take()
				require.Contains(t, lines, `1m0s list "0" limit=500`)
				require.Contains(t, lines, `1m0s list "21" limit=0`, "the next snapshot must be a list, too")
				require.Equal(t, List, g.reflector.Status().ListMode)
			})
		})
	}
	// The events of this server look like events that list existing objects. The reflector notices
	// only at the end of the watch that no end marker comes.
	for name, end := range map[string][]any{"the server ends it": {io.EOF}, "the reflector ends it": {}} {
		t.Run("new objects alone, until "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(Options{ListMode: WatchList})
				busy := []any{}
				for n := range 599 {
					busy = append(busy, added(fmt.Sprintf("b%d@%d", n, 10+n)), time.Second)
				}
				g.source.watches = []reply{play(append(append(busy, time.Second), end...)...), play()}
				g.source.lists = []reply{whole("2000", "a@15")}
				ctx, cancel := context.WithTimeout(t.Context(), 11*time.Minute)
				defer cancel()
				require.NoError(t, g.reflector.Run(ctx))
				require.Equal(t, List, g.reflector.Status().ListMode)
				require.True(t, g.reflector.Status().Synced)
				require.EqualValues(t, 1, g.reflector.Stats().StreamingLists)
			})
		})
	}
}

// A long list has enough time: while events list existing objects, the list makes progress,
// whatever changes meanwhile.
func TestStreamingListMayTakeLong(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{ListMode: WatchList, WatchTimeout: 24 * time.Hour})
		var slow []any
		for n := range 200 { // in the order of creation
			slow = append(slow, 59*time.Second, added(fmt.Sprintf("a%d@%d", n, 10+n)))
		}
		for n := range 200 { // from several servers, of which the first one has finished
			slow = append(slow, 20*time.Second, modified(fmt.Sprintf("a1@%d", 10_000+n)),
				39*time.Second, added(fmt.Sprintf("b%d@%d", n, 9000-n)))
		}
		slow = append(slow, 30*time.Second, modified("a1@11000"), 29*time.Second, endMarker("11000"))
		g.source.watches = []reply{play(slow...)}
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Hour)
		defer cancel()
		require.NoError(t, g.reflector.Run(ctx))
		require.Len(t, g.sink.content, 400)
		require.Equal(t, WatchList, g.reflector.Status().ListMode)
	})
}

func TestUselessEventsDoNotRestartTheSilenceTimer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		began := time.Now()
		ended := make(chan time.Duration, 1)
		s := newSilenceTimer(time.Minute, func(error) { ended <- time.Since(began) }, ErrNoProgress)
		for range 10 {
			s.wait()
			time.Sleep(5 * time.Second)
			s.received()
			s.ignoreLast()
			time.Sleep(time.Hour) // the reflector does not wait for the stream in this time
		}
		s.wait()
		time.Sleep(7 * time.Second)
		s.received() // this event came in time, and was useful
		s.wait()
		time.Sleep(59 * time.Second)
		s.received()
		s.ignoreLast()
		time.Sleep(time.Hour + time.Minute/2) // the timer is set to another minute meanwhile
		synctest.Wait()
		require.Empty(t, ended)
		s.wait()
		time.Sleep(time.Second)
		synctest.Wait()
		require.Len(t, ended, 1)
		s.stop()
	})
}

// G10: if a timer fires just before it is stopped, it is not set again.
func TestStoppedSilenceTimerIsNotSetAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newSilenceTimer(time.Minute, func(error) { t.Error("it was stopped") }, ErrIdle)
		s.stop()
		s.reset(time.Minute) // as check does if it ran before stop
		require.False(t, s.timer.Stop(), "the timer must not be set")
	})
}

// Even with the longest timeout of a watch, the reflector opens the next watch only after this
// watch has ended.
func TestLongestWatch(t *testing.T) {
	for _, timeout := range []time.Duration{math.MaxInt64, math.MaxInt64/2 + 1, math.MaxInt64 / 2, 400 * 24 * time.Hour} {
		t.Run(timeout.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(Options{WatchTimeout: timeout, WatchIdleTimeout: math.MaxInt64, ListProgressTimeout: math.MaxInt64})
				g.source.lists = []reply{whole("10")}
				g.source.watches = times(100, play())
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				require.NoError(t, g.reflector.Run(ctx))
				require.Len(t, g.source.options, 1)
				require.GreaterOrEqual(t, g.source.options[0].Timeout, 365*24*time.Hour)
				require.LessOrEqual(t, g.source.options[0].Timeout, 2*365*24*time.Hour)
			})
		})
	}
}
