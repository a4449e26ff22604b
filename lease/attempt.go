package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writtenLease is the server's Lease with this candidate as holder, and the time when the request
// that wrote it was sent.
type writtenLease struct {
	lease *coordinationv1.Lease
	sent  instant
}

// errConflict says that another candidate wrote first. The next attempt follows soon.
var errConflict = errors.New("another candidate wrote the Lease first")

// writeError is a failed write. The server may have executed it, because responses can get lost.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

// attempt reads the Lease, and takes the lease if it is free. If another candidate has the lease,
// attempt returns nil and nil.
func (e *Elector) attempt(ctx context.Context) (*writtenLease, error) {
	lease, err := e.get(ctx, e.opts.RenewDeadline/2)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	if err == nil {
		e.observe(recordOf(lease))
	}
	if e.expiry() > 0 { // even if the Lease was deleted: its holder may not know that yet
		return nil, nil
	}
	if err != nil {
		lease = nil
	}
	seen := e.lastObservation()
	before := seen.record
	at := writeTime(before.renewed)
	if n := len(e.attempts); n > 0 && !at.After(e.attempts[n-1]) {
		at = e.attempts[n-1].Add(time.Microsecond) // each attempt has its own time
	}
	next := record{holder: e.opts.Identity, duration: e.opts.LeaseDuration, acquired: at, renewed: at, transitions: before.transitions, writer: e.writer}
	if seen.known {
		next.transitions = before.nextTransitions()
	}
	e.rememberAttempt(at)
	// The end of ctx does not end this request: the response says whether there is a lease to
	// release.
	return e.put(context.WithoutCancel(ctx), lease, next, e.opts.RenewDeadline/2)
}

// rememberAttempt keeps the acquire time of an attempt. This Elector uses these times to recognise
// its own writes whose response was lost. If the Lease has the time of an older attempt, the
// Elector treats the Lease as another candidate's, and waits.
func (e *Elector) rememberAttempt(at time.Time) {
	const kept = 16
	e.attempts = append(e.attempts, at)
	if extra := len(e.attempts) - kept; extra > 0 {
		e.attempts = slices.Delete(e.attempts, 0, extra)
	}
}

// isOwn reports whether this Elector wrote a record. Another Elector with the same identity may
// have the same acquire time.
func (e *Elector) isOwn(r record) bool {
	return r.holder == e.opts.Identity && (r.writer == e.writer || r.writer == "") && slices.ContainsFunc(e.attempts, r.acquired.Equal)
}

// get reads the Lease.
func (e *Elector) get(ctx context.Context, timeout time.Duration) (*coordinationv1.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return e.leases.Get(ctx, e.key, metav1.GetOptions{})
}

// put writes a record into the Lease. The server refuses the write if its Lease has changed since
// the argument lease was read. If the argument is nil, the server must not have the Lease.
func (e *Elector) put(ctx context.Context, lease *coordinationv1.Lease, r record, timeout time.Duration) (*writtenLease, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var response *coordinationv1.Lease
	var err error
	sent := now() // The time of the lease counts from before the request.
	if lease == nil {
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: e.key.Namespace, Name: e.key.Name}}
		r.write(lease, e.opts.Labels)
		response, err = e.leases.Create(ctx, lease, metav1.CreateOptions{})
	} else {
		lease = lease.DeepCopy()
		r.write(lease, e.opts.Labels)
		response, err = e.leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	switch {
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || (apierrors.IsNotFound(err) && lease.ResourceVersion != ""):
		return nil, &writeError{fmt.Errorf("%w: %w", errConflict, err)}
	case err != nil:
		return nil, &writeError{err}
	case !recordOf(response).equal(r):
		return nil, &writeError{errOtherResponse}
	}
	e.observe(r)
	return &writtenLease{response, sent}, nil
}

// observe records the current record of the Lease.
func (e *Elector) observe(r record) {
	e.mu.Lock()
	before := e.observed
	if !before.known || !before.record.equal(r) {
		e.observed = observation{known: true, record: r, at: time.Now()}
	}
	e.mu.Unlock()
	if before.known && before.record.holder == r.holder {
		return
	}
	switch {
	case r.holder == "":
		e.opts.Logger.Info("no candidate leads", "lease", e.key.String(), "identity", e.opts.Identity)
	case r.holder != e.opts.Identity:
		e.opts.Logger.Info("another candidate leads", "lease", e.key.String(), "holder", r.holder, "identity", e.opts.Identity)
	case !e.isOwn(r):
		e.opts.Logger.Warn("the Lease names this identity, but this process did not acquire the Lease, and waits as for another holder: another process may have the same identity, or an earlier process had it",
			"lease", e.key.String(), "identity", r.holder)
	}
	e.opts.Observer.leader(r.holder)
}

func (e *Elector) lastObservation() observation {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.observed
}

// expiry returns the time until this candidate may take the lease, according to the record that it
// last saw. 0 or less means now.
func (e *Elector) expiry() time.Duration {
	seen := e.lastObservation()
	if !seen.known || seen.record.holder == "" || e.isOwn(seen.record) {
		return 0
	}
	duration := seen.record.duration
	if duration == 0 {
		// The Lease has no duration, so this candidate's own counts.
		duration = e.opts.LeaseDuration
	}
	return duration - time.Since(seen.at)
}

// recordAttempt counts and logs an attempt, and calls the Observer.
func (e *Elector) recordAttempt(took time.Duration, err error) {
	e.mu.Lock()
	e.stats.Attempts++
	var suppressed uint64
	var due bool
	switch {
	case err == nil:
		e.stats.Failing, e.stats.FailingSince = nil, time.Time{}
		e.attemptLog.Recovered()
	case errors.Is(err, errConflict):
		e.stats.Conflicts++
	default:
		e.stats.Failures++
		if e.stats.Failing == nil {
			e.stats.FailingSince = time.Now()
		}
		e.stats.Failing = err
		suppressed, due = e.attemptLog.Due(len(apierrors.ReasonForError(err)), time.Now())
	}
	e.mu.Unlock()
	if due {
		e.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, "the lease could not be read or written, and will be retried",
			slog.String("lease", e.key.String()), slog.Any("err", err), slog.Uint64("unlogged", suppressed))
	}
	e.opts.Observer.attempted(took, err)
}
