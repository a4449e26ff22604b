package lease

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Term is one time of leading.
type Term struct {
	Lease    types.NamespacedName
	Identity string

	// Transitions is that of the Lease. It is greater in each term than in all before, as
	// long as nobody deletes the Lease, so that what refuses writes of an earlier term
	// can know them by it.
	Transitions int32

	// Since is when the term began, by the clock of this machine.
	Since time.Time
}

// term is the context of a leader: it is a standard one, except that whoever asks it anything
// makes it look at the clock first, so that it has ended when its time is over, be
// there a timer that has fired or not.
type term struct {
	context.Context

	cancel   context.CancelCauseFunc
	elector  *Elector
	about    Term
	outer    *term
	acquired time.Time // as in the Lease

	renewing context.Context // ends when there is nothing to renew any more
	stop     context.CancelFunc

	mu      sync.Mutex // guards following
	until   instant    // when the term is lost unless it is renewed
	last    instant    // when the last renewal that succeeded was sent
	lease   *coordinationv1.Lease
	failure error // of the attempt after that one
	lost    *LostError
	lostAt  time.Time
	over    bool // the function has returned
	timer   *time.Timer
}

type termKey struct{}

// innermost returns the term in which ctx is; nil if there is none.
func innermost(ctx context.Context) *term {
	t, _ := ctx.Value(termKey{}).(*term)
	return t
}

// FromContext returns the term that ctx, or what it is derived from, is of: the innermost, if
// leases are nested. That it is in a term says nothing about whether the lease is held: see
// [Check].
func FromContext(ctx context.Context) (about Term, ok bool) {
	if t := innermost(ctx); t != nil {
		return t.about, true
	}
	return Term{}, false
}

// Check returns nil as long as the lease is held under which ctx is, which is the context of
// a leader or derived from it; with several leases around one another, all of them. A context that
// is under no lease is none of its business: nil as well. Nor is it why ctx has ended
// otherwise: a function that was asked to end may still write what it has to, with
// [context.WithoutCancel], while the lease is held.
//
// It looks at the clock. A derived context ends when a timer has fired or its leader's was
// asked, so that in a process that was stopped for a minute and goes on, code may run for some
// microseconds that still finds it alive. Check does not. Given to a client as
// [rest.Options].Limit, it is asked before each request, the repeated ones included: none that is made with such a
// context begins after the lease was lost.
func Check(ctx context.Context) error {
	for t := innermost(ctx); t != nil; t = t.outer {
		if !t.look() {
			return t.reason()
		}
	}
	return nil
}

// reason is why a term is not held.
func (t *term) reason() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost != nil {
		return t.lost
	}
	return ErrEnded
}

// Err is that of a context.
func (t *term) Err() error {
	t.look()
	return t.Context.Err()
}

// Done is that of a context.
func (t *term) Done() <-chan struct{} {
	t.look()
	return t.Context.Done()
}

// Value is that of a context.
func (t *term) Value(key any) any {
	if key == (termKey{}) {
		return t
	}
	return t.Context.Value(key)
}

// look ends the term if its time is over, and reports whether it is held: not lost, and the
// function has not returned. One whose context was ended by the caller of Run is held.
func (t *term) look() bool {
	t.mu.Lock()
	held := t.lookLocked()
	t.mu.Unlock()
	if !held {
		t.announce()
	}
	return held
}

func (t *term) lookLocked() bool {
	if t.over || t.lost != nil {
		return false
	}
	left := t.until.sub(now())
	if left <= 0 {
		t.loseLocked("", t.failure)
		return false
	}
	return true
}

// loseLocked notes that the term is lost. announce follows, without the lock.
func (t *term) loseLocked(holder string, err error) {
	t.lost = &LostError{Lease: t.about.Lease, Identity: t.about.Identity, Holder: holder, Unrenewed: now().sub(t.last), Err: err}
	t.lostAt = time.Now()
	t.timer.Stop()
}

// lose ends the term before its time.
func (t *term) lose(holder string, err error) {
	t.mu.Lock()
	if !t.over && t.lost == nil {
		t.loseLocked(holder, err)
	}
	t.mu.Unlock()
	t.announce()
}

// announce ends the context of a term that was lost. Whoever finds that it is lost does so and
// returns after it.
func (t *term) announce() {
	t.mu.Lock()
	lost := t.lost
	t.mu.Unlock()
	if lost != nil {
		t.cancel(lost)
		t.stop()
	}
}

// ring is called by the timer.
func (t *term) ring() {
	if !t.look() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over && t.lost == nil {
		t.timer.Reset(max(t.until.sub(now()), 0))
	}
}

// renewed notes that the server took a renewal that was sent at a moment, and counts from
// there. It does not help a term that is over: what was ended stays ended.
func (t *term) renewed(lease *coordinationv1.Lease, sent instant) bool {
	t.mu.Lock()
	held := t.lookLocked()
	if held {
		t.lease, t.failure, t.last = lease, nil, sent
		t.until = sent.add(t.elector.opts.RenewDeadline)
		t.timer.Reset(max(t.until.sub(now()), 0))
	}
	t.mu.Unlock()
	if !held {
		t.announce()
	}
	return held
}

// failed notes why an attempt failed.
func (t *term) failed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failure = err
}

// object is the Lease as the server had it last.
func (t *term) object() *coordinationv1.Lease {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lease
}

// left is the time until the term is lost unless it is renewed.
func (t *term) left() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.until.sub(now())
}

// finish ends the context of a term whose function has returned, and returns the LostError of
// one that was lost before that.
func (t *term) finish() *LostError {
	t.look()
	t.mu.Lock()
	t.over = true
	lost := t.lost
	t.timer.Stop()
	t.mu.Unlock()
	t.cancel(ErrEnded)
	t.stop()
	return lost
}
