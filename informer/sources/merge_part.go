package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/internal/checkpoint"
	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// veryShort is the minimum duration of a healthy watch without events.
	veryShort = time.Second

	// longWatch is how long a watch without events must last to count as a success.
	longWatch = 30 * time.Second

	// failuresBeforeList is the number of consecutive failed watches that leads to a list.
	failuresBeforeList = 3
)

// partWatch keeps the watch of one part open. All of its fields belong to the goroutine that calls
// the method run.
type partWatch[T any] struct {
	*mergedWatch[T]
	part          int
	source        listwatch.Source[T]
	state         *partState
	version       string // version through which the part has been read
	listing       bool   // the initial events have not ended
	watchedBefore bool   // the watch does not directly follow a list of the part
	missing       bool   // the part has never been listed

	// The following fields describe the open watch, or the last one.
	open             bool
	began            time.Time
	timeout          time.Duration // the timeout in the request
	received         bool
	versionConfirmed bool // the server is at least at the delivered version
}

// run watches the part again and again, until all watches end.
func (p *partWatch[T]) run() {
	for p.ctx.Err() == nil {
		if p.state.unlisted {
			p.awaitList()
			continue
		}
		if p.watchedBefore && !checkpoint.Resumes(p.from()) {
			p.end(apierrors.NewResourceExpired(fmt.Sprintf("all parts are listed again, because %s has no version from which the watch can resume", p.health.names[p.part])))
			return
		}
		if !sleepFor(p.ctx, p.state.watchLimiter.Step()) {
			return
		}
		err := p.watch()
		p.watchedBefore = true
		lasted := time.Since(p.began)
		if p.open && lasted >= longWatch {
			p.state.watches = failureStreak{}
		}
		switch {
		case p.ctx.Err() != nil:
		case p.listing:
			p.end(p.initialFailed(err))
		case err == io.EOF && !p.until.IsZero() && time.Until(p.until) < time.Second:
			p.end(err)
		case err == io.EOF && (p.received || lasted >= veryShort):
			// The watch ended early.
			p.state.lost = p.state.lost || lasted+pace.OverdueMargin < p.timeout
		case errors.Is(err, errNotRepeated): // The next watch begins where this one ended.
		case errors.Is(err, reflector.ErrIdle):
			p.failed(err) // The watch is reopened at once.
		default:
			if err == io.EOF {
				err = reflector.ErrVeryShortWatch
			}
			p.watchFailed(err)
		}
	}
}

