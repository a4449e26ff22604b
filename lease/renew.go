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
	wait := e.opts.RetryPeriod - now().sub(t.last)
	for sleep(t.renewing, wait) && t.look() {
		begun := now()
		err := e.renewOnce(t)
		if t.renewing.Err() != nil && err != nil {
			break // The end of the term interrupted the attempt.
		}
		e.note(now().sub(begun), err)
		wait = e.opts.RetryPeriod
		if taken, ok := errors.AsType[*takenError](err); ok {
			t.lose(taken.holder, nil)
		} else if errors.Is(err, errReleased) {
			t.lose("", err)
		} else if err != nil {
			t.failed(err)
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
	e.opts.Observer.lost(t.about, lost)
}

// renewOnce writes the Lease again. If the Lease has changed since, renewOnce reads it. If it still
// belongs to this term, renewOnce writes it once more.
func (e *Elector) renewOnce(t *term) error {
	err := e.renewAs(t, t.object())
	if !errors.Is(err, errOutrun) {
		return err
	}
	lease, err := e.get(t.renewing, e.patience(t))
	if apierrors.IsNotFound(err) {
		return e.renewAs(t, nil) // The Lease was deleted. Only one candidate can create it.
	}
	if err != nil {
		return err
	}
	r := recordOf(lease)
	if e.mine(r) && r.acquired.Equal(t.acquired) {
		return e.renewAs(t, lease) // Other fields were changed, or a response was lost.
	}
	e.see(r)
	if r.holder == "" {
		return errReleased
	}
	return &takenError{holder: r.holder}
}

// renewAs writes the Lease with a new time, if the server's Lease equals the argument lease. A nil
// argument means that the Lease must not exist.
func (e *Elector) renewAs(t *term, lease *coordinationv1.Lease) error {
	var before time.Time
	if lease != nil {
		before = recordOf(lease).renewed
	}
	r := record{
		holder: e.opts.Identity, duration: e.opts.LeaseDuration, acquired: t.acquired, renewed: stamp(before),
		transitions: t.about.Transitions, writer: e.writer,
	}
	if t.left() <= 0 {
		t.look()
		return context.Cause(t.Context)
	}
	taken, err := e.put(t.renewing, lease, r, e.patience(t))
	if err == nil {
		t.renewed(taken.lease, taken.sent)
	}
	return err
}

// patience returns how long to wait for a response, so that time is left for another attempt.
func (e *Elector) patience(t *term) time.Duration {
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
		patience := max(left/2, min(left, e.opts.RetryPeriod))
		lease, err := e.get(ctx, patience)
		if apierrors.IsNotFound(err) {
			return
		}
		if err == nil {
			r := recordOf(lease)
			if !e.mine(r) {
				return
			}
			at := stamp(r.renewed)
			_, err = e.put(ctx, lease, record{duration: time.Second, acquired: at, renewed: at, transitions: r.transitions}, patience)
		}
		e.note(now().sub(begun), err)
		if err == nil {
			return
		}
		time.Sleep(rand.N(e.opts.RetryPeriod/10 + 1))
	}
}
