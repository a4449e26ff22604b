// Package pace bounds how often clients send requests: ever less often for requests that follow a mere
// suspicion ([Pace]), and once a second for requests that follow at once ([Haste]). It also has the
// limits that the reflector and each part of a merged source have in common.
package pace

import "time"

const (
	// OverdueMargin is how long a watch may outlive the timeout that the server was given,
	// before it is closed: the connection may be dead without either end knowing. kube-rs has
	// the same margin.
	OverdueMargin = 5 * time.Second

	// DoubtPause is the least time between two lists, or comparisons of the server's history,
	// whose only reason is an event that came too late.
	DoubtPause = 5 * time.Minute

	// CompareLimit is how long a comparison may hold up a watch: for the list of one object,
	// and then for the event that has to come again.
	CompareLimit = 5 * time.Second
)

const (
	unhurried = time.Second // between two steps of a [Haste]
	inHaste   = 10          // steps that may come without a wait

	// longestPause is the longest time between two steps of a [Pace].
	longestPause = time.Minute

	// calm is the time without a step after which a Pace begins anew.
	calm = 5 * time.Minute
)

// Pace spaces steps whose only reason is a suspicion, such as requests, so that a suspicion that lasts
// for ever costs the server little. The second step comes at least a second after the first, the third
// two seconds after that, and so on up to a minute. After five minutes without a step it begins anew.
// The zero value has no steps. It is not safe for concurrent use.
type Pace struct {
	last  time.Time
	pause time.Duration
}

// Left returns how long to wait for the next step; 0 or less if it may come now.
func (p *Pace) Left() time.Duration { return p.pause - time.Since(p.last) }

// Step takes note of a step at this moment.
func (p *Pace) Step() {
	if time.Since(p.last) >= calm {
		p.pause = 0
	}
	p.last, p.pause = time.Now(), min(max(2*p.pause, time.Second), longestPause)
}

// Wait is Step for the next possible moment, and returns how long to wait for it.
func (p *Pace) Wait() time.Duration {
	wait := max(p.Left(), 0)
	p.Step()
	p.last = p.last.Add(wait)
	return wait
}

// Haste prevents a busy loop, whatever a server answers: after some steps without a wait, a step may
// come once a second. The zero value has no steps. It is not safe for concurrent use.
type Haste struct {
	next time.Time // when the next step may come, without the first ones that need not wait
}

// Step takes note of the next step, and returns how long it has to wait; 0 or less if it need not.
func (h *Haste) Step() (wait time.Duration) {
	now := time.Now()
	if h.next.Before(now) {
		h.next = now
	}
	wait = h.next.Sub(now) - inHaste*unhurried
	h.next = h.next.Add(unhurried)
	return wait
}