// watch opens a watch, and passes on its events until it ends.
func (p *partWatch[T]) watch() error {
	p.open, p.received, p.versionConfirmed, p.began = false, false, false, time.Now()
	// Before any deadline, and before takeSlot: a login may be needed.
	if err := listwatch.Prepare(p.ctx, p.source); err != nil {
		return err
	}
	if !p.takeSlot() {
		return p.ctx.Err()
	}
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	limits := p.opts.IdleTimeout
	if p.listing {
		limits = p.opts.InitialIdleTimeout
	}
	var listed atomic.Bool
	listed.Store(!p.listing)
	silence := newSilenceTimer(limits, func() {
		if listed.Load() {
			cancel(reflector.ErrIdle)
		} else {
			cancel(reflector.ErrNoProgress)
		}
	})
	defer silence.stop()

	from, passed := p.from(), p.version
	hasCheckpoint := from != p.version
	opts := p.opts
	opts.ResourceVersion, opts.SendInitialEvents = from, p.listing
	opts.IdleTimeout.Progress, opts.InitialIdleTimeout.Progress = silence.progress, silence.progress
	if !p.until.IsZero() {
		opts.Timeout = max(time.Until(p.until), time.Second)
	}
	if left := p.state.compareSpacer.Remaining(); left > 0 && p.mustCompare() && !hasCheckpoint {
		// The versions must be compared again when the duration left is over. This watch ends then,
		// so that the next watch compares. The timeout includes the time before the response
		// arrives, so request more than veryShort: a shorter watch would count as a failure.
		ends := time.AfterFunc(left+pace.OverdueMargin, func() { cancel(io.EOF) })
		defer ends.Stop()
		if soon := max(left, 2*veryShort); opts.Timeout == 0 || soon < opts.Timeout {
			opts.Timeout = soon
		}
	}
	p.timeout = opts.Timeout
	stream, err := p.source.Watch(ctx, opts)
	silence.received()
	if err == nil {
		defer stream.Close()
		p.state.watches.Reached()
		p.open, p.began = true, time.Now()
		err = p.compareVersions(ctx, hasCheckpoint)
	} else if hasCheckpoint && reflector.IsExpired(err) {
		err = p.dropCheckpoint()
	}
	p.giveSlot()
	if err == nil && hasCheckpoint {
		err = p.checkFirstEvent(ctx, cancel, stream)
	} else if err != nil {
		err = causeOr(ctx, err)
	}
	if err != nil {
		return err
	}
	health, part := p.health, p.part // The timer must not keep p alive.
	recoveredTimer := time.AfterFunc(longWatch, func() { health.recovered(part) })
	defer recoveredTimer.Stop()
	if !p.send(partMessage[T]{kind: partUp}) {
		return p.ctx.Err()
	}
	// As in a reflector, a watch without a version begins with the existing objects.
	synthetic := !p.listing && !checkpoint.Resumes(from)
	logged := false
	logLate := func(what any) {
		if !logged {
			logged = true
			p.merged.opts.Logger.Warn("A watch event has an old version", "part", p.health.names[p.part], "passed", p.version, "event", what)
		}
	}
	for {
		silence.wait()
		event, err := stream.Next()
		silence.received()
		undecodable, skipped := errors.AsType[*listwatch.ObjectError](err)
		switch {
		case err != nil && !skipped:
			return causeOr(ctx, err)
		case skipped && !p.listing && undecodable.ResourceVersion != "" && checkpoint.Newer(p.version, undecodable.ResourceVersion):
			logLate(undecodable) // Later events have been delivered.
			if undecodable.Type == listwatch.Deleted && !p.send(partMessage[T]{kind: partLate, err: err}) {
				return p.ctx.Err()
			}
			continue
		case err == nil && event.Type == listwatch.Bookmark && !checkpoint.Resumes(event.ResourceVersion) && !event.InitialEventsEnd:
			p.recordSuccess()
			continue // The bookmark is unusable, but the watch works.
		}
		if synthetic = synthetic && event.Type == listwatch.Added; synthetic {
			event.Unordered = true
		}
		// A repeated event from a broken server may be out of date. In a part that is a merged
		// source itself, only bookmarks are in order.
		ordered := err == nil && !p.listing && !event.Unordered && checkpoint.Resumes(event.ResourceVersion)
		if ordered && hasCheckpoint && !checkpoint.Newer(event.ResourceVersion, passed) {
			continue // The event was delivered before the watch was lost.
		}
		if ordered && checkpoint.Newer(p.version, event.ResourceVersion) {
			logLate(fmt.Sprintf("%v of %v at version %s", event.Type, event.Key, event.ResourceVersion))
			if event.Type != listwatch.Bookmark {
				if !p.send(partMessage[T]{kind: partLate, event: event}) {
					return p.ctx.Err()
				}
				continue
			}
			// The bookmark is ignored, unless the server's version shows that the server went back.
			if !p.takeSlot() {
				return p.ctx.Err()
			}
			p.state.lost = true
			err := p.compareVersions(ctx, false)
			p.giveSlot()
			if err != nil {
				return causeOr(ctx, err)
			}
			continue
		}
		if err == nil {
			// An undecodable object is not a success: it does not advance the next watch.
			p.recordSuccess()
		}
		if !p.send(partMessage[T]{event: event, err: err}) {
			return p.ctx.Err()
		}
		if event.InitialEventsEnd && p.listing {
			p.listing, ordered = false, true
			p.state.listed(p.opts.Known != nil)
			if p.state.lost {
				p.version = event.ResourceVersion
				return errNotRepeated // The next watch begins with the checkpoint's event.
			}
			listed.Store(true)
			silence.setLimit(p.opts.IdleTimeout.Limit)
		}
		if ordered {
			p.version = event.ResourceVersion
			if event.Type != listwatch.Bookmark && !p.state.lost {
				// After a lost watch the checkpoint stays, because the server may have another
				// history.
				p.state.checkpoint = checkpoint.Checkpoint{Key: event.Key, Version: event.ResourceVersion}
			}
		}
	}
}

// causeOr returns the cause of ctx if ctx has ended, and otherwise err.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// recordSuccess records that the watch has received something.
func (p *partWatch[T]) recordSuccess() {
	if p.received {
		return
	}
	p.received = true
	p.state.watches = failureStreak{}
	p.health.recovered(p.part)
}

