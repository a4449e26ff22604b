// Package pace limits how often clients send requests. [Spacer] is for requests because of an
// unconfirmed suspicion: their intervals become longer and longer. [BurstLimiter] is for attempts
// without a wait: after some of them, it allows one a second. The package also has the time limits
// that the reflector and each part of a merged source share.
package pace

import "time"

const (
	// OverdueMargin is how long a watch may outlive the timeout that the server was given. After
	// that the client closes the watch, because the connection may be dead without either end
	// noticing. kube-rs has the same margin.
	OverdueMargin = 5 * time.Second

	// HistoryCheckInterval is the shortest time between two lists, or comparisons of the server's
	// history, whose only reason is a late event.
	HistoryCheckInterval = 5 * time.Minute

	// HistoryCheckTimeout is how long a comparison may delay a watch in each of its two steps: the
	// list of one object, and the wait for the event that has to come again.
	HistoryCheckTimeout = 5 * time.Second
)

const (
	burstInterval = time.Second // between two steps of a [BurstLimiter]
	burstSize     = 10          // steps that may come without a wait

	// maxInterval is the longest time between two steps of a [Spacer].
	maxInterval = time.Minute

	// resetAfter is the time without a step after which a Spacer starts again with the shortest
	// interval.
	resetAfter = 5 * time.Minute
)

// Spacer spaces steps, such as requests, whose only reason is a suspicion. So a lasting suspicion
// costs the server little. The second step comes at least a second after the first. The interval
// then doubles with each step, up to a minute. After five minutes without a step, the interval is a
// second again. The zero value has no steps. It is not safe for concurrent use.
type Spacer struct {
	last     time.Time
	interval time.Duration
}

// Remaining returns how long to wait for the next step, or 0 or less if the step may come now.
func (p *Spacer) Remaining() time.Duration { return p.interval - time.Since(p.last) }

// Step records a step at this moment.
func (p *Spacer) Step() {
	if time.Since(p.last) >= resetAfter {
		p.interval = 0
	}
	p.last, p.interval = time.Now(), min(max(2*p.interval, time.Second), maxInterval)
}

// Wait records a step at the next allowed moment, and returns how long to wait for that moment.
func (p *Spacer) Wait() time.Duration {
	wait := max(p.Remaining(), 0)
	p.Step()
	p.last = p.last.Add(wait)
	return wait
}

// BurstLimiter prevents a busy loop, however a server responds. After some steps without a wait, it
// allows one step a second. The zero value has no steps. It is not safe for concurrent use.
type BurstLimiter struct {
	next time.Time // when the next step would be allowed without the free first steps
}

// Step records the next step, and returns how long the caller has to wait before it. 0 or less
// means no wait.
func (h *BurstLimiter) Step() (wait time.Duration) {
	now := time.Now()
	if h.next.Before(now) {
		h.next = now
	}
	wait = h.next.Sub(now) - burstSize*burstInterval
	h.next = h.next.Add(burstInterval)
	return wait
}
