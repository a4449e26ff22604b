package flowcontrol

import (
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Backoff has a wait for each id. Each call of Next doubles the wait of an id, up to the maximum.
// It is safe for concurrent use.
type Backoff struct {
	sync.RWMutex // guards following

	// Clock is the source of the time.
	Clock clock.Clock

	// HasExpiredFunc decides whether the wait of an id starts anew. lastUpdate is the last event of
	// the id, and eventTime is the present event. Defaults to nil: the wait starts anew if more
	// than twice maxDuration lies between them.
	HasExpiredFunc func(eventTime time.Time, lastUpdate time.Time, maxDuration time.Duration) bool

	initial, max time.Duration
	jitter       float64 // maximal random extension, as a fraction of the wait's growth
	waits        map[string]*wait
}

// wait is the state of an id.
type wait struct {
	duration   time.Duration
	lastUpdate time.Time
}

// NewBackOff returns a Backoff without jitter.
func NewBackOff(initial, max time.Duration) *Backoff {
	return NewBackOffWithJitter(initial, max, 0)
}

// NewBackOffWithJitter returns a Backoff whose waits are extended by a random fraction between 0
// and maxJitterFactor.
func NewBackOffWithJitter(initial, max time.Duration, maxJitterFactor float64) *Backoff {
	return NewFakeBackOffWithJitter(initial, max, clock.RealClock{}, maxJitterFactor)
}

// NewFakeBackOff is NewBackOff with another clock.
func NewFakeBackOff(initial, max time.Duration, tc clock.Clock) *Backoff {
	return NewFakeBackOffWithJitter(initial, max, tc, 0)
}

// NewFakeBackOffWithJitter is NewBackOffWithJitter with another clock.
func NewFakeBackOffWithJitter(initial, max time.Duration, tc clock.Clock, maxJitterFactor float64) *Backoff {
	return &Backoff{Clock: tc, initial: initial, max: max, jitter: maxJitterFactor, waits: map[string]*wait{}}
}

// Get returns the current wait of an id, or 0 for an unknown id.
func (p *Backoff) Get(id string) time.Duration {
	p.RLock()
	defer p.RUnlock()
	if w, ok := p.waits[id]; ok {
		return w.duration
	}
	return 0
}

// Next sets the wait of an id to the initial wait, or doubles it.
func (p *Backoff) Next(id string, eventTime time.Time) {
	p.Lock()
	defer p.Unlock()
	w, known := p.waits[id]
	if !known || p.expiredLocked(eventTime, w.lastUpdate) {
		w = &wait{duration: p.withJitter(p.initial, p.initial)}
		p.waits[id] = w
	} else {
		w.duration = min(p.withJitter(2*w.duration, w.duration), p.max)
	}
	w.lastUpdate = p.Clock.Now()
}

// withJitter returns d plus a random fraction of a second duration. The fraction is between 0 and
// jitter.
func (p *Backoff) withJitter(d, what time.Duration) time.Duration {
	if p.jitter == 0 {
		return d
	}
	return d + time.Duration(rand.Float64()*p.jitter*float64(what))
}

// Reset removes the wait of an id.
func (p *Backoff) Reset(id string) { p.DeleteEntry(id) }

// DeleteEntry removes the wait of an id.
func (p *Backoff) DeleteEntry(id string) {
	p.Lock()
	defer p.Unlock()
	delete(p.waits, id)
}

// IsInBackOffSince reports whether less time than the wait of the id has passed since eventTime.
func (p *Backoff) IsInBackOffSince(id string, eventTime time.Time) bool {
	p.RLock()
	defer p.RUnlock()
	w, known := p.waits[id]
	return known && !p.expiredLocked(eventTime, w.lastUpdate) && p.Clock.Since(eventTime) < w.duration
}

// IsInBackOffSinceUpdate reports whether less time than the wait of the id lies between its last
// Next and eventTime.
func (p *Backoff) IsInBackOffSinceUpdate(id string, eventTime time.Time) bool {
	p.RLock()
	defer p.RUnlock()
	w, known := p.waits[id]
	return known && !p.expiredLocked(eventTime, w.lastUpdate) && eventTime.Sub(w.lastUpdate) < w.duration
}

// GC removes the ids whose waits would start anew. A program that keeps adding new ids must call GC
// periodically, because nothing else removes old ids.
func (p *Backoff) GC() {
	p.Lock()
	defer p.Unlock()
	now := p.Clock.Now()
	for id, w := range p.waits {
		if p.expiredLocked(now, w.lastUpdate) {
			delete(p.waits, id)
		}
	}
}

func (p *Backoff) expiredLocked(eventTime, lastUpdate time.Time) bool {
	if p.HasExpiredFunc != nil {
		return p.HasExpiredFunc(eventTime, lastUpdate, p.max)
	}
	return eventTime.Sub(lastUpdate) > 2*p.max
}
