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

	// Identity is this candidate's identity. Leader is the leader's identity, as far as this
	// candidate has seen, and "" if there is no leader.
	Identity, Leader string

	// Standing is true while this candidate waits for the lease, and Leading while it has
	// it.
	Standing, Leading bool

	// Watching is true while the candidate has a watch, see Options.Watch.
	Watching bool

	// Left is the time until the lease is lost unless it is renewed; 0 if this candidate does not
	// have the lease.
	Left time.Duration

	// Transitions is how often the Lease has changed hands, as last seen.
	Transitions int32

	// Failing is the error of the last attempt to read, take, renew or release the lease, and
	// FailingSince is when attempts began to fail. Both are zero if the last attempt succeeded.
	Failing      error
	FailingSince time.Time

	// Attempts counts attempts to read, take, renew or release the lease, Failures the failed
	// attempts, and Conflicts the attempts in which another candidate wrote first. Terms counts the
	// terms of this candidate, and Lost the terms that ended because the lease was lost.
	Attempts, Failures, Conflicts, Terms, Lost uint64
}

// Stats returns a snapshot. Stats sends nothing.
func (e *Elector) Stats() Stats {
	e.mu.Lock()
	s, t := e.stats, e.term
	s.Lease = e.key
	s.Identity, s.Leader, s.Transitions = e.opts.Identity, e.observed.record.holder, e.observed.record.transitions
	s.Standing = e.standing
	e.mu.Unlock()
	if t != nil && t.checkHeld() {
		s.Leading, s.Left = true, t.left()
	}
	return s
}

// Leading reports whether this candidate has the lease. Leading reads the clock. [Check] is the
// same for code that has a context.
func (e *Elector) Leading() bool {
	e.mu.Lock()
	t := e.term
	e.mu.Unlock()
	return t != nil && t.checkHeld()
}

// Healthy returns an error if the lease was lost, other candidates may take it, and the function
// has not returned. The functions of two leaders may then run at once, and only the end of the
// process helps. Use Healthy for a liveness probe. If the server cannot be reached, Healthy returns
// nil, and Stats.Failing has the error.
func (e *Elector) Healthy() error {
	e.mu.Lock()
	t := e.term
	e.mu.Unlock()
	if t == nil {
		return nil
	}
	t.checkHeld()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost == nil || t.returned {
		return nil
	}
	if since := time.Since(t.lostAt); since > e.opts.LeaseDuration-e.opts.RenewDeadline {
		return fmt.Errorf("lease %s: %s lost the lease %v ago, but the leader's function has not returned, although its context has ended: end the process: %w",
			e.key, e.opts.Identity, since.Round(time.Millisecond), t.lost)
	}
	return nil
}
