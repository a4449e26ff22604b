package reflector

import (
	"time"

	"github.com/kinform/kinform/internal/remind"
)

// Row counts consecutive failed attempts of one kind, and draws the wait after each failure. It is
// for code that retries like a Reflector, such as the parts of a source. The zero value has no
// failures. It is not safe for concurrent use.
type Row struct {
	failures  int  // all failures
	answered  int  // failures after a server was reached, or of the sink
	outage    int  // the latest consecutive failures without a server, or with a 401
	permanent int  // the latest consecutive permanent failures
	expired   bool // the last failure was an expired version
}

// Failed counts one more failure, and draws the wait after it.
func (r *Row) Failed(err error, b Backoff) time.Duration {
	b = b.withDefaults()
	r.failed(err)
	longest := b.Max
	if r.permanent > 0 {
		longest = b.PermanentMax
	}
	return r.wait(b, longest, err)
}

// Failures returns how many failures there were.
func (r *Row) Failures() int { return r.failures }

// Answered returns how many of the failures happened after a server was reached and had accepted
// the client's credentials. Broken connections count.
func (r *Row) Answered() int { return r.answered }

// Expired reports whether the last failure was an expired version (410). If the next failure is a
// 410 as well, the list in between did not help.
func (r *Row) Expired() bool { return r.expired }

// Reached records that a server was reached and accepted the client's credentials.
func (r *Row) Reached() { r.outage = 0 }

func (r *Row) failed(err error) {
	r.failures++
	r.expired = IsExpired(err)
	if isPermanent(err) {
		r.permanent++
	} else {
		r.permanent = 0
	}
	if isOutage(err) || r.failures == 1 && isLost(err) {
		// A first lost connection begins an outage.
		r.outage++
	} else {
		r.outage = 0
		r.answered++
	}
}

// wait draws the wait after err, the last failure. The wait is at most the argument longest, unless
// the server requests a longer wait.
func (r *Row) wait(b Backoff, longest time.Duration, err error) time.Duration {
	var wait time.Duration
	switch {
	case isOversized(err):
		wait = b.last(longest)
	case r.outage > 0:
		wait = b.wait(r.outage, b.OutageFactor, longest)
	default:
		wait = b.wait(r.answered, b.Factor, longest)
	}
	return max(wait, min(delayAsked(err), b.MaxRetryAfter))
}

// row is the Row of a Reflector, with the state of its log lines.
type row struct {
	Row
	said remind.Reminder // decides whether to log the next failure
}
