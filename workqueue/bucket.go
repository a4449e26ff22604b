package workqueue

import (
	"math"
	"sync"
	"time"
)

// Bucket returns a token bucket that all keys share: it holds at most burst tokens, is full at
// first, and gains qps tokens a second. Each When takes one token, in advance if the bucket is
// empty, and returns the time until that token exists. The bucket does not distinguish keys, so
// Forget does nothing and NumRequeues is 0.
//
// Bucket panics unless qps is positive and burst at least 1, because a bucket without tokens would
// delay for ever.
func Bucket[K comparable](qps float64, burst int) RateLimiter[K] {
	if !(qps > 0) || burst < 1 {
		panic("workqueue: a Bucket needs a positive qps and a burst of at least 1")
	}
	every := time.Duration(math.MaxInt64)
	if ns := float64(time.Second) / qps; ns < math.MaxInt64 {
		every = time.Duration(ns)
	}
	saved := time.Duration(math.MaxInt64)
	if every == 0 || time.Duration(burst-1) <= saved/every {
		saved = every * time.Duration(burst-1)
	}
	return &bucket[K]{epoch: time.Now(), every: every, saved: saved, next: -saved}
}

// bucket stores the time of the next token instead of a number of tokens, which avoids fractions
// and rounding.
type bucket[K comparable] struct {
	epoch time.Time     // the field next is relative to this time
	every time.Duration // between two tokens
	saved time.Duration // age of the next token in a full bucket: burst-1 tokens

	mu   sync.Mutex // guards following
	next time.Duration
}

func (b *bucket[K]) When(K) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Since(b.epoch)
	token := max(b.next, now-b.saved)
	b.next = addSaturating(token, b.every)
	return max(token-now, 0)
}

func (b *bucket[K]) Forget(K) {}

func (b *bucket[K]) NumRequeues(K) int { return 0 }

func (b *bucket[K]) describe(to *Limits) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Since(b.epoch)
	token := max(b.next, now-b.saved) // when the next token exists; in a full bucket, saved ago
	to.Burst = int(b.saved/max(b.every, 1)) + 1
	to.PerSecond = float64(time.Second) / float64(max(b.every, 1))
	to.Tokens = float64(now-token)/float64(max(b.every, 1)) + 1
}
