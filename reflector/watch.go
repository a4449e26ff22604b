package reflector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kinform/kinform/internal/mark"
	"github.com/kinform/kinform/listwatch"
)

// veryShort is the shortest duration of a watch without any event that counts as orderly (RC-25).
const veryShort = time.Second

// connect opens a watch (RC-21). After a lost watch, the new watch starts with the last event of
// the lost one, if there is one.
func (r *Reflector[T]) connect(ctx context.Context, s *connecting[T]) (state[T], error) {
	r.warned = false
	r.record.update(func(st *Status) { st.Watches++ })
	opts := listwatch.WatchOptions{ResourceVersion: s.version, Held: r.held()}
	compares := r.compares(s.version)
	if compares {
		opts.ResourceVersion = cmp.Or(r.mark.Before(), s.version)
	}
	from, left := opts.ResourceVersion, r.doubt.pace.Left()
	if compares && from == s.version && left > 0 {
		// The reflector will compare the next watch. This watch ends when that is due, but not so
		// soon that it would count as too short: its time starts before its response comes.
		compares, opts.Timeout = false, min(max(left, 2*veryShort), r.opts.watchTimeout())
	}
	watch, err := r.open(ctx, opts, r.opts.WatchIdleTimeout, ErrIdle)
	switch {
	case IsExpired(err) && from != s.version:
		return r.forgotten(s.version, false), nil
	case err != nil:
		r.doubt.failed(err)
		return r.watchFailed(s.version, IsRefused(err), r.opts.Backoff.Max, err)
	}
	r.watches.Reached()
	if compares {
		return &comparing[T]{version: s.version, from: from, watch: watch}, nil
	}
	return &watching[T]{
		version:   s.version,
		watch:     watch,
		synthetic: !mark.Resumes(s.version),
	}, nil
}

// watch takes one event.
func (r *Reflector[T]) watch(s *watching[T]) (state[T], error) {
	event, err := s.watch.next()
	unread, isUnread := errors.AsType[*listwatch.ObjectError](err)
	switch {
	case isUnread && r.passed(s, unread.ResourceVersion):
		return r.lateUnread(s, unread)
	case isUnread && unread.Type != listwatch.Deleted:
		return r.unreadChange(s, unread)
	case isUnread:
		return r.unreadDeletion(s, unread)
	case err != nil:
		s.watch.close()
		return r.watchEnded(s, err)
	case event.Unchanged && !event.Unordered && !s.synthetic && (event.ResourceVersion == s.version || r.passed(s, event.ResourceVersion)):
		// Known is for initial events, but a stream that reads ahead may also have called it for a
		// later event. The server sent this event again, and the sink has it.
		r.record.update(func(st *Status) { st.Stale++ })
		return s, nil
	case event.Unchanged:
		// Known may have returned true for a state that the sink no longer has. A snapshot brings
		// the object.
		s.watch.close()
		err := fmt.Errorf("the event %v %v came without its object", event.Type, event.Key)
		return r.retry(&r.watches, err, r.resnapshot()), err
	}

	r.eventReceived(Watching, event)
	if event.Type == listwatch.Bookmark && !mark.Resumes(event.ResourceVersion) {
		// This bookmark only says that the connection is alive.
		s.heard = true
		r.eventDone(event, -1)
		r.succeeded(&r.watches)
		return s, nil
	}
	if !event.Unordered && r.passed(s, event.ResourceVersion) {
		// A watch only goes forward.
		return r.late(s, event)
	}
	return r.apply(s, event)
}

// passed reports whether a watch has passed a version, so that an event with this version brings
// nothing new.
func (r *Reflector[T]) passed(s *watching[T], version string) bool {
	return !s.synthetic && older(version, s.version)
}

// apply hands an event of a watch to the sink.
func (r *Reflector[T]) apply(s *watching[T], event listwatch.Event[T]) (state[T], error) {
	if err := r.sink.Apply(event); err != nil {
		s.watch.close()
		return r.retry(&r.watches, err, r.resnapshot()), fmt.Errorf("sink: %w", err)
	}
	r.readable(event.Key)
	s.heard = true
	s.synthetic = s.synthetic && event.Type == listwatch.Added
	if !s.synthetic && !event.Unordered && mark.Resumes(event.ResourceVersion) { // RC-24
		s.version = event.ResourceVersion
		r.version = event.ResourceVersion
		if event.Type != listwatch.Bookmark && !r.doubt.lost { // Else the event may be of another history.
			r.mark = mark.Mark{Key: event.Key, Version: event.ResourceVersion}
		}
	}
	r.eventDone(event, -1)
	r.succeeded(&r.watches)
	if r.doubt.late != nil {
		return r.look(s)
	}
	return s, nil
}

