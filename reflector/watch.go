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

// veryShort is the shortest duration of a watch without events that does not count as a failure
// (RC-25).
const veryShort = time.Second

// connect opens a watch (RC-21). After a lost watch, the new watch starts just before the last
// event of the lost watch, if there was an event. The reflector compares this event when it comes
// again.
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
		// A comparison is not due yet. Ask the server to end this watch when the comparison is due:
		// the next watch compares. Request more than veryShort, because a server may count the time
		// from before its answer.
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

// watch processes one event.
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
		// Known is meant for initial events, but a stream that reads ahead may also have called it
		// for a later event. The sink has this event already.
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
		// A bookmark without a version only says that the connection is alive.
		s.heard = true
		r.eventDone(event, -1)
		r.succeeded(&r.watches)
		return s, nil
	}
	if !event.Unordered && r.passed(s, event.ResourceVersion) {
		// The versions of a watch only go up.
		return r.late(s, event)
	}
	return r.apply(s, event)
}

// passed reports whether a version is older than the watch, so that an event with this version
// brings nothing new.
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
		if event.Type != listwatch.Bookmark && !r.doubt.lost { // the history is the known one
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

// unreadChange handles an added or modified object that is undecodable. The sink learns that the
// object exists: if it has an object of another UID under this key, that object is gone.
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

// unreadDeletion handles a deletion whose object is undecodable. If the key and the version are
// known, the sink gets the deletion, and uses its own last state of the object. Otherwise only a
// snapshot that is not older than the deletion shows which object is gone.
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
	// The event is Unordered, because the error does not say whether the version counts for the
	// watch.
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
		r.watches.expired = false // the server has accepted the version, so it was not expired
		return r.resume(s.version), err
	case errors.Is(err, ErrOverdue):
		r.opts.Logger.Info("The server did not end the watch in time; opening the next watch", "after", lasted)
		return r.nextWatch(s.version), nil
	case err == io.EOF && (s.heard || lasted >= veryShort): // RC-25
		return r.nextWatch(s.version), nil
	case err == io.EOF:
		err = r.about(ErrVeryShortWatch)
	}
	if s.heard && IsExpired(err) {
		// An event has reset the row, so this is always a first failure.
		if wait := r.relists.Wait(); wait > 0 {
			return r.retryAfter(wait, &r.watches, longest, err, r.resnapshot()), err
		}
	}
	if isLost(err) && lasted >= veryShort {
		// After a connection that held for some time, the next wait is not longer than about that
		// time, however many attempts failed before.
		longest = min(longest, r.opts.Backoff.most(lasted))
	}
	return r.watchFailed(s.version, true, longest, err)
}

// nextWatch returns the state that follows a watch that ended in order: the next watch. If there
// are objects without a readable name, the state is a snapshot instead, which shows whether they
// are decodable now, or gone.
func (r *Reflector[T]) nextWatch(version string) state[T] {
	if r.unread.nameless > 0 {
		return r.resnapshot()
	}
	return r.resume(version)
}

// resume returns the state that watches from version. If there is no version, the state is a
// snapshot: a watch from no version, or from "0", begins with the existing objects, and does not
// show which objects were deleted meanwhile.
func (r *Reflector[T]) resume(version string) state[T] {
	if !mark.Resumes(version) {
		return r.resnapshot()
	}
	return &connecting[T]{version: version}
}

// watchFailed decides how to go on after a watch from version has failed. As a rule, the next watch
// starts from this version, after a wait. longest limits the wait, and suspect says that the
// version may be the cause. If such failures go on, a snapshot brings another version. Here
// plain/reflector.go lists again, which takes 2.30 s of CPU for 20,000 pods (plain/README.md).
func (r *Reflector[T]) watchFailed(version string, suspect bool, longest time.Duration, err error) (state[T], error) {
	switch {
	case IsExpired(err) && !r.watches.expired:
		// RC-26. The reflector waits only if the failure before was a 410 as well.
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
