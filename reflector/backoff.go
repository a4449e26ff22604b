package reflector

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"
)

// Backoff computes the waits after consecutive failures. The wait after failure n is drawn
// uniformly from [d, d*(1+Jitter)), with
//
//	d = min(Base * Factor^(n-1), Max / (1+Jitter))
//
// No wait exceeds Max (or PermanentMax, when it applies). The defaults are client-go's numbers
// (RC-3): 0.8 to 1.6 s, 1.6 to 3.2 s, ... 15 to 30 s. client-go also resets the count of failures
// after some time; here, only success resets it.
//
// If no server was reached, or the server refused the credentials, OutageFactor replaces Factor.
// These failures have a separate count, which any other failure resets. plain/backoff.go has one
// count and doubles each wait. After an outage of 20 seconds, a client of package plain may wait
// for 30 more seconds. With this Backoff, a client waits for at most 8.
type Backoff struct {
	// Base is the shortest wait after the first failure. Defaults to 800 ms.
	Base time.Duration

	// Max is the longest wait, unless a server asks for more with Retry-After.
	// Defaults to 30 s.
	Max time.Duration

	// MaxRetryAfter is the longest wait that a server can request with Retry-After. If a server
	// asks for more, the reflector retries after MaxRetryAfter, and the error contains the server's
	// Retry-After. Defaults to 5 minutes.
	MaxRetryAfter time.Duration

	// PermanentMax replaces Max while the resource does not exist (404) or the client must not read
	// it (403). These failures do not go away by themselves, and every attempt costs the server
	// work. After a list that is too large (listwatch.ErrListTooLarge), even the first wait is
	// drawn near PermanentMax. It must be at least Max. It defaults to 5 minutes, or to Max if Max
	// is longer.
	PermanentMax time.Duration

	// Factor is the ratio of each wait to the wait before it; at least 1. Defaults to 2.
	Factor float64

	// OutageFactor replaces Factor if no server could be reached (connection refused, no route, or
	// unknown host name), or if the credentials were not accepted (401). With 1.25, the next wait
	// is about a quarter of the outage so far. After an outage of 20 seconds, all clients reconnect
	// within 8 seconds. Of 10,000 clients, at most 2,100 reconnect in one second, or at most 500
	// after a long outage. It must be at least 1. It defaults to 1.25, or to Factor if Factor is
	// less.
	OutageFactor float64

	// Jitter is the random part of a wait, relative to its fixed part. A negative Jitter means no
	// random part. Defaults to 1.
	Jitter float64
}

var (
	errBackoff = errors.New("reflector: Options.Backoff: Base, Max, MaxRetryAfter and PermanentMax must be 0 or at least a millisecond, Factor and OutageFactor must be 0 or at least 1, and Jitter must be a finite number")

	errPermanentMax = errors.New("reflector: Options.Backoff: PermanentMax must not be less than Max, which is 30 seconds by default")
)

// Validate returns the error that New returns for b. It is for code that uses [FailureStreak]
// without a Reflector.
func (b Backoff) Validate() error {
	switch {
	case b.Base < 0 || b.Max < 0 || b.MaxRetryAfter < 0 || b.PermanentMax < 0,
		isShort(time.Millisecond, b.Base, b.Max, b.MaxRetryAfter, b.PermanentMax),
		b.Factor != 0 && !(b.Factor >= 1) || b.OutageFactor != 0 && !(b.OutageFactor >= 1),
		math.IsNaN(b.Jitter) || math.IsInf(b.Jitter, 0):
		return errBackoff
	case b.PermanentMax != 0 && b.PermanentMax < b.withDefaults().Max:
		return errPermanentMax
	}
	return nil
}

func (b Backoff) withDefaults() Backoff {
	if b.Base == 0 {
		b.Base = 800 * time.Millisecond
	}
	if b.Max == 0 {
		b.Max = 30 * time.Second
	}
	if b.MaxRetryAfter == 0 {
		b.MaxRetryAfter = 5 * time.Minute
	}
	if b.PermanentMax == 0 {
		b.PermanentMax = max(5*time.Minute, b.Max)
	}
	if b.Factor == 0 {
		b.Factor = 2
	}
	if b.OutageFactor == 0 {
		b.OutageFactor = min(1.25, b.Factor)
	}
	if b.Jitter == 0 {
		b.Jitter = 1
	}
	b.Jitter = max(b.Jitter, 0)
	return b
}

// wait draws the wait after the n-th consecutive failure; n starts at 1. The result is at most the
// argument longest.
func (b Backoff) wait(n int, factor float64, longest time.Duration) time.Duration {
	fixed, limit := float64(b.Base), float64(longest)/(1+b.Jitter)
	for ; n > 1 && fixed < limit && factor > 1; n-- {
		fixed *= factor
	}
	return b.withJitter(min(fixed, limit))
}

// longestWait draws the wait that follows many consecutive failures. The result is at most the
// argument longest.
func (b Backoff) longestWait(longest time.Duration) time.Duration {
	return b.withJitter(float64(longest) / (1 + b.Jitter))
}

// upperBound returns the upper bound of a wait whose fixed part is d.
func (b Backoff) upperBound(d time.Duration) time.Duration {
	return clampDuration(float64(d) * (1 + b.Jitter))
}

// withJitter draws a wait from [fixed, fixed*(1+Jitter)).
func (b Backoff) withJitter(fixed float64) time.Duration {
	return clampDuration(fixed * (1 + b.Jitter*rand.Float64()))
}

// clampDuration converts nanoseconds to a Duration, and limits them to the longest Duration.
func clampDuration(d float64) time.Duration {
	if d < math.MaxInt64 {
		return time.Duration(d)
	}
	return math.MaxInt64 // The conversion of a larger number would be negative.
}

// sleep waits for d, or until ctx ends, or until the channel wake has a value or is closed. The
// result closed reports that wake is closed.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) (closed bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case _, open := <-wake:
		return !open
	}
	return false
}