// unreadChange deals with an event, other than a deletion, that has an undecodable object. The sink
// learns that the object exists: if it has an object of another UID under this key, that object is
// gone.
func (r *Reflector[T]) unreadChange(s *watching[T], unread *listwatch.ObjectError) (state[T], error) {
	r.noteUnread(func(u *unreadables) { u.add(unread) })
	r.skip(Watching, unread)
	if unread.Key.Name == "" || unread.UIDHash == 0 {
		return s, nil
	}
	event := listwatch.Event[T]{Type: listwatch.Modified, Unordered: true, Item: unchanged[T](unread)}
	event.ResourceVersion = unread.ResourceVersion
	if err := r.sink.Apply(event); err != nil {
		s.watch.close()
		return r.retry(&r.watches, err, r.resnapshot()), fmt.Errorf("sink: %w", err)
	}
	return s, nil
}

// unreadDeletion deals with a deletion that has an undecodable object. If the key and the version
// are known, the sink gets the deletion, and has the last state. Otherwise only a snapshot shows
// which object is gone. It must not be older than the deletion.
func (r *Reflector[T]) unreadDeletion(s *watching[T], unread *listwatch.ObjectError) (state[T], error) {
	if unread.Key.Name == "" || unread.ResourceVersion == "" {
		s.watch.close()
		next := r.resnapshot()
		if older(r.version, unread.ResourceVersion) {
			next = r.snapshot(unread.ResourceVersion)
		}
		return r.retry(&r.watches, unread, next), unread
	}
	r.skip(Watching, unread)
	// Unordered, because the error does not say whether the version counts for the watch.
	event := listwatch.Event[T]{Type: listwatch.Deleted, Unordered: true, Item: unchanged[T](unread)}
	event.ResourceVersion = unread.ResourceVersion
	return r.apply(s, event)
}

// watchEnded decides how to go on after an open watch has ended.
func (r *Reflector[T]) watchEnded(s *watching[T], err error) (state[T], error) {
	r.doubt.ended(err, s.watch.early())
	lasted := time.Since(s.watch.opened)
	longest := r.opts.Backoff.Max
	if lasted >= longest {
		r.succeeded(&r.watches)
	}
	switch {
	case errors.Is(err, ErrIdle):
		r.watches.expired = false // The server has sent something, so the version is not too old.
		return r.resume(s.version), err
	case errors.Is(err, ErrOverdue):
		r.opts.Logger.Info("The server did not end the watch in time, opening the next one", "after", lasted)
		return r.nextWatch(s.version), nil
	case err == io.EOF && (s.heard || lasted >= veryShort): // RC-25
		return r.nextWatch(s.version), nil
	case err == io.EOF:
		err = r.about(ErrVeryShortWatch)
	}
	if s.heard && IsExpired(err) {
		// An event has ended the row, so that this is always a first failure.
		if wait := r.relists.Wait(); wait > 0 {
			return r.retryAfter(wait, &r.watches, longest, err, r.resnapshot()), err
		}
	}
	if isLost(err) && lasted >= veryShort {
		// If a connection held for some time, the next one is opened after about the same time at
		// most, however many attempts failed before.
		longest = min(longest, r.opts.Backoff.most(lasted))
	}
	return r.watchFailed(s.version, true, longest, err)
}

// nextWatch returns the state that follows a watch that ended in good order. It is the next watch,
// or a snapshot if there are objects without a readable name: only a snapshot shows that they are
// decodable, or gone.
func (r *Reflector[T]) nextWatch(version string) state[T] {
	if r.unread.nameless > 0 {
		return r.resnapshot()
	}
	return r.resume(version)
}

// resume returns the state that follows a watch from version, or a failure to open this watch. It
// is the next watch, or a snapshot if there is no version: a watch from no version, or from "0",
// begins with the existing objects, and does not show which objects were deleted meanwhile.
func (r *Reflector[T]) resume(version string) state[T] {
	if !mark.Resumes(version) {
		return r.resnapshot()
	}
	return &connecting[T]{version: version}
}

// watchFailed decides how to go on after a watch from version has failed. As a rule, the next watch
// from this version follows, after longest at most. suspect says that the version may be the cause.
// If such failures go on, a snapshot brings another version.
//
// Here plain/reflector.go lists again, which takes 2.30 s of CPU for 20,000 pods (plain/README.md).
func (r *Reflector[T]) watchFailed(version string, suspect bool, longest time.Duration, err error) (state[T], error) {
	switch {
	case IsExpired(err) && !r.watches.expired:
		// RC-26. The failure before may have been of another kind, such as an outage. The reflector
		// waits only if it was a 410 as well.
		return r.atOnce(&r.watches, err, r.resnapshot()), err
	case IsExpired(err):
		return r.retryWithin(&r.watches, longest, err, r.resnapshot()), err
	case suspect && (r.watches.answered+1)%patience == 0 && r.relists.Left() <= 0:
		r.relists.Step()
		return r.retryWithin(&r.watches, longest, err, r.resnapshot()), err
	default:
		return r.retryWithin(&r.watches, longest, err, r.resume(version)), err
	}
}
