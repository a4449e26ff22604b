package workqueue

import (
	"math"
	"sync"
	"time"
)

// Bucket returns a token bucket that all keys share: it holds at most burst
// tokens, is full at first, and gains qps tokens a second. Each When takes one,
// in advance if there is none, and returns how long it is until that token exists.
// Keys are not told apart, so Forget does nothing and NumRequeues is 0.
//
// Bucket panics unless qps is positive and burst at least 1: a bucket that never
// has a token would delay for ever.
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

// bucket keeps the time from which the next token may be used, instead of a
// number of tokens: that needs no fractions and so no rounding.
type bucket[K comparable] struct {
	epoch time.Time     // next counts from here
	every time.Duration // between two tokens
	saved time.Duration // so long ago the next token of a full bucket was there: burst-1 tokens

	mu   sync.Mutex // guards following
	next time.Duration
}

func (b *bucket[K]) When(K) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Since(b.epoch)
	token := max(b.next, now-b.saved)
	b.next = later(token, b.every)
	return max(token-now, 0)
}

func (b *bucket[K]) Forget(K) {}

func (b *bucket[K]) NumRequeues(K) int { return 0 }

func (b *bucket[K]) describe(to *Limits) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Since(b.epoch)
	token := max(b.next, now-b.saved) // when the next token may be used; a full bucket has had it for longest
	to.Burst = int(b.saved/max(b.every, 1)) + 1
	to.PerSecond = float64(time.Second) / float64(max(b.every, 1))
	to.Tokens = float64(now-token)/float64(max(b.every, 1)) + 1
}
