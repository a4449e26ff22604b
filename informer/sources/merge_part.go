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
	// veryShort is how long a watch that says nothing lasts at least, if all is well.
	veryShort = time.Second

	// longEnough is how long a watch that says nothing lasts to be a success.
	longEnough = 30 * time.Second

	// patience is after how many failed watches in a row a list is tried.
	patience = 3
)

// partWatch keeps the watch of one part open. All of it belongs to the goroutine of
// run.
type partWatch[T any] struct {
	*mergedWatch[T]
	part    int
	source  listwatch.Source[T]
	state   *partState
	version string // through which it has been read
	listing bool   // the initial events have not ended
	again   bool   // there was a watch, or a wait, since the part was listed
	missing bool   // the part has never been listed

	// Of the watch that is open, or was last.
	open    bool
	began   time.Time
	timeout time.Duration // after which the server was to end it
	heard   bool
	told    bool // the server has told its version
}

// run watches the part, again and again, until all watches end.
func (p *partWatch[T]) run() {
	for p.ctx.Err() == nil {
		if p.state.unlisted {
			p.awaitList()
			continue
		}
		if p.again && !mark.Resumes(p.from()) {
			p.end(apierrors.NewResourceExpired(fmt.Sprintf("all parts are listed, as %s has no version to resume its watch from", p.health.names[p.part])))
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
			p.state.lost = p.state.lost || lasted+pace.OverdueMargin < p.timeout // It ended before its time.
		case errors.Is(err, errNotAgain): // The next one begins where the last one ended.
		case errors.Is(err, reflector.ErrIdle):
			p.failed(err) // and is opened again at once
		default:
			if err == io.EOF {
				err = reflector.ErrVeryShortWatch
			}
			p.watchFailed(err)
		}
	}
}

