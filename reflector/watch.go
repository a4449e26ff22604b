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

// veryShort is how long a watch without any event lasts at least, if all is well
// (RC-25).
const veryShort = time.Second

// connect opens a watch (RC-21). After a watch was lost, it begins with the last event
// of that one, if it can.
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
		// The next watch is compared. This one ends when it is time for that, and not so
		// soon that it would be too short: its time begins before its answer comes.
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
		synthetic: s.version == "" || s.version == "0",
	}, nil
}

// watch takes one event.
func (r *Reflector[T]) watch(s *watching[T]) (state[T], error) {
	event, err := s.watch.next()
	unread, isUnread := errors.AsType[*listwatch.ObjectError](err)
	switch {
	case isUnread && unread.Type != listwatch.Deleted:
		if !s.synthetic && older(unread.ResourceVersion, s.version) {
			r.record.update(func(st *Status) { st.Stale++ }) // Sent again, as below.
			return s, nil
		}
		return r.unreadChange(s, unread)
	case isUnread:
		return r.unreadDeletion(s, unread)
	case err != nil:
		s.watch.close()
		return r.watchEnded(s, err)
	case event.Unchanged && !event.Unordered && !s.synthetic && (event.ResourceVersion == s.version || older(event.ResourceVersion, s.version)):
		// Known is for initial events, but a stream that reads ahead may have asked
		// for a later one too. This one was sent again, and the sink had it before.
		r.record.update(func(st *Status) { st.Stale++ })
		return s, nil
	case event.Unchanged:
		// Of a sink that has changed since, perhaps. Nothing may be made up: a
		// snapshot brings the object.
		s.watch.close()
		err := fmt.Errorf("the event %v %v came without its object", event.Type, event.Key)
		return r.retry(&r.watches, err, r.resnapshot()), err
	}

	r.eventReceived(Watching, event)
	if !s.synthetic && !event.Unordered && older(event.ResourceVersion, s.version) {
		// A watch only goes forward.
		return r.late(s, event), nil
	}
	return r.apply(s, event)
}

// apply passes on an event of a watch.
func (r *Reflector[T]) apply(s *watching[T], event listwatch.Event[T]) (state[T], error) {
	if err := r.sink.Apply(event); err != nil {
		s.watch.close()
		return r.retry(&r.watches, err, r.resnapshot()), fmt.Errorf("sink: %w", err)
	}
	r.readable(event.Key)
	s.heard = true
	s.synthetic = s.synthetic && event.Type == listwatch.Added
	if !s.synthetic && !event.Unordered && event.ResourceVersion != "" { // RC-24
		s.version = event.ResourceVersion
		r.version = event.ResourceVersion
		if event.Type != listwatch.Bookmark && !r.doubt.lost { // Else it may be of another history.
			r.mark = mark.Mark{Key: event.Key, Version: event.ResourceVersion}
		}
	}
	r.eventDone(event, -1)
	r.succeeded(&r.watches)
	if r.doubt.late != nil {
		return r.look(s), nil
	}
	return s, nil
}

// unreadChange deals with an event, no deletion, whose object could not be read. The
// sink is told that the object exists: if it has an object of another UID under this
// key, that one is gone.
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

// unreadDeletion deals with a deletion whose object could not be read. Where the key
// and the version are known, the sink is told of the deletion, and has the last state.
// Else only a snapshot tells, which must be no older than the deletion.
func (r *Reflector[T]) unreadDeletion(s *watching[T], unread *listwatch.ObjectError) (state[T], error) {
	switch {
	case unread.Key.Name == "" || unread.ResourceVersion == "":
		s.watch.close()
		next := r.resnapshot()
		if older(r.version, unread.ResourceVersion) {
			next = r.snapshot(unread.ResourceVersion)
		}
		return r.retry(&r.watches, unread, next), unread
	case !s.synthetic && older(unread.ResourceVersion, s.version):
		r.record.update(func(st *Status) { st.Stale++ }) // Sent again, as in watch.
		return s, nil
	}
	r.skip(Watching, unread)
	// Unordered, because the error does not say whether the version is that of the watch.
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
		r.watches.expired = false // It was heard of in between that the version is not too old.
		return &connecting[T]{version: s.version}, err
	case errors.Is(err, ErrOverdue):
		r.opts.Logger.Info("The server did not end the watch in time, opening the next one", "after", lasted)
		return r.nextWatch(s.version), nil
	case err == io.EOF && (s.heard || lasted >= veryShort): // RC-25
		return r.nextWatch(s.version), nil
	case err == io.EOF:
		err = r.about(ErrVeryShortWatch)
	}
	if s.heard && IsExpired(err) {
		// As an event has ended the row, this is always news.
		if wait := r.relists.Wait(); wait > 0 {
			return r.retryAfter(wait, &r.watches, longest, err, r.resnapshot()), err
		}
	}
	if isLost(err) && lasted >= veryShort {
		// However many failed before it, a connection that held for a while is missed for
		// about as long.
		longest = min(longest, r.opts.Backoff.most(lasted))
	}
	return r.watchFailed(s.version, true, longest, err)
}

// nextWatch returns the state that follows a watch which has ended as it should: the
// next one, or a snapshot, if there are objects without a readable name. They are known
// to be readable, or gone, only when a snapshot is without them.
func (r *Reflector[T]) nextWatch(version string) state[T] {
	if r.unread.nameless > 0 {
		return r.resnapshot()
	}
	return &connecting[T]{version: version}
}

// watchFailed decides how to go on after a watch from version has failed: with the
// next watch from there, as a rule, after longest at the latest. suspect says that the
// version may be the reason; if that goes on, a snapshot gives another one.
func (r *Reflector[T]) watchFailed(version string, suspect bool, longest time.Duration, err error) (state[T], error) {
	switch {
	case IsExpired(err) && !r.watches.expired:
		// RC-26. Where other failures came before, such as those of an outage, it is news.
		return r.atOnce(&r.watches, err, r.resnapshot()), err
	case IsExpired(err):
		return r.retryWithin(&r.watches, longest, err, r.resnapshot()), err
	case suspect && (r.watches.answered+1)%patience == 0 && r.relists.Left() <= 0:
		r.relists.Step()
		return r.retryWithin(&r.watches, longest, err, r.resnapshot()), err
	default:
		return r.retryWithin(&r.watches, longest, err, &connecting[T]{version: version}), err
	}
}
