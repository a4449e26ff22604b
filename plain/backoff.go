// The back-off. What has just failed will most likely fail again at once, and a thousand who try again and
// again keep down what is trying to get up. So each failure doubles the wait, up to a longest one. Those who
// failed at the same moment would all come back at the same moment: a part of each wait is left to chance,
// the jitter. Success ends the row.
//
// A token bucket is the other half of the answer: it bounds how many may try in all, whoever they are. It is
// what protects a server from a thousand keys that fail once each; the back-off protects it from one key that
// fails a thousand times.

package plain

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// backoff returns the wait after so many failures before this one: between half and the whole of first *
// 2^failures, at most longest.
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

// failures counts the failures in a row of each key.
type failures[K comparable] struct {
	mu     sync.Mutex // guards following
	counts map[K]int
}

// next counts a failure and returns the wait after it: 5 ms at first, at most 1000 s.
func (f *failures[K]) next(key K) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.counts[key]
	f.counts[key]++
	return backoff(5*time.Millisecond, 1000*time.Second, before)
}

func (f *failures[K]) forget(key K) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.counts, key)
}

// What the other packages do beyond this: reflector tells failures of the connection from those of the
// request, which wait differently, and keeps a server's Retry-After; workqueue has token
// buckets and other limiters, which can be combined, and lets each error say how long to wait.
