package logthrottle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// attempt is one attempt, at a second. The attempt succeeds if succeeded is set, and otherwise
// fails with a kind.
type attempt struct {
	second, kind int
	succeeded    bool
}

// loggedSeconds returns the seconds at which a failure is logged. The seconds at which the end of a
// failure is logged are negative.
func loggedSeconds(attempts ...attempt) (seconds []int) {
	var r Throttle
	for _, a := range attempts {
		if a.succeeded {
			if r.Recovered() {
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

func TestALastingFailureIsLoggedAtItsStartAndEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	attempts := each(10, 900, func(int) attempt { return attempt{} })
	require.Equal(t, []int{10, 310, 610, -910}, loggedSeconds(append(attempts, attempt{second: 910, succeeded: true})...))
}

func TestANewKindOfFailureIsLogged(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int{10, 100}, loggedSeconds(each(10, 290, func(second int) attempt { return attempt{kind: second / 100 * 503} })[:15]...))
	require.Equal(t, []int{10, 20, 310, 320}, loggedSeconds(each(10, 400, func(second int) attempt { return attempt{kind: second / 10 % 2} })...),
		"two alternating kinds are logged once each")
}

func TestARestartedFailureIsLoggedAtItsSecondOccurrence(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int{10, -30, 110, -120}, loggedSeconds(
		attempt{second: 10}, attempt{second: 20}, attempt{second: 30, succeeded: true},
		attempt{second: 100}, attempt{second: 110}, attempt{second: 120, succeeded: true}))
	require.Equal(t, []int{10, -20, 310, -320}, loggedSeconds(each(10, 600, func(second int) attempt {
		return attempt{succeeded: second%20 == 0}
	})...), "what comes and goes is said every five minutes")
}

func TestTheOldestOfTooManyKindsIsForgotten(t *testing.T) {
	t.Parallel()
	var r Throttle
	now := time.Unix(100, 0)
	for kind := range 10 {
		_, due := r.Due(kind, now)
		require.True(t, due)
	}
	_, due := r.Due(9, now)
	require.False(t, due)
	suppressed, due := r.Due(0, now)
	require.True(t, due)
	require.EqualValues(t, 1, suppressed)
}

func TestAnIntermittentFailureDoesNotFloodTheLog(t *testing.T) {
	t.Parallel()
	for _, bad := range []int{2, 3, 10, 29} { // bad of 30 attempts fail.
		lines := loggedSeconds(each(10, 10+3600, func(second int) attempt { return attempt{succeeded: second/10%30 >= bad} })...)
		require.LessOrEqual(t, len(lines), 4*3600/300+4, "%d", bad)
		lines = loggedSeconds(each(10, 10+3600, func(second int) attempt { return attempt{succeeded: second/10%3 == 0} })...)
		require.LessOrEqual(t, len(lines), 4*3600/300+4)
	}
}
