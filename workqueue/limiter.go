package workqueue

import (
	"math"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/contain"
)

// plain/backoff.go has only the exponential back-off, which would be fast enough. Here programs can
// bring their own limiters.

// RateLimiter decides how long Retry delays a key. A queue calls it without holding a lock; it must
// be safe for concurrent use. If a method panics, the queue logs and counts that, and uses a
// DefaultRateLimiter instead.
type RateLimiter[K comparable] interface {
	// When counts a failure of the key and returns how long to wait before the
	// next attempt.
	When(key K) time.Duration

	// Forget resets the count of the key's failures: the key succeeded, or its worker gave up. A
	// limiter that counts failures keeps each key until then.
	Forget(key K)

	// NumRequeues returns how many failures of the key were counted since its
	// last Forget.
	NumRequeues(key K) int
}

// Forget resets the key's count of failures in the rate limiter, because work on the key has
// succeeded or has ended for good. It removes nothing from the queue.
func (q *Queue[K]) Forget(key K) { q.opts.RateLimiter.Forget(key) }

// NumRequeues returns the number of consecutive failures of the key, according to the rate limiter.
func (q *Queue[K]) NumRequeues(key K) int { return q.opts.RateLimiter.NumRequeues(key) }

// DefaultRateLimiter returns Kubernetes' usual limiter for controllers. Each key waits 5 ms,
// doubled by each failure, up to 1000 s. All keys together get at most 10 retries a second, with a
// burst of 100. It is client-go's DefaultControllerRateLimiter.
func DefaultRateLimiter[K comparable]() RateLimiter[K] {
	return MaxOf(
		Exponential[K](5*time.Millisecond, 1000*time.Second),
		Bucket[K](10, 100),
	)
}

// DefaultItemRateLimiter returns Kubernetes' usual limiter for independent keys: for each key 1 ms,
// doubled by each failure, up to 1000 s. It is client-go's DefaultItemBasedRateLimiter.
func DefaultItemRateLimiter[K comparable]() RateLimiter[K] {
	return Exponential[K](time.Millisecond, 1000*time.Second)
}

// Exponential returns a limiter that waits for the time base after a key's first failure. The wait
// doubles with each further failure, up to the time longest. It is client-go's
// ItemExponentialFailureRateLimiter.
func Exponential[K comparable](base, longest time.Duration) RateLimiter[K] {
	return &exponential[K]{failures: newFailures[K](), base: base, longest: longest}
}

type exponential[K comparable] struct {
	*failures[K]
	base, longest time.Duration
}

func (l *exponential[K]) When(key K) time.Duration {
	// base<<shift exceeds longest, or overflows, exactly if base exceeds longest>>shift.
	shift := min(l.count(key), 63)
	if l.base > l.longest>>shift {
		return l.longest
	}
	return l.base << shift
}

// FastSlow returns a limiter with two waits. After each of a key's first failures it waits for the
// time fast, and after later failures for the time slow. attempts is the number of first failures.
// It is client-go's ItemFastSlowRateLimiter.
func FastSlow[K comparable](fast, slow time.Duration, attempts int) RateLimiter[K] {
	return &fastSlow[K]{failures: newFailures[K](), fast: fast, slow: slow, attempts: attempts}
}

type fastSlow[K comparable] struct {
	*failures[K]
	fast, slow time.Duration
	attempts   int
}

func (l *fastSlow[K]) When(key K) time.Duration {
	if l.count(key) < l.attempts {
		return l.fast
	}
	return l.slow
}

// failures counts failures by key.
type failures[K comparable] struct {
	mu      sync.Mutex // guards following
	byKey   map[K]int
	maxKeys int // maximum size of byKey so far, see shrinkMap
}

func newFailures[K comparable]() *failures[K] { return &failures[K]{byKey: make(map[K]int)} }

// count adds a failure of the key and returns the number of earlier failures.
func (f *failures[K]) count(key K) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.byKey[key]
	f.byKey[key] = before + 1
	return before
}

func (f *failures[K]) Forget(key K) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byKey, key)
	f.byKey = shrinkMap(f.byKey, &f.maxKeys)
}

func (f *failures[K]) NumRequeues(key K) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byKey[key]
}

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

