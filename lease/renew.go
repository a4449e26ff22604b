package lease

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// renew keeps the lease until its function has returned or it is lost.
func (e *Elector) renew(t *term) {
	wait := e.opts.RetryPeriod - now().sub(t.last)
	for sleep(t.renewing, wait) && t.look() {
		begun := now()
		err := e.renewOnce(t)
		if t.renewing.Err() != nil && err != nil {
			break // The attempt was interrupted.
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

// renewOnce writes the Lease again. If it is not as it was, it is read, and written once more if it
// is still this term's.
func (e *Elector) renewOnce(t *term) error {
	err := e.renewAs(t, t.object())
	if !errors.Is(err, errOutrun) {
		return err
	}
	lease, err := e.get(t.renewing, e.patience(t))
	if apierrors.IsNotFound(err) {
		return e.renewAs(t, nil) // It was deleted. Only one can create it.
	}
	if err != nil {
		return err
	}
	r := recordOf(lease)
	if r.holder == e.opts.Identity && r.acquired.Equal(t.acquired) {
		return e.renewAs(t, lease) // Another has changed something else, or an answer was lost.
	}
	e.see(r)
	if r.holder == "" {
		return errReleased
	}
	return &takenError{holder: r.holder}
}

// renewAs writes the Lease with a new time, if it is as given; nil is not there.
func (e *Elector) renewAs(t *term, lease *coordinationv1.Lease) error {
	var before time.Time
	if lease != nil {
		before = recordOf(lease).renewed
	}
	r := record{
		holder: e.opts.Identity, duration: e.opts.LeaseDuration, acquired: t.acquired, renewed: stamp(before),
		transitions: t.about.Transitions,
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

// patience is how long to wait for an answer, so that there is time for another attempt.
func (e *Elector) patience(t *term) time.Duration {
	left := t.left()
	return max(left/2, min(left, e.opts.RetryPeriod))
}

// release empties the Lease if it is this Elector's, so that the next one need not wait. It is no
// use after the lease is over.
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
