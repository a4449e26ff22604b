// Package pace decides how often and how long a server is asked: less and less often for what
// is only suspected ([Pace]), once a second for what follows at once ([Haste]), and within the
// limits below, which the reflector and each part of a merged source share.
package pace

import "time"

const (
	// OverdueMargin is how long a watch may outlive the timeout that the server was given,
	// before it is closed: the connection may be dead without either end knowing. kube-rs has
	// the same margin.
	OverdueMargin = 5 * time.Second

	// DoubtPause is the least time between two lists, or comparisons of the server's history,
	// for which there is no other reason than an event that came too late.
	DoubtPause = 5 * time.Minute

	// CompareLimit is how long a comparison may keep a watch waiting: for the list of one
	// object, and then for the event that is to come again.
	CompareLimit = 5 * time.Second
)

const (
	unhurried = time.Second // between two steps of a [Haste]
	inHaste   = 10          // steps may be ahead of that

	// longestPause is the longest time between two steps of a [Pace].
	longestPause = time.Minute

	// calm is for how long nothing must have been asked for a Pace to begin anew.
	calm = 5 * time.Minute
)

// Pace spaces what is asked of a server only because of a suspicion, so that what goes
// on for ever costs it little: the second time comes a second after the first at the
// earliest, the third two seconds after that, and so on up to a minute. It begins anew
// when there was none for five minutes. The zero value has asked for nothing. It is not
// safe for concurrent use.
type Pace struct {
	last  time.Time
	pause time.Duration
}

// Left is how long to wait until the next time; 0 or less if that has come.
func (p *Pace) Left() time.Duration { return p.pause - time.Since(p.last) }

// Step takes note that it is done now.
func (p *Pace) Step() {
	if time.Since(p.last) >= calm {
		p.pause = 0
	}
	p.last, p.pause = time.Now(), min(max(2*p.pause, time.Second), longestPause)
}

// Wait is Step for what will be done as soon as it is time for it, and says how long to wait
// for that.
func (p *Pace) Wait() time.Duration {
	wait := max(p.Left(), 0)
	p.Step()
	p.last = p.last.Add(wait)
	return wait
}

// Haste sees to it that nobody spins, whatever a server answers: what follows at once, time
// after time, comes once a second, after some times that need not wait at all. The zero
// value has not begun. It is not safe for concurrent use.
type Haste struct {
	next time.Time // when one more could begin if there were no exception
}

// Step takes note of what is about to begin, and returns how long it has to wait; 0 or
// less if it does not.
func (h *Haste) Step() (wait time.Duration) {
	now := time.Now()
	if h.next.Before(now) {
		h.next = now
	}
	wait = h.next.Sub(now) - inHaste*unhurried
	h.next = h.next.Add(unhurried)
	return wait
}
