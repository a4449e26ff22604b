package reflector

import (
	"time"

	"github.com/kinform/kinform/internal/logthrottle"
)

// FailureStreak counts consecutive failed attempts of one kind, and draws the wait after each
// failure. It is for code that retries like a Reflector, such as the parts of a source. The zero
// value has no failures. It is not safe for concurrent use.
type FailureStreak struct {
	failures  int  // all failures
	connected int  // failures after a server was reached, and failures of the sink
	outage    int  // consecutive failures, up to the last one, without a server or with a 401
	permanent int  // consecutive permanent failures, up to the last one
	expired   bool // the last failure was an expired version
}

// Failed counts one more failure, and draws the wait after it.
func (f *FailureStreak) Failed(err error, b Backoff) time.Duration {
	b = b.withDefaults()
	f.failed(err)
	longest := b.Max
	if f.permanent > 0 {
		longest = b.PermanentMax
	}
	return f.wait(b, longest, err)
}

// Failures returns the number of consecutive failures.
func (f *FailureStreak) Failures() int { return f.failures }

// ConnectedFailures returns how many of the failures happened after a server was reached and had
// accepted the client's credentials. Broken connections count.
func (f *FailureStreak) ConnectedFailures() int { return f.connected }

// Expired reports whether the last failure was an expired version (410). If the next failure is a
// 410 as well, the list in between did not help.
func (f *FailureStreak) Expired() bool { return f.expired }

// Reached records that a server was reached and accepted the client's credentials.
func (f *FailureStreak) Reached() { f.outage = 0 }

func (f *FailureStreak) failed(err error) {
	f.failures++
	f.expired = IsExpired(err)
	if isPermanent(err) {
		f.permanent++
	} else {
		f.permanent = 0
	}
	if isOutage(err) || f.failures == 1 && isLost(err) {
		// A first lost connection begins an outage.
		f.outage++
	} else {
		f.outage = 0
		f.connected++
	}
}

// wait draws the wait after err, the last failure. The wait is at most the argument longest, unless
// the server requests a longer wait.
func (f *FailureStreak) wait(b Backoff, longest time.Duration, err error) time.Duration {
	var wait time.Duration
	switch {
	case isOversized(err):
		wait = b.longestWait(longest)
	case f.outage > 0:
		wait = b.wait(f.outage, b.OutageFactor, longest)
	default:
		wait = b.wait(f.connected, b.Factor, longest)
	}
	return max(wait, min(retryAfterOf(err), b.MaxRetryAfter))
}

// loggedStreak is the FailureStreak of a Reflector, with the throttle of its log lines.
type loggedStreak struct {
	FailureStreak
	logThrottle logthrottle.Throttle // decides whether to log the next failure
}
