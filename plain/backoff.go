// The back-off. A failed attempt will most likely fail again at once. A thousand clients that retry
// without a pause overload a server that is recovering. So each failure doubles the wait, up to a
// longest one, and a success resets it. Without a random part, clients that failed at the same
// moment would all retry at the same moment. The random part is called jitter.
//
// A token bucket is the complement: it limits how many attempts there are in all. It protects a
// server from a thousand keys that fail once each. The back-off protects it from one key that fails
// a thousand times. This package has no bucket.

package plain

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff returns the wait after a failure. failures is the number of failures before this one. The
// wait is random between a half and the whole of first * 2^failures, or of longest if longest is
// less.
func backoff(first, longest time.Duration, failures int) time.Duration {
	d := longest
	if failures < 32 {
		d = min(longest, first<<failures)
	}
	return d/2 + rand.N(d/2+1)
}

// wait waits for d. It returns false if ctx ends first.
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

// The other packages do more than this file, for these reasons:
//
//   - reflector counts failures of the connection and of requests separately, with different waits,
//     because a failed connection says nothing about a request. It respects a server's Retry-After.
//   - workqueue has token buckets and other limiters, which can be combined. An error may set the
//     wait of its key.
