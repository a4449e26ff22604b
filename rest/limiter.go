package rest

import (
	"context"
	"fmt"
	"math"
	"time"
)

// RateLimiter is a token bucket for [Options].Limit: requests may come in bursts, but on average no
// faster than a rate. Waiting requests are served in the order of their arrival. A RateLimiter is
// safe for concurrent use, and several clients may use the same one. It has a timer only while a
// request waits.
type RateLimiter struct {
	interval time.Duration // between two requests
	fillTime time.Duration // the time in which an empty bucket fills

	// queueHead holds a value while a caller of Wait is first in the queue. The other callers block
	// while they send to this channel, in the order of their arrival.
	queueHead chan struct{}
	emptyAt   time.Time // when the bucket last became, or will become, empty; guarded by queueHead
}

// NewRateLimiter returns a limiter that allows perSecond requests a second on average, and burst
// requests at once. perSecond must be more than 0, and burst at least 1. The bucket is full at
// first.
func NewRateLimiter(perSecond float64, burst int) (*RateLimiter, error) {
	interval := time.Duration(float64(time.Second) / perSecond)
	if perSecond <= 0 || interval <= 0 || burst < 1 {
		return nil, fmt.Errorf("rest: a rate limiter of %v requests a second and bursts of %d: both must be positive, and the rate finite", perSecond, burst)
	}
	// A longer fill time would overflow. The longest allowed fill time is about a century.
	most := max(1, math.MaxInt64/2/interval)
	return &RateLimiter{interval: interval, fillTime: interval * min(time.Duration(burst), most), queueHead: make(chan struct{}, 1)}, nil
}

// Wait waits until one request may be sent. If ctx ends first, Wait returns the unwrapped error of
// ctx (RS-16), and takes no token.
func (l *RateLimiter) Wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case l.queueHead <- struct{}{}:
		defer func() { <-l.queueHead }()
	case <-ctx.Done():
		return ctx.Err()
	}
	now := time.Now()
	if full := now.Add(-l.fillTime); l.emptyAt.Before(full) {
		l.emptyAt = full
	}
	next := l.emptyAt.Add(l.interval)
	if wait := next.Sub(now); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	l.emptyAt = next
	return nil
}
