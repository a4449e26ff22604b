package lease

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Term is one period of leading.
type Term struct {
	Lease    types.NamespacedName
	Identity string

	// Transitions is the Lease's number of transitions. The number grows with each term unless the
	// Lease is deleted. So a system outside of Kubernetes can refuse writes with a smaller number,
	// which come from an earlier term.
	Transitions int32

	// Since is when the term began, by the clock of this machine.
	Since time.Time
}

// term is the context of a leader. Unlike a standard context, each of its methods reads the clock
// first. When its time is over, the context has ended, whether or not a timer has fired.
type term struct {
	context.Context

	cancel   context.CancelCauseFunc
	elector  *Elector
	info     Term
	outer    *term
	acquired time.Time // as in the Lease

	renewing context.Context // ends when the lease needs no more renewals
	stop     context.CancelFunc

	mu        sync.Mutex // guards following
	deadline  instant    // when the term is lost unless it is renewed
	renewedAt instant    // when the last successful renewal was sent
	lease     *coordinationv1.Lease
	failure   error // why the last attempt failed; nil after a success
	lost      *LostError
	lostAt    time.Time
	returned  bool // the function has returned
	timer     *time.Timer
}

type termKey struct{}

// innermost returns the innermost term that ctx is derived from, or nil.
func innermost(ctx context.Context) *term {
	t, _ := ctx.Value(termKey{}).(*term)
	return t
}

// FromContext returns the term of a leader's context, or of a context derived from one. If leases
// are nested, it returns the innermost term. The term may have ended: [Check] says whether its
// lease is held.
func FromContext(ctx context.Context) (about Term, ok bool) {
	if t := innermost(ctx); t != nil {
		return t.info, true
	}
	return Term{}, false
}

// Check returns nil as long as the lease is held. ctx is the context of a leader, or derived from
// one; if leases are nested, all of them must be held. Check also returns nil for a context without
// a leader. Check ignores other reasons why ctx has ended: a function that was asked to stop may
// still write, with [context.WithoutCancel], while the lease is held.
//
// Check reads the clock. A derived context ends only when a timer fires, or when a method of the
// leader's context is called. When a stopped process resumes, code may run for some microseconds
// before a derived context ends. Check notices the loss at once. As [rest.Options].Limit, Check is
// called before each request, retries included: no request with such a context begins after the
// lease was lost.
func Check(ctx context.Context) error {
	for t := innermost(ctx); t != nil; t = t.outer {
		if !t.checkHeld() {
			return t.endCause()
		}
	}
	return nil
}

// endCause returns the error of a term that is not held.
func (t *term) endCause() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost != nil {
		return t.lost
	}
	return ErrEnded
}

// Err implements [context.Context].
func (t *term) Err() error {
	t.checkHeld()
	return t.Context.Err()
}

// Done implements [context.Context].
func (t *term) Done() <-chan struct{} {
	t.checkHeld()
	return t.Context.Done()
}

// Value implements [context.Context].
func (t *term) Value(key any) any {
	if key == (termKey{}) {
		return t
	}
	return t.Context.Value(key)
}

// checkHeld ends the term if its time is over. It reports whether the term is held: the lease is
// not lost, and the function has not returned. If the caller of Run ends its context, the term is
// still held.
func (t *term) checkHeld() bool {
	t.mu.Lock()
	held := t.checkHeldLocked()
	t.mu.Unlock()
	if !held {
		t.endContext()
	}
	return held
}

func (t *term) checkHeldLocked() bool {
	if t.returned || t.lost != nil {
		return false
	}
	left := t.deadline.sub(now())
	if left <= 0 {
		t.loseLocked("", t.failure)
		return false
	}
	return true
}

// loseLocked records that the term is lost. The caller must then call endContext without the lock.
func (t *term) loseLocked(holder string, err error) {
	t.lost = &LostError{Lease: t.info.Lease, Identity: t.info.Identity, Holder: holder, Unrenewed: now().sub(t.renewedAt), Err: err}
	t.lostAt = time.Now()
	t.timer.Stop()
}

// lose ends the term before its time.
func (t *term) lose(holder string, err error) {
	t.mu.Lock()
	if !t.returned && t.lost == nil {
		t.loseLocked(holder, err)
	}
	t.mu.Unlock()
	t.endContext()
}

// endContext ends the context of a term that was lost. Each method that finds a term lost calls
// endContext before it returns.
func (t *term) endContext() {
	t.mu.Lock()
	lost := t.lost
	t.mu.Unlock()
	if lost != nil {
		t.cancel(lost)
		t.stop()
	}
}

// checkDeadline is called by the timer.
func (t *term) checkDeadline() {
	if !t.checkHeld() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.returned && t.lost == nil {
		t.timer.Reset(max(t.deadline.sub(now()), 0))
	}
}

// renewed records a successful renewal; the deadline counts from the time when the renewal was
// sent. If the term has ended already, renewed returns false, and the term stays ended.
func (t *term) renewed(lease *coordinationv1.Lease, sent instant) bool {
	t.mu.Lock()
	held := t.checkHeldLocked()
	if held {
		t.lease, t.failure, t.renewedAt = lease, nil, sent
		t.deadline = sent.add(t.elector.opts.RenewDeadline)
		t.timer.Reset(max(t.deadline.sub(now()), 0))
	}
	t.mu.Unlock()
	if !held {
		t.endContext()
	}
	return held
}

// setFailure records why an attempt failed.
func (t *term) setFailure(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failure = err
}

// object returns the last known Lease of the server.
func (t *term) object() *coordinationv1.Lease {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lease
}

// left returns the time until the term is lost unless it is renewed.
func (t *term) left() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.deadline.sub(now())
}

// finish ends the context of a term whose function has returned. If the term was lost before that,
// finish returns its LostError.
func (t *term) finish() *LostError {
	t.checkHeld()
	t.mu.Lock()
	t.returned = true
	lost := t.lost
	t.timer.Stop()
	t.mu.Unlock()
	t.cancel(ErrEnded)
	t.stop()
	return lost
}
