package reflector

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Backoff says how long to wait after failures in a row. The wait after failure
// n is drawn uniformly from [d, d*(1+Jitter)), where
//
//	d = min(Base * Factor^(n-1), Max / (1+Jitter))
//
// so that no wait exceeds Max (PermanentMax where that applies), and waits are spread even there. The defaults are
// client-go's numbers (RC-3): 0.8 to 1.6 s, 1.6 to 3.2 s, ... 15 to 30 s. Unlike
// there, only success starts the row afresh, not the passing of time.
type Backoff struct {
	// Base is the shortest wait after the first failure. Defaults to 800 ms.
	Base time.Duration

	// Max is the longest wait, unless a server asks for more with Retry-After.
	// Defaults to 30 s.
	Max time.Duration

	// PermanentMax takes the place of Max while the server says, time after time,
	// that the resource does not exist (404) or must not be read (403): these do not
	// go away by themselves, and every attempt is work for a server that has others
	// to serve. After a list that is too large (listwatch.ErrListTooLarge) the first
	// wait is as long. Defaults to 5 minutes, or Max if that is longer.
	PermanentMax time.Duration

	// Factor is by how much each wait is longer than the one before; at least 1.
	// Defaults to 2.
	Factor float64

	// Jitter is the random part of a wait, relative to its fixed part. Negative
	// means none. Defaults to 1.
	Jitter float64
}

var errBackoff = errors.New("reflector: Options.Backoff: Base, Max and PermanentMax must not be negative, and Factor at least 1")

func (b Backoff) validate() error {
	if b.Base < 0 || b.Max < 0 || b.PermanentMax < 0 || b.Factor != 0 && !(b.Factor >= 1) {
		return errBackoff
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
	if b.PermanentMax == 0 {
		b.PermanentMax = max(5*time.Minute, b.Max)
	}
	if b.Factor == 0 {
		b.Factor = 2
	}
	if b.Jitter == 0 {
		b.Jitter = 1
	}
	b.Jitter = max(b.Jitter, 0)
	return b
}

// Wait draws the wait after failure n of a row, n counting from 1; permanent says that
// the last one is of those for which PermanentMax is meant. It is for who repeats in the
// same way what a reflector does not.
func (b Backoff) Wait(n int, permanent bool) time.Duration {
	b = b.withDefaults()
	if permanent {
		return b.wait(n, b.PermanentMax)
	}
	return b.wait(n, b.Max)
}

// wait draws the wait after failure n of a row, n counting from 1, which is no
// longer than longest.
func (b Backoff) wait(n int, longest time.Duration) time.Duration {
	fixed, limit := float64(b.Base), float64(longest)/(1+b.Jitter)
	for ; n > 1 && fixed < limit && b.Factor > 1; n-- {
		fixed *= b.Factor
	}
	return b.spread(min(fixed, limit))
}

// last draws a wait from those at the end of a row, which are no longer than longest.
func (b Backoff) last(longest time.Duration) time.Duration {
	return b.spread(float64(longest) / (1 + b.Jitter))
}

// spread adds the random part to a wait.
func (b Backoff) spread(fixed float64) time.Duration {
	return time.Duration(fixed * (1 + b.Jitter*rand.Float64()))
}

// sleep waits for d, or until ctx ends, or something comes from wake. It reports
// whether wake has been closed.
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
