package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/internal/mark"
	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// veryShort is the minimum duration of a healthy watch without events.
	veryShort = time.Second

	// longEnough is how long a watch without events must last to count as a success.
	longEnough = 30 * time.Second

	// patience is the number of failed watches in a row that leads to a list.
	patience = 3
)

// partWatch keeps the watch of one part open. All of its fields belong to the goroutine that calls
// the method run.
type partWatch[T any] struct {
	*mergedWatch[T]
	part    int
	source  listwatch.Source[T]
	state   *partState
	version string // version through which the part has been read
	listing bool   // the initial events have not ended
	again   bool   // the part was watched, or waited, since it was listed
	missing bool   // the part has never been listed

	// The following fields describe the open watch, or the last one.
	open    bool
	began   time.Time
	timeout time.Duration // the timeout in the request
	heard   bool
	told    bool // the server has sent its version
}

// run watches the part again and again, until all watches end.
func (p *partWatch[T]) run() {
	for p.ctx.Err() == nil {
		if p.state.unlisted {
			p.awaitList()
			continue
		}
		if p.again && !mark.Resumes(p.from()) {
			p.end(apierrors.NewResourceExpired(fmt.Sprintf("all parts are listed again, because %s has no version from which the watch can resume", p.health.names[p.part])))
			return
		}
		if !sleepFor(p.ctx, p.state.watched.Step()) {
			return
		}
		err := p.watch()
		p.again = true
		lasted := time.Since(p.began)
		if p.open && lasted >= longEnough {
			p.state.watches = failureRow{}
		}
		switch {
		case p.ctx.Err() != nil:
		case p.listing:
			p.end(p.initialFailed(err))
		case err == io.EOF && !p.until.IsZero() && time.Until(p.until) < time.Second:
			p.end(err)
		case err == io.EOF && (p.heard || lasted >= veryShort):
			// The watch ended early.
			p.state.lost = p.state.lost || lasted+pace.OverdueMargin < p.timeout
		case errors.Is(err, errNotAgain): // The next watch begins where this one ended.
		case errors.Is(err, reflector.ErrIdle):
			p.failed(err) // and reopened at once
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
	p.open, p.heard, p.told, p.began = false, false, false, time.Now()
	// Before any deadline, and before takeSlot: a login may be needed.
	if err := listwatch.Prepare(p.ctx, p.source); err != nil {
		return err
	}
	if !p.takeSlot() {
		return p.ctx.Err()
	}
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	limits := p.opts.Patience
	if p.listing {
		limits = p.opts.InitialPatience
	}
	var listed atomic.Bool
	listed.Store(!p.listing)
	listener := listenTo(limits, func() {
		if listed.Load() {
			cancel(reflector.ErrIdle)
		} else {
			cancel(reflector.ErrNoProgress)
		}
	})
	defer listener.stop()

	from, passed := p.from(), p.version
	marked := from != p.version
	opts := p.opts
	opts.ResourceVersion, opts.SendInitialEvents = from, p.listing
	opts.Patience.Progress, opts.InitialPatience.Progress = listener.progress, listener.progress
	if !p.until.IsZero() {
		opts.Timeout = max(time.Until(p.until), time.Second)
	}
	if left := p.state.compared.Left(); left > 0 && p.compares() && !marked {
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
	listener.heard()
	if err == nil {
		defer stream.Close()
		p.state.watches.Reached()
		p.open, p.began = true, time.Now()
		err = p.compareVersions(ctx, marked)
	} else if marked && reflector.IsExpired(err) {
		err = p.forget()
	}
	p.giveSlot()
	if err == nil && marked {
		err = p.begin(ctx, cancel, stream)
	} else if err != nil {
		err = because(ctx, err)
	}
	if err != nil {
		return err
	}
	health, part := p.health, p.part // The timer may keep them alive, but not p.
	lasts := time.AfterFunc(longEnough, func() { health.recovered(part) })
	defer lasts.Stop()
	if !p.say(arrival[T]{kind: partUp}) {
		return p.ctx.Err()
	}
	// As in a reflector, a watch without a version begins with the existing objects.
	synthetic := !p.listing && !mark.Resumes(from)
	said := false
	late := func(what any) {
		if !said {
			said = true
			p.merged.opts.Logger.Warn("A watch event has an old version", "part", p.health.names[p.part], "passed", p.version, "event", what)
		}
	}
	for {
		listener.wait()
		event, err := stream.Next()
		listener.heard()
		unread, skipped := errors.AsType[*listwatch.ObjectError](err)
		switch {
		case err != nil && !skipped:
			return because(ctx, err)
		case skipped && !p.listing && unread.ResourceVersion != "" && mark.Newer(p.version, unread.ResourceVersion):
			late(unread) // It is a repetition, and later events have been delivered.
			if unread.Type == listwatch.Deleted && !p.say(arrival[T]{kind: partLate, err: err}) {
				return p.ctx.Err()
			}
			continue
		case err == nil && event.Type == listwatch.Bookmark && !mark.Resumes(event.ResourceVersion) && !event.InitialEventsEnd:
			p.well()
			continue // The bookmark is unusable, but the watch works.
		}
		if synthetic = synthetic && event.Type == listwatch.Added; synthetic {
			event.Unordered = true
		}
		// A repeated event from a broken server may be out of date. In a part that is a merged
		// source itself, only bookmarks are in order.
		ordered := err == nil && !p.listing && !event.Unordered && mark.Resumes(event.ResourceVersion)
		if ordered && marked && !mark.Newer(event.ResourceVersion, passed) {
			continue // It was delivered before the watch was lost.
		}
		if ordered && mark.Newer(p.version, event.ResourceVersion) {
			late(fmt.Sprintf("%v of %v at version %s", event.Type, event.Key, event.ResourceVersion))
			if event.Type != listwatch.Bookmark {
				if !p.say(arrival[T]{kind: partLate, event: event}) {
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
				return because(ctx, err)
			}
			continue
		}
		if err == nil { // An unreadable object is no success: it does not advance the next watch.
			p.well()
		}
		if !p.say(arrival[T]{event: event, err: err}) {
			return p.ctx.Err()
		}
		if event.InitialEventsEnd && p.listing {
			p.listing, ordered = false, true
			p.state.listed(p.opts.Known != nil)
			if p.state.lost {
				p.version = event.ResourceVersion
				return errNotAgain // The next watch begins with the mark.
			}
			listed.Store(true)
			listener.setLimit(p.opts.Patience.Limit)
		}
		if ordered {
			p.version = event.ResourceVersion
			if event.Type != listwatch.Bookmark && !p.state.lost {
				// The watch was lost, so the server may have another history.
				p.state.mark = mark.Mark{Key: event.Key, Version: event.ResourceVersion}
			}
		}
	}
}

// because returns the cause of ctx if ctx has ended, and otherwise err.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// well records that the watch has received something.
func (p *partWatch[T]) well() {
	if p.heard {
		return
	}
	p.heard = true
	p.state.watches = failureRow{}
	p.health.recovered(p.part)
}

// watchFailed decides what follows a failed watch: usually another watch from the same position. If
// that does not help or is impossible, all parts are listed.
func (p *partWatch[T]) watchFailed(err error) {
	row := &p.state.watches
	news := !row.Expired()
	row.failed(err, p.merged.opts.Backoff)
	expired := row.Expired()
	if expired && news { // An expired version is normal, even after an outage.
		p.end(p.about(p.part, err))
		return
	}
	if !p.failed(err) || !p.sleep(row) {
		return
	}
	switch {
	case expired:
		p.end(p.about(p.part, err))
	case (p.open || reflector.IsRefused(err)) && row.Answered() > 0 && row.Answered()%patience == 0:
		p.end(apierrors.NewResourceExpired(fmt.Sprintf("all parts are listed again, because the watch of %s has failed %d times in a row: %v",
			p.health.names[p.part], row.Failures(), err)))
	}
}

// failed reports a failure, and returns whether to continue.
func (p *partWatch[T]) failed(err error) bool {
	err = p.about(p.part, err)
	p.health.failed(p.part, err, false, false)
	p.state.lost = true
	return p.say(arrival[T]{kind: partDown, err: err})
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
		err = p.look()
		p.giveSlot()
	}
	switch {
	case p.ctx.Err() != nil:
	case err == nil:
		p.end(apierrors.NewResourceExpired(fmt.Sprintf("all parts are listed again, because %s can be listed again", p.health.names[p.part])))
	default:
		p.state.lists.failed(err, p.merged.opts.Backoff)
		p.health.failed(p.part, p.about(p.part, err), true, p.missing)
	}
}

// look checks whether the part can be listed.
func (p *partWatch[T]) look() error {
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	listener := listenTo(listwatch.Patience{Limit: p.opts.Patience.Limit}, func() { cancel(reflector.ErrNoProgress) })
	defer listener.stop()
	_, err := versionOf(ctx, p.source)
	return because(ctx, err)
}

// versionOf returns the current version of the server.
func versionOf[T any](ctx context.Context, source listwatch.Source[T]) (string, error) {
	undecoded := func(types.NamespacedName, string, uint64) bool { return true }
	stream, err := source.List(ctx, listwatch.ListOptions{VersionOnly: true, Limit: 1, Known: undecoded})
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

// say sends a message to Next. It returns false if the watch has ended.
func (p *partWatch[T]) say(a arrival[T]) bool {
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
	if p.say(arrival[T]{kind: partEnds, err: err}) {
		<-p.ctx.Done() // Nothing is read any more.
	}
}

// sleep waits until the next attempt is due, and returns false if the watches end first.
func (p *partWatch[T]) sleep(row *failureRow) bool {
	return sleepFor(p.ctx, time.Until(row.next))
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

// failureRow is the sequence of consecutive failures of a part.
type failureRow struct {
	reflector.Row
	next time.Time // time of the next attempt
}

// failed adds a failure, and sets the time of the next attempt.
func (r *failureRow) failed(err error, backoff reflector.Backoff) {
	r.next = time.Now().Add(r.Failed(err, backoff))
}
