package rest

import (
	"context"
	"fmt"
	"math"
	"time"
)

// RateLimiter is a token bucket for [Options].Limit: requests may come in bursts,
// and on average not faster than a rate. Who waits is served in the order of
// arrival. It is safe for concurrent use, holds no timer while nobody waits, and
// several clients may share one.
type RateLimiter struct {
	interval time.Duration // between two requests
	saved    time.Duration // what a full bucket is worth

	// turn holds a value while somebody has the first place of the queue. Those who
	// wait to send one are the others, in the order of their arrival.
	turn  chan struct{}
	empty time.Time // when the bucket will be, or was, last without a token; of who has the turn
}

// NewRateLimiter returns a limiter for perSecond requests a second, more than 0,
// and at most burst at once, at least 1. It starts with a full bucket.
func NewRateLimiter(perSecond float64, burst int) (*RateLimiter, error) {
	interval := time.Duration(float64(time.Second) / perSecond)
	if perSecond <= 0 || interval <= 0 || burst < 1 {
		return nil, fmt.Errorf("rest: a rate limiter of %v requests a second and bursts of %d: both must be positive, and the rate finite", perSecond, burst)
	}
	// A bucket that takes centuries to fill is large enough.
	most := max(1, math.MaxInt64/2/interval)
	return &RateLimiter{interval: interval, saved: interval * min(time.Duration(burst), most), turn: make(chan struct{}, 1)}, nil
}

// Wait waits for the turn of one request, or until ctx ends, whose error it then
// returns as it is (RS-16). Who gives up has taken nothing: those behind move up.
func (l *RateLimiter) Wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	now := time.Now()
	if full := now.Add(-l.saved); l.empty.Before(full) {
		l.empty = full
	}
	next := l.empty.Add(l.interval)
	if wait := next.Sub(now); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	l.empty = next
	return nil
}
