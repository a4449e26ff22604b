// Package flowcontrol limits how often something is done: rate limiters for requests, and waits that grow with failures.
package flowcontrol

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
)

// PassiveRateLimiter says whether something may be done now. It is safe for concurrent use.
type PassiveRateLimiter interface {
	// TryAccept takes a token if there is one, and says whether there was.
	TryAccept() bool
	// Stop does nothing: the limiters of this package have nothing to stop.
	Stop()
	// QPS returns the tokens per second.
	QPS() float32
}

// RateLimiter is a PassiveRateLimiter for which one can wait.
type RateLimiter interface {
	PassiveRateLimiter
	// Accept returns when it has a token.
	Accept()
	// Wait returns nil when it has a token. It returns an error if ctx ends before, or would end before.
	Wait(ctx context.Context) error
}

// Clock is what a rate limiter needs of a clock.
type Clock interface {
	clock.PassiveClock
	Sleep(time.Duration)
}

// NewTokenBucketRateLimiter returns a limiter of qps tokens per second. At most burst of them, with which it
// begins, are kept.
func NewTokenBucketRateLimiter(qps float32, burst int) RateLimiter {
	return NewTokenBucketRateLimiterWithClock(qps, burst, clock.RealClock{})
}

// NewTokenBucketRateLimiterWithClock is NewTokenBucketRateLimiter with another clock. Wait takes the time of the real one.
func NewTokenBucketRateLimiterWithClock(qps float32, burst int, c Clock) RateLimiter {
	return &waiting{passive: newPassive(qps, burst, c), sleeper: c}
}

// NewTokenBucketPassiveRateLimiter is NewTokenBucketRateLimiter without the methods that wait.
func NewTokenBucketPassiveRateLimiter(qps float32, burst int) PassiveRateLimiter {
	return NewTokenBucketPassiveRateLimiterWithClock(qps, burst, clock.RealClock{})
}

// NewTokenBucketPassiveRateLimiterWithClock is NewTokenBucketPassiveRateLimiter with another clock.
func NewTokenBucketPassiveRateLimiterWithClock(qps float32, burst int, c clock.PassiveClock) PassiveRateLimiter {
	return newPassive(qps, burst, c)
}

// passive is a bucket of tokens.
type passive struct {
	bucket *rate.Limiter
	clock  clock.PassiveClock
	qps    float32
}

func newPassive(qps float32, burst int, c clock.PassiveClock) *passive {
	return &passive{bucket: rate.NewLimiter(rate.Limit(qps), burst), clock: c, qps: qps}
}

// TryAccept implements PassiveRateLimiter.
func (p *passive) TryAccept() bool { return p.bucket.AllowN(p.clock.Now(), 1) }

// Stop implements PassiveRateLimiter.
func (p *passive) Stop() {}

// QPS implements PassiveRateLimiter.
func (p *passive) QPS() float32 { return p.qps }

// waiting is a bucket for whose tokens one can wait.
type waiting struct {
	*passive
	sleeper Clock
}

// Accept implements RateLimiter.
func (w *waiting) Accept() {
	now := w.clock.Now()
	w.sleeper.Sleep(w.bucket.ReserveN(now, 1).DelayFrom(now))
}

// Wait implements RateLimiter.
func (w *waiting) Wait(ctx context.Context) error { return w.bucket.Wait(ctx) }

// NewFakeAlwaysRateLimiter returns a limiter that always has a token.
func NewFakeAlwaysRateLimiter() RateLimiter { return always{} }

type always struct{}

func (always) TryAccept() bool            { return true }
func (always) Stop()                      {}
func (always) Accept()                    {}
func (always) QPS() float32               { return 1 }
func (always) Wait(context.Context) error { return nil }

// NewFakeNeverRateLimiter returns a limiter that never has a token. Accept returns when the limiter is stopped, and Wait
// returns an error at once.
func NewFakeNeverRateLimiter() RateLimiter { return &never{stopped: make(chan struct{})} }

type never struct {
	once    sync.Once
	stopped chan struct{}
}

func (n *never) TryAccept() bool { return false }
func (n *never) Stop()           { n.once.Do(func() { close(n.stopped) }) }
func (n *never) Accept()         { <-n.stopped }
func (n *never) QPS() float32    { return 1 }
func (n *never) Wait(context.Context) error {
	return errors.New("can not be accept")
}
