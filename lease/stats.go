package lease

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Stats is a snapshot of an Elector.
type Stats struct {
	// Lease is the name of the lease.
	Lease types.NamespacedName

	// Identity is that of this candidate, and Leader that of who leads, as far as it
	// has seen: "" if nobody does.
	Identity, Leader string

	// Standing is true while this candidate waits for the lease, and Leading while it has
	// it.
	Standing, Leading bool

	// Watching is true while the candidate has a watch, see Options.Watch.
	Watching bool

	// Left is the time until the lease is lost unless it is renewed; 0 where it is not held.
	Left time.Duration

	// Transitions is how often the Lease has changed hands, as it was last seen.
	Transitions int32

	// Failing is the error of the last attempt to look, take, renew or release, and
	// FailingSince when these began to fail; nil and zero if it succeeded.
	Failing      error
	FailingSince time.Time

	// How often, since the Elector was made: it was attempted to look at the lease, to take,
	// renew or release it; this failed; another was quicker; a term has begun; and was lost.
	Attempts, Failures, Conflicts, Terms, Lost uint64
}

// Stats returns a snapshot. It sends nothing.
func (e *Elector) Stats() Stats {
	e.mu.Lock()
	s, t := e.stats, e.term
	s.Lease = e.key
	s.Identity, s.Leader, s.Transitions = e.opts.Identity, e.seen.record.holder, e.seen.record.transitions
	s.Standing = e.standing
	e.mu.Unlock()
	if t != nil && t.look() {
		s.Leading, s.Left = true, t.left()
	}
	return s
}

// Leading reports whether this candidate has the lease. It looks at the clock; see [Check],
// which is the same for who has a context.
func (e *Elector) Leading() bool {
	e.mu.Lock()
	t := e.term
	e.mu.Unlock()
	return t != nil && t.look()
}

// Healthy returns an error if the lease was lost, its time is over for the others as well, and the
// function has not returned: two may be at work then, and nothing but the end of the process
// helps. It is made for a liveness probe. That the server cannot be reached is no such
// reason, and is in Stats.Failing.
func (e *Elector) Healthy() error {
	e.mu.Lock()
	t := e.term
	e.mu.Unlock()
	if t == nil {
		return nil
	}
	t.look()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost == nil || t.over {
		return nil
	}
	if since := time.Since(t.lostAt); since > e.opts.LeaseDuration-e.opts.RenewDeadline {
		return fmt.Errorf("lease %s: %s lost the lease %v ago, and its function has not returned, though its context has ended: end the process: %w",
			e.key, e.opts.Identity, since.Round(time.Millisecond), t.lost)
	}
	return nil
}