// MaxOf returns a limiter that waits for the longest time of the given limiters. Each of them is
// called every time, so all counts stay current, and NumRequeues is the largest of their counts.
// Without limiters, it never waits.
func MaxOf[K comparable](limiters ...RateLimiter[K]) RateLimiter[K] { return maxOf[K](limiters) }

type maxOf[K comparable] []RateLimiter[K]

func (l maxOf[K]) When(key K) time.Duration {
	var longest time.Duration
	for _, limiter := range l {
		longest = max(longest, limiter.When(key))
	}
	return longest
}

func (l maxOf[K]) Forget(key K) {
	for _, limiter := range l {
		limiter.Forget(key)
	}
}

func (l maxOf[K]) NumRequeues(key K) int {
	most := 0
	for _, limiter := range l {
		most = max(most, limiter.NumRequeues(key))
	}
	return most
}

// WithMaxWait wraps a limiter, so that no wait is longer than the argument longest.
func WithMaxWait[K comparable](limiter RateLimiter[K], longest time.Duration) RateLimiter[K] {
	return &maxWait[K]{RateLimiter: limiter, longest: longest}
}

type maxWait[K comparable] struct {
	RateLimiter[K]
	longest time.Duration
}

func (l *maxWait[K]) When(key K) time.Duration { return min(l.RateLimiter.When(key), l.longest) }

// Limits describes the limiter of a queue, as far as it consists of limiters of this package.
// Unknown values are 0.
type Limits struct {
	// Base and Longest belong to an [Exponential]: the wait after a key's first failure, and the
	// longest wait.
	Base, Longest time.Duration

	// Burst and PerSecond belong to a [Bucket], and Tokens is its current number of tokens. Tokens
	// is negative if retries have taken tokens in advance.
	Burst     int
	PerSecond float64
	Tokens    float64
}

// Limits returns the known values of the queue's rate limiter, with the current number of tokens.
// Limits takes no token and counts no failure.
func (q *Queue[K]) Limits() (l Limits) {
	if d, ok := q.opts.RateLimiter.(describer); ok {
		d.describe(&l)
	}
	return l
}

// describer is a limiter that can describe itself.
type describer interface{ describe(l *Limits) }

func (l *exponential[K]) describe(to *Limits) { to.Base, to.Longest = l.base, l.longest }

func (b *bucket[K]) describe(to *Limits) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Since(b.epoch)
	token := max(b.next, now-b.saved) // when the next token exists; in a full bucket, saved ago
	to.Burst = int(b.saved/max(b.every, 1)) + 1
	to.PerSecond = float64(time.Second) / float64(max(b.every, 1))
	to.Tokens = float64(now-token)/float64(max(b.every, 1)) + 1
}

func (l maxOf[K]) describe(to *Limits) {
	for _, limiter := range l {
		if d, ok := limiter.(describer); ok {
			d.describe(to)
		}
	}
}

func (l *maxWait[K]) describe(to *Limits) {
	if d, ok := l.RateLimiter.(describer); ok {
		d.describe(to)
		to.Longest = min(to.Longest, l.longest)
	}
}

// containedLimiter is a custom limiter, with a stand-in for calls that panic.
type containedLimiter[K comparable] struct {
	RateLimiter[K]
	fallback RateLimiter[K]
	hooks    *contain.Hooks
}

func (l *containedLimiter[K]) When(key K) (wait time.Duration) {
	if !l.hooks.Call("RateLimiter.When", func() { wait = l.RateLimiter.When(key) }) {
		wait = l.fallback.When(key)
	}
	return wait
}

func (l *containedLimiter[K]) Forget(key K) {
	l.hooks.Call("RateLimiter.Forget", func() { l.RateLimiter.Forget(key) })
	l.fallback.Forget(key)
}

func (l *containedLimiter[K]) NumRequeues(key K) (n int) {
	if !l.hooks.Call("RateLimiter.NumRequeues", func() { n = l.RateLimiter.NumRequeues(key) }) {
		n = l.fallback.NumRequeues(key)
	}
	return n
}

func (l *containedLimiter[K]) describe(to *Limits) {
	if d, ok := l.RateLimiter.(describer); ok {
		d.describe(to)
	}
}
