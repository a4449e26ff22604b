package remind

import "time"

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
