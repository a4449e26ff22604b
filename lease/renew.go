package lease

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// renew renews the lease until the function has returned, or the lease is lost.
func (e *Elector) renew(t *term) {
	wait := e.opts.RetryPeriod - now().sub(t.renewedAt)
	for sleep(t.renewing, wait) && t.checkHeld() {
		begun := now()
		err := e.renewOnce(t)
		if t.renewing.Err() != nil && err != nil {
			break // The end of the term interrupted the attempt.
		}
		e.recordAttempt(now().sub(begun), err)
		wait = e.opts.RetryPeriod
		if taken, ok := errors.AsType[*otherHolderError](err); ok {
			t.lose(taken.holder, nil)
		} else if errors.Is(err, errReleased) {
			t.lose("", err)
		} else if err != nil {
			t.setFailure(err)
			wait = wait/2 + rand.N(wait/2+1)
		} else {
			wait -= now().sub(begun)
		}
	}
	t.mu.Lock()
	lost := t.lost
	t.mu.Unlock()
	if lost == nil {
		return
	}
	e.mu.Lock()
	e.stats.Lost++
	e.mu.Unlock()
	e.opts.Logger.Warn("the lease is lost", "lease", e.key.String(), "err", lost)
	e.opts.Observer.lost(t.info, lost)
}

// renewOnce writes the Lease again. If the Lease has changed since the last write, renewOnce reads
// it. If the Lease still belongs to this term, renewOnce writes it once more.
func (e *Elector) renewOnce(t *term) error {
	err := e.renewAs(t, t.object())
	if !errors.Is(err, errConflict) {
		return err
	}
	lease, err := e.get(t.renewing, e.requestTimeout(t))
	if apierrors.IsNotFound(err) {
		return e.renewAs(t, nil) // The Lease was deleted. Only one candidate can create it.
	}
	if err != nil {
		return err
	}
	r := recordOf(lease)
	if e.isOwn(r) && r.acquired.Equal(t.acquired) {
		return e.renewAs(t, lease) // Other fields were changed, or a response was lost.
	}
	e.observe(r)
	if r.holder == "" {
		return errReleased
	}
	return &otherHolderError{holder: r.holder}
}

// renewAs writes the Lease with a new renew time. The server refuses the write if its Lease has
// changed since the argument lease was read. If the argument is nil, the Lease must not exist.
func (e *Elector) renewAs(t *term, lease *coordinationv1.Lease) error {
	var before time.Time
	if lease != nil {
		before = recordOf(lease).renewed
	}
	r := record{
		holder: e.opts.Identity, duration: e.opts.LeaseDuration, acquired: t.acquired, renewed: writeTime(before),
		transitions: t.info.Transitions, writer: e.writer,
	}
	if t.left() <= 0 {
		t.checkHeld()
		return context.Cause(t.Context)
	}
	taken, err := e.put(t.renewing, lease, r, e.requestTimeout(t))
	if err == nil {
		t.renewed(taken.lease, taken.sent)
	}
	return err
}

// requestTimeout returns how long to wait for a response, so that time is left for another attempt.
func (e *Elector) requestTimeout(t *term) time.Duration {
	left := t.left()
	return max(left/2, min(left, e.opts.RetryPeriod))
}

// release removes the holder from the Lease if this Elector is the holder, so that the next
// candidate need not wait. release gives up at the moment until, because other candidates may take
// the lease from then on.
func (e *Elector) release(ctx context.Context, until instant) {
	ctx = context.WithoutCancel(ctx)
	for left := until.sub(now()); left > 0; left = until.sub(now()) {
		begun := now()
		timeout := max(left/2, min(left, e.opts.RetryPeriod))
		lease, err := e.get(ctx, timeout)
		if apierrors.IsNotFound(err) {
			return
		}
		if err == nil {
			r := recordOf(lease)
			if !e.isOwn(r) {
				return
			}
			at := writeTime(r.renewed)
			_, err = e.put(ctx, lease, record{duration: time.Second, acquired: at, renewed: at, transitions: r.transitions}, timeout)
		}
		e.recordAttempt(now().sub(begun), err)
		if err == nil {
			return
		}
		time.Sleep(rand.N(e.opts.RetryPeriod/10 + 1))
	}
}