// watchFailed decides what follows a failed watch: usually another watch from the same position. If
// that does not help or is impossible, all parts are listed.
func (p *partWatch[T]) watchFailed(err error) {
	streak := &p.state.watches
	firstExpiry := !streak.Expired()
	streak.failed(err, p.merged.opts.Backoff)
	expired := streak.Expired()
	if expired && firstExpiry { // An expired version is normal, even after an outage.
		p.end(p.withPartName(p.part, err))
		return
	}
	if !p.failed(err) || !p.sleep(streak) {
		return
	}
	switch {
	case expired:
		p.end(p.withPartName(p.part, err))
	case (p.open || reflector.IsRefused(err)) && streak.ConnectedFailures() > 0 && streak.ConnectedFailures()%failuresBeforeList == 0:
		p.end(apierrors.NewResourceExpired(fmt.Sprintf("all parts are listed again, because the watch of %s has failed %d times in a row: %v",
			p.health.names[p.part], streak.Failures(), err)))
	}
}

// failed reports a failure, and returns whether to continue.
func (p *partWatch[T]) failed(err error) bool {
	err = p.withPartName(p.part, err)
	p.health.failed(p.part, err, false, false)
	p.state.lost = true
	return p.send(partMessage[T]{kind: partDown, err: err})
}

// initialFailed returns the error with which a streaming list ends. A plain list can continue
// without one failing part if the others work.
func (p *partWatch[T]) initialFailed(err error) error {
	if err == io.EOF || reflector.IsExpired(err) || reflector.IsRefused(err) || errors.Is(err, listwatch.ErrListTooLarge) || errors.Is(err, reflector.ErrNoProgress) {
		return err
	}
	return fmt.Errorf("streaming list of %s: %v", p.health.names[p.part], err)
}

// awaitList waits until the part can be listed, and then ends the watch, so that all parts are
// listed.
func (p *partWatch[T]) awaitList() {
	if !p.sleep(&p.state.lists) {
		return
	}
	err := listwatch.Prepare(p.ctx, p.source) // as before a watch
	if err == nil {
		if !p.takeSlot() {
			return
		}
		err = p.probe()
		p.giveSlot()
	}
	switch {
	case p.ctx.Err() != nil:
	case err == nil:
		p.end(apierrors.NewResourceExpired(fmt.Sprintf("all parts are listed again, because %s can be listed again", p.health.names[p.part])))
	default:
		p.state.lists.failed(err, p.merged.opts.Backoff)
		p.health.failed(p.part, p.withPartName(p.part, err), true, p.missing)
	}
}

// probe checks whether the part can be listed.
func (p *partWatch[T]) probe() error {
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	silence := newSilenceTimer(listwatch.IdleTimeout{Limit: p.opts.IdleTimeout.Limit}, func() { cancel(reflector.ErrNoProgress) })
	defer silence.stop()
	_, err := versionOf(ctx, p.source)
	return causeOr(ctx, err)
}

// versionOf returns the current version of the server.
func versionOf[T any](ctx context.Context, source listwatch.Source[T]) (string, error) {
	skipDecoding := func(types.NamespacedName, string, uint64) bool { return true }
	stream, err := source.List(ctx, listwatch.ListOptions{VersionOnly: true, Limit: 1, Known: skipDecoding})
	if err != nil {
		return "", err
	}
	defer stream.Close()
	for {
		_, err := stream.Next()
		_, skipped := errors.AsType[*listwatch.ObjectError](err)
		switch {
		case err == io.EOF:
			return stream.Meta().ResourceVersion, nil
		case err != nil && !skipped:
			return "", err
		}
	}
}

// send sends a message to Next. It returns false if the watch has ended.
func (p *partWatch[T]) send(a partMessage[T]) bool {
	a.part = p.part
	select {
	case p.incoming <- a:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// end ends all watches.
func (p *partWatch[T]) end(err error) {
	if p.send(partMessage[T]{kind: partEnds, err: err}) {
		<-p.ctx.Done() // Next reads no further message.
	}
}

// sleep waits until the next attempt is due, and returns false if the watches end first.
func (p *partWatch[T]) sleep(streak *failureStreak) bool {
	return sleepFor(p.ctx, time.Until(streak.next))
}

// sleepFor waits, and returns false if ctx ends first.
func sleepFor(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// takeSlot waits until a request may be sent, and returns false if the watches end first.
func (p *partWatch[T]) takeSlot() bool {
	select {
	case p.slots <- struct{}{}:
		return true
	case <-p.ctx.Done():
		return false
	}
}

func (p *partWatch[T]) giveSlot() { <-p.slots }

// failureStreak is the sequence of consecutive failures of a part.
type failureStreak struct {
	reflector.FailureStreak
	next time.Time // time of the next attempt
}

// failed adds a failure, and sets the time of the next attempt.
func (r *failureStreak) failed(err error, backoff reflector.Backoff) {
	r.next = time.Now().Add(r.Failed(err, backoff))
}
