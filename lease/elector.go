package lease

import (
	"context"
	crypto "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/internal/logthrottle"
	"github.com/kinform/kinform/rest"
)

// Elector is one candidate for one Lease. An Elector is safe for concurrent use, and needs no
// Close.
type Elector struct {
	key    types.NamespacedName
	opts   Options
	leases *rest.Resource[*coordinationv1.Lease]

	writer  string                                // see record.writer; unique to this Elector
	watched *rest.Resource[*coordinationv1.Lease] // lists and watches this Lease only

	attempts []time.Time // the last acquire times that this Elector wrote; only Run uses them

	mu         sync.Mutex // guards following
	running    bool
	standing   bool
	observed   observation
	term       *term // a term in progress, or a term whose function has not returned
	stats      Stats
	attemptLog logthrottle.Throttle
	watchLog   logthrottle.Throttle // for failed watches
}

// observation is the record of the Lease that a candidate last saw.
type observation struct {
	known  bool
	record record
	at     time.Time // when it saw this record for the first time, by its own clock
}

// New returns a candidate for the Lease of this name, which need not exist. New sends nothing.
//
// The client needs permission to get, create and update leases of the group coordination.k8s.io in
// that namespace, and with Options.Watch also to watch leases. If the client's [rest.Options].Limit
// delays requests, it delays renewals as well: in this case, give the Elector a client of its own.
func New(client *rest.Client, key types.NamespacedName, opts Options) (*Elector, error) {
	opts, err := opts.withDefaults()
	if err == nil {
		err = opts.validate(key)
	}
	if err != nil {
		return nil, err
	}
	leases, err := rest.For[*coordinationv1.Lease](client, rest.ResourceOptions{Namespace: key.Namespace})
	if err != nil {
		return nil, fmt.Errorf("lease %s: %w", key, err)
	}
	watched, err := rest.For[*coordinationv1.Lease](client, rest.ResourceOptions{Namespace: key.Namespace, FieldSelector: "metadata.name=" + key.Name})
	if err != nil {
		return nil, fmt.Errorf("lease %s: %w", key, err)
	}
	opts.Observer = opts.Observer.contained(&contain.Hooks{Logger: opts.Logger, Attrs: []any{"lease", key.String()}})
	return &Elector{key: key, opts: opts, leases: leases, writer: crypto.Text(), watched: watched}, nil
}

// Identity returns the name of this candidate in the Lease.
func (e *Elector) Identity() string { return e.opts.Identity }

// Run waits until it has the lease, and calls the function lead. It keeps the lease while the
// function runs, and releases the lease when the function has returned.
//
// The context of the function ends when ctx ends, or when the lease is lost, with a [*LostError] as
// its cause. The lease is lost RenewDeadline after the last successful renewal was sent, or as soon
// as Run sees another holder. In each case Run waits for the function to return. If the function
// goes on after the lease was lost, [Elector.Healthy] returns an error. Until the function has
// returned, Run renews a lease that is not lost, even after ctx has ended.
//
// Run returns
//
//   - nil when ctx has ended, whether this candidate led or not,
//   - the error of the function, unless it is only the end of its context,
//   - a [*LostError] when the lease was lost before the function returned, joined with the error of
//     the function if there is one. With Options.StandAgain, Run waits for the lease again instead,
//     unless the function had an error of its own.
//
// A process that lost the lease should usually exit, as programs on client-go do: the process that
// replaces it begins with a clean state. If Run cannot take the lease (no connection, missing
// permission), it logs that and retries.
//
// Run calls the function in its own goroutine. If the function panics, Run panics as well, and does
// not release the lease. There is only one Run at a time: a second call returns an error.
func (e *Elector) Run(ctx context.Context, lead func(context.Context) error) error {
	return e.RunUntil(ctx, ctx, lead)
}

// RunUntil is Run for a function that ends by itself when the context stop ends, for instance after
// finishing its queue. When the context stop ends, RunUntil returns nil if this candidate does not
// lead. If it leads, RunUntil continues until the function has returned. The function can pass its
// own context and stop to [workqueue.Queue.RunUntil], which has the same two arguments. ctx has the
// same effect as in Run.
//
// [workqueue.Queue.RunUntil]:
// https://pkg.go.dev/github.com/kinform/kinform/workqueue#Queue.RunUntil
func (e *Elector) RunUntil(ctx, stop context.Context, lead func(context.Context) error) error {
	if lead == nil {
		return fmt.Errorf("lease %s: Run needs a function to call", e.key)
	}
	e.mu.Lock()
	second := e.running
	e.running = true
	e.mu.Unlock()
	if second {
		return fmt.Errorf("lease %s: Run was called while another Run is in progress: make a second Elector for a second candidate", e.key)
	}
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.running = false
	}()
	for {
		t := e.waitForLease(ctx, stop)
		if t == nil {
			return nil
		}
		err := e.lead(t, lead)
		lost, ok := err.(*LostError) // not joined with another error
		if !ok || !e.opts.StandAgain || lost.Lease != e.key || ctx.Err() != nil || stop.Err() != nil {
			return err
		}
	}
}

