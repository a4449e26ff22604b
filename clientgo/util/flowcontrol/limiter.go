// Package flowcontrol has rate limiters for requests, and backoffs that grow with failures.
package flowcontrol

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
)

// PassiveRateLimiter decides whether an action may happen now. It is safe for concurrent use.
type PassiveRateLimiter interface {
	// TryAccept takes a token if a token is available, and reports whether it has taken one.
	TryAccept() bool
	// Stop does nothing in the limiters of this package, except that it ends a blocked Accept of
	// NewFakeNeverRateLimiter.
	Stop()
	// QPS returns the tokens per second.
	QPS() float32
}

// RateLimiter is a PassiveRateLimiter that can wait for tokens.
type RateLimiter interface {
	PassiveRateLimiter
	// Accept waits for a token.
	Accept()
	// Wait waits for a token. It returns an error if ctx ends, or would end, before a token is
	// available.
	Wait(ctx context.Context) error
}

// Clock is the clock of a rate limiter.
type Clock interface {
	clock.PassiveClock
	Sleep(time.Duration)
}

// NewTokenBucketRateLimiter returns a limiter with qps tokens per second. The bucket holds at most
// burst tokens and is full at the start.
func NewTokenBucketRateLimiter(qps float32, burst int) RateLimiter {
	return NewTokenBucketRateLimiterWithClock(qps, burst, clock.RealClock{})
}

// NewTokenBucketRateLimiterWithClock is NewTokenBucketRateLimiter with another clock. But Wait uses
// the real clock.
func NewTokenBucketRateLimiterWithClock(qps float32, burst int, c Clock) RateLimiter {
	return &waitingLimiter{passiveLimiter: newPassiveLimiter(qps, burst, c), sleeper: c}
}

// NewTokenBucketPassiveRateLimiter is NewTokenBucketRateLimiter without Accept and Wait.
func NewTokenBucketPassiveRateLimiter(qps float32, burst int) PassiveRateLimiter {
	return NewTokenBucketPassiveRateLimiterWithClock(qps, burst, clock.RealClock{})
}

// NewTokenBucketPassiveRateLimiterWithClock is NewTokenBucketPassiveRateLimiter with another clock.
func NewTokenBucketPassiveRateLimiterWithClock(qps float32, burst int, c clock.PassiveClock) PassiveRateLimiter {
	return newPassiveLimiter(qps, burst, c)
}

// passiveLimiter is a token bucket.
type passiveLimiter struct {
	bucket *rate.Limiter
	clock  clock.PassiveClock
	qps    float32
}

func newPassiveLimiter(qps float32, burst int, c clock.PassiveClock) *passiveLimiter {
	return &passiveLimiter{bucket: rate.NewLimiter(rate.Limit(qps), burst), clock: c, qps: qps}
}

// TryAccept implements PassiveRateLimiter.
func (p *passiveLimiter) TryAccept() bool { return p.bucket.AllowN(p.clock.Now(), 1) }

// Stop implements PassiveRateLimiter.
func (p *passiveLimiter) Stop() {}

// QPS implements PassiveRateLimiter.
func (p *passiveLimiter) QPS() float32 { return p.qps }

// waitingLimiter is a token bucket that can wait for tokens.
type waitingLimiter struct {
	*passiveLimiter
	sleeper Clock
}

// Accept implements RateLimiter.
func (w *waitingLimiter) Accept() {
	now := w.clock.Now()
	w.sleeper.Sleep(w.bucket.ReserveN(now, 1).DelayFrom(now))
}

// Wait implements RateLimiter.
func (w *waitingLimiter) Wait(ctx context.Context) error { return w.bucket.Wait(ctx) }

// NewFakeAlwaysRateLimiter returns a limiter that always has a token.
func NewFakeAlwaysRateLimiter() RateLimiter { return alwaysLimiter{} }

type alwaysLimiter struct{}

func (alwaysLimiter) TryAccept() bool            { return true }
func (alwaysLimiter) Stop()                      {}
func (alwaysLimiter) Accept()                    {}
func (alwaysLimiter) QPS() float32               { return 1 }
func (alwaysLimiter) Wait(context.Context) error { return nil }

// NewFakeNeverRateLimiter returns a limiter that never has a token. Accept blocks until the limiter
// is stopped, and Wait returns an error at once.
func NewFakeNeverRateLimiter() RateLimiter { return &neverLimiter{stopped: make(chan struct{})} }

type neverLimiter struct {
	once    sync.Once
	stopped chan struct{}
}

func (n *neverLimiter) TryAccept() bool { return false }
func (n *neverLimiter) Stop()           { n.once.Do(func() { close(n.stopped) }) }
func (n *neverLimiter) Accept()         { <-n.stopped }
func (n *neverLimiter) QPS() float32    { return 1 }
func (n *neverLimiter) Wait(context.Context) error {
	return errors.New("can not be accept")
}
