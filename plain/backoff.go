// The back-off. An attempt that has just failed will most likely fail again at once, and a thousand clients
// that try again and again keep down a server that is trying to get up. So each failure doubles the wait, up
// to a longest one, and success ends the row. Clients that failed at the same moment would all come back at
// the same moment: so a part of each wait is random, the jitter.
//
// A token bucket is the other half of the answer: it bounds how many attempts there are in all. It protects a
// server from a thousand keys that fail once each. The back-off protects it from one key that fails a thousand
// times. This package has no bucket.

package plain

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff returns the wait after a failure that has so many failures before it: at random between half and the
// whole of first * 2^failures, or of longest if that is less.
func backoff(first, longest time.Duration, failures int) time.Duration {
	d := longest
	if failures < 32 {
		d = min(longest, first<<failures)
	}
	return d/2 + rand.N(d/2+1)
}

// wait waits, and says false when ctx ended before.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// What the other packages do beyond this, and why:
//
//   - reflector has a row of failures for the connection and one for requests, which wait differently: a server
//     that is away says nothing about a request. It keeps a server's Retry-After.
//   - workqueue has token buckets and other limiters, which can be combined, and an error may say how long its
//     key is to wait.