// waitForLease waits until this candidate has the lease, and returns its term, or nil if ctx or the
// context stop ended first.
func (e *Elector) waitForLease(ctx, stop context.Context) *term {
	e.setStanding(true)
	defer e.setStanding(false)
	standing, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(stop, cancel)()
	wake, stopWatch := e.startWatch(standing)
	defer stopWatch()
	for standing.Err() == nil {
		begun := now()
		taken, err := e.attempt(standing)
		if standing.Err() != nil {
			if _, unsure := errors.AsType[*writeError](err); unsure || taken != nil {
				// The lease may have been taken, but this candidate will not lead.
				e.release(ctx, begun.add(e.opts.RenewDeadline))
			}
			return nil
		}
		e.recordAttempt(now().sub(begun), err)
		if taken != nil {
			t := e.newTerm(ctx, taken)
			if t.checkHeld() {
				return t
			}
			t.finish()
			continue // The response came after the end of the term.
		}
		sleepOrWake(standing, e.retryDelay(err), wake)
	}
	return nil
}

// newTerm makes the term for a lease that was taken.
func (e *Elector) newTerm(ctx context.Context, taken *writtenLease) *term {
	inner, cancel := context.WithCancelCause(ctx)
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := recordOf(taken.lease)
	t := &term{
		Context: inner, cancel: cancel, elector: e, outer: innermost(ctx), acquired: r.acquired,
		info:     Term{Lease: e.key, Identity: e.opts.Identity, Transitions: r.transitions, Since: time.Now()},
		renewing: renewing, stop: stop,
		lease: taken.lease, renewedAt: taken.sent, deadline: taken.sent.add(e.opts.RenewDeadline),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(max(t.deadline.sub(now()), 0), func() { t.checkDeadline() })
	return t
}

// lead calls the leader's function, and renews the lease meanwhile.
func (e *Elector) lead(t *term, lead func(context.Context) error) error {
	e.setTerm(t)
	e.opts.Logger.Info("leading", "lease", e.key.String(), "identity", e.opts.Identity, "transitions", t.info.Transitions)
	e.opts.Observer.lead(t.info)
	renewals := make(chan struct{})
	go func() {
		defer close(renewals)
		e.renew(t)
	}()
	returned := false
	var lost *LostError
	end := sync.OnceFunc(func() {
		lost = t.finish()
		<-renewals
		if returned && lost == nil && !e.opts.KeepOnEnd {
			e.release(t.renewing, t.deadline)
		}
		e.setTerm(nil)
	})
	defer end() // also after a panic of lead
	err := contain.SafeError(lead(t))
	returned = true
	if ended := t.Context.Err(); ended != nil && err != nil && (errors.Is(err, ended) || errors.Is(err, context.Cause(t.Context))) {
		err = nil // The end of lead's context interrupted it.
	}
	end()
	e.opts.Observer.ended(t.info, err)
	switch {
	case lost == nil:
		return err
	case err == nil:
		return lost
	default:
		return errors.Join(lost, err)
	}
}

func (e *Elector) setStanding(standing bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.standing = standing
}

func (e *Elector) setTerm(t *term) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.term = t; t != nil {
		e.stats.Terms++
	}
}

// retryDelay returns how long a candidate waits before its next read: until the lease expires if it
// stays unchanged, or for a RetryPeriod, whichever is shorter.
func (e *Elector) retryDelay(err error) time.Duration {
	period := e.opts.RetryPeriod
	if errors.Is(err, errConflict) {
		return rand.N(period/10 + 1)
	}
	wait := period + rand.N(period/5+1)
	if left := e.expiry(); err == nil && left < wait { // The lease may have expired by now.
		wait = max(left, 0) + rand.N(period/10+1)
	}
	return wait
}

// sleep waits for d. If ctx ends first, sleep returns false.
func sleep(ctx context.Context, d time.Duration) bool { return sleepOrWake(ctx, d, nil) }

// sleepOrWake is like sleep, but ends early when the channel wake has a value.
func sleepOrWake(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-wake:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
