package rest

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// RateLimiter is a token bucket for [Options].Limit: requests may come in bursts,
// and on average not faster than a rate. Who waits is served in the order of
// arrival. It is safe for concurrent use, holds no timer while nobody waits, and
// several clients may share one.
type RateLimiter struct {
	interval time.Duration // between two requests
	burst    int

	mu    sync.Mutex // guards following
	empty time.Time  // when the bucket will be, or was, last without a token
}

// NewRateLimiter returns a limiter for perSecond requests a second, more than 0,
// and at most burst at once, at least 1. It starts with a full bucket.
func NewRateLimiter(perSecond float64, burst int) (*RateLimiter, error) {
	interval := time.Duration(float64(time.Second) / perSecond)
	if perSecond <= 0 || interval <= 0 || burst < 1 {
		return nil, fmt.Errorf("rest: a rate limiter of %v requests a second and bursts of %d: both must be positive, and the rate finite", perSecond, burst)
	}
	return &RateLimiter{interval: interval, burst: burst}, nil
}

// Wait waits for the turn of one request, or until ctx ends, whose error it then
// returns as it is (RS-16); the turn goes to the next one who asks.
func (l *RateLimiter) Wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wait := l.take()
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		l.giveBack()
		return ctx.Err()
	}
}

// take takes a token, and says when it will be there.
func (l *RateLimiter) take() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if full := now.Add(-time.Duration(l.burst) * l.interval); l.empty.Before(full) {
		l.empty = full
	}
	l.empty = l.empty.Add(l.interval)
	return l.empty.Sub(now)
}

func (l *RateLimiter) giveBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.empty = l.empty.Add(-l.interval)
}
