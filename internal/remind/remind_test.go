package remind

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// attempt is one attempt, at a second. The attempt succeeds if well is set, and otherwise fails
// with a kind.
type attempt struct {
	second, kind int
	well         bool
}

// spoken returns the seconds at which a failure is logged. The seconds at which the end of a
// failure is logged are negative.
func spoken(attempts ...attempt) (seconds []int) {
	var r Reminder
	for _, a := range attempts {
		if a.well {
			if r.Over() {
				seconds = append(seconds, -a.second)
			}
		} else if _, due := r.Due(a.kind, time.Unix(int64(a.second), 0)); due {
			seconds = append(seconds, a.second)
		}
	}
	return seconds
}

// each returns one attempt every ten seconds, from first to last.
func each(first, last int, of func(second int) attempt) (attempts []attempt) {
	for second := first; second <= last; second += 10 {
		a := of(second)
		a.second = second
		attempts = append(attempts, a)
	}
	return attempts
}

func TestWhatLastsIsSaidWhenItBeginsAndEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	attempts := each(10, 900, func(int) attempt { return attempt{} })
	require.Equal(t, []int{10, 310, 610, -910}, spoken(append(attempts, attempt{second: 910, well: true})...))
}

func TestWhatBecomesSomethingElseIsSaid(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int{10, 100}, spoken(each(10, 290, func(second int) attempt { return attempt{kind: second / 100 * 503} })[:15]...))
	require.Equal(t, []int{10, 20, 310, 320}, spoken(each(10, 400, func(second int) attempt { return attempt{kind: second / 10 % 2} })...),
		"two that take turns are said once each")
}

func TestWhatBeginsAgainIsSaidIfItIsThereTwice(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int{10, -30, 110, -120}, spoken(
		attempt{second: 10}, attempt{second: 20}, attempt{second: 30, well: true},
		attempt{second: 100}, attempt{second: 110}, attempt{second: 120, well: true}))
	require.Equal(t, []int{10, -20, 310, -320}, spoken(each(10, 600, func(second int) attempt {
		return attempt{well: second%20 == 0}
	})...), "what comes and goes is said every five minutes")
}

func TestTheOldestOfTooManyKindsIsForgotten(t *testing.T) {
	t.Parallel()
	var r Reminder
	now := time.Unix(100, 0)
	for kind := range 10 {
		_, due := r.Due(kind, now)
		require.True(t, due)
	}
	_, due := r.Due(9, now)
	require.False(t, due)
	unsaid, due := r.Due(0, now)
	require.True(t, due)
	require.EqualValues(t, 1, unsaid)
}

func TestWhatComesAndGoesFillsNoLog(t *testing.T) {
	t.Parallel()
	for _, bad := range []int{2, 3, 10, 29} { // bad of 30 attempts fail.
		lines := spoken(each(10, 10+3600, func(second int) attempt { return attempt{well: second/10%30 >= bad} })...)
		require.LessOrEqual(t, len(lines), 4*3600/300+4, "%d", bad)
		lines = spoken(each(10, 10+3600, func(second int) attempt { return attempt{well: second/10%3 == 0} })...)
		require.LessOrEqual(t, len(lines), 4*3600/300+4)
	}
}