// watch opens the watch, and passes on what it says, until it ends.
func (p *partWatch[T]) watch() error {
	p.open, p.heard, p.told, p.began = false, false, false, time.Now()
	// Before any deadline, and any other's turn: somebody may have to log in.
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
		// The next watch is compared. This one ends when it is time for that, and not so
		// soon that it would be too short: its time begins before its answer comes.
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
	health, part := p.health, p.part // are all that a timer keeps, which may be after its stop
	lasts := time.AfterFunc(longEnough, func() { health.recovered(part) })
	defer lasts.Stop()
	if !p.say(arrival[T]{kind: partUp}) {
		return p.ctx.Err()
	}
	// Like a reflector's, a watch from no version begins with the objects that exist.
	synthetic := !p.listing && !mark.Resumes(from)
	said := false
	late := func(what any) {
		if !said {
			said = true
			p.merged.opts.Logger.Warn("Event of an old version", "part", p.health.names[p.part], "passed", p.version, "event", what)
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
			late(unread) // It was sent again, and what came later has been told.
			if unread.Type == listwatch.Deleted && !p.say(arrival[T]{kind: partLate, err: err}) {
				return p.ctx.Err()
			}
			continue
		case err == nil && event.Type == listwatch.Bookmark && !mark.Resumes(event.ResourceVersion) && !event.InitialEventsEnd:
			p.well()
			continue // It is a hint that cannot be used, except that the connection is alive.
		}
		if synthetic = synthetic && event.Type == listwatch.Added; synthetic {
			event.Unordered = true
		}
		// What is sent again by something broken may have been overtaken. A part that is
		// put together itself is in order only in its bookmarks.
		ordered := err == nil && !p.listing && !event.Unordered && mark.Resumes(event.ResourceVersion)
		if ordered && marked && !mark.Newer(event.ResourceVersion, passed) {
			continue // It came after the mark, and what is told includes it.
		}
		if ordered && mark.Newer(p.version, event.ResourceVersion) {
			late(fmt.Sprintf("%v of %v at version %s", event.Type, event.Key, event.ResourceVersion))
			if event.Type != listwatch.Bookmark {
				if !p.say(arrival[T]{kind: partLate, event: event}) {
					return p.ctx.Err()
				}
				continue
			}
			// The bookmark is ignored, unless the server's version shows that it went back.
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
		if err == nil { // What cannot be read does not bring the next watch further.
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
			if event.Type != listwatch.Bookmark && !p.state.lost { // Else it may be of another history.
				p.state.mark = mark.Mark{Key: event.Key, Version: event.ResourceVersion}
			}
		}
	}
}

// because replaces an error by the reason for which the request was ended, if it was.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// well takes note that the watch has something to say.
func (p *partWatch[T]) well() {
	if p.heard {
		return
	}
	p.heard = true
	p.state.watches = failureRow{}
	p.health.recovered(p.part)
}

// watchFailed decides how to go on after the watch has failed: with the next one from
// where it was, as a rule. If that does not help, or cannot, all parts are listed.
func (p *partWatch[T]) watchFailed(err error) {
	row := &p.state.watches
	news := !row.Expired()
	row.failed(err, p.merged.opts.Backoff)
	expired := row.Expired()
	if expired && news { // part of life, also after an outage
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
		p.end(apierrors.NewResourceExpired(fmt.Sprintf("all parts are listed, as the watch of %s has failed %d times in a row: %v",
			p.health.names[p.part], row.Failures(), err)))
	}
}

// failed makes a failure known, and reports whether the watch goes on.
func (p *partWatch[T]) failed(err error) bool {
	err = p.about(p.part, err)
	p.health.failed(p.part, err, false, false)
	p.state.lost = true
	return p.say(arrival[T]{kind: partDown, err: err})
}

// initialFailed is the error with which a streaming list ends. Where all but one part
// are well, a list of another kind can do without that one.
func (p *partWatch[T]) initialFailed(err error) error {
	if err == io.EOF || reflector.IsExpired(err) || reflector.IsRefused(err) || errors.Is(err, listwatch.ErrListTooLarge) || errors.Is(err, reflector.ErrNoProgress) {
		return err
	}
	return fmt.Errorf("streaming list of %s: %v", p.health.names[p.part], err)
}

// awaitList waits until the part can be listed. Then all are.
func (p *partWatch[T]) awaitList() {
	if !p.sleep(&p.state.lists) {
		return
	}
	err := listwatch.Prepare(p.ctx, p.source) // as for a watch
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
		p.end(apierrors.NewResourceExpired(fmt.Sprintf("all parts are listed, as %s can be listed again", p.health.names[p.part])))
	default:
		p.state.lists.failed(err, p.merged.opts.Backoff)
		p.health.failed(p.part, p.about(p.part, err), true, p.missing)
	}
}

// look finds out whether the part can be listed.
func (p *partWatch[T]) look() error {
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	listener := listenTo(listwatch.Patience{Limit: p.opts.Patience.Limit}, func() { cancel(reflector.ErrNoProgress) })
	defer listener.stop()
	_, err := versionOf(ctx, p.source)
	return because(ctx, err)
}

// versionOf is the version of the server.
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

// say passes something on, and reports whether somebody has heard it.
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
		<-p.ctx.Done() // Nobody reads any more.
	}
}

// sleep waits until it is worth while to try again, and reports whether that has come.
func (p *partWatch[T]) sleep(row *failureRow) bool {
	return sleepFor(p.ctx, time.Until(row.next))
}

// sleepFor waits, and reports whether ctx has not ended.
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

// takeSlot waits until a request may be sent.
func (p *partWatch[T]) takeSlot() bool {
	select {
	case p.slots <- struct{}{}:
		return true
	case <-p.ctx.Done():
		return false
	}
}

func (p *partWatch[T]) giveSlot() { <-p.slots }

// failureRow is the failures of a part in a row.
type failureRow struct {
	reflector.Row
	next time.Time // when it is worth while to try again
}

// failed counts one more, and says when to try again.
func (r *failureRow) failed(err error, backoff reflector.Backoff) {
	r.next = time.Now().Add(r.Failed(err, backoff))
}
