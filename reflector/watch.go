package reflector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kinform/kinform/internal/checkpoint"
	"github.com/kinform/kinform/listwatch"
)

// veryShort is the shortest duration of a watch without events that does not count as a failure
// (RC-25).
const veryShort = time.Second

// connect opens a watch (RC-21). If a lost watch had events, the new watch starts just before the
// last one. The reflector compares this event when it comes again.
func (r *Reflector[T]) connect(ctx context.Context, s *connecting[T]) (state[T], error) {
	r.undecodableLogged = false
	r.record.update(func(st *Status) { st.Watches++ })
	opts := listwatch.WatchOptions{ResourceVersion: s.version, Held: r.sink.HeldObject}
	mustCompare := r.mustCompare(s.version)
	if mustCompare {
		opts.ResourceVersion = cmp.Or(r.checkpoint.Before(), s.version)
	}
	from, left := opts.ResourceVersion, r.historyCheck.spacer.Remaining()
	if mustCompare && from == s.version && left > 0 {
		// A comparison is not due yet. Ask the server to end this watch when the comparison is due:
		// the next watch compares. Request more than veryShort, because a server may start to count
		// before its response.
		mustCompare, opts.Timeout = false, min(max(left, 2*veryShort), r.opts.watchTimeout())
	}
	watch, err := r.open(ctx, opts, r.opts.WatchIdleTimeout, ErrIdle)
	switch {
	case IsExpired(err) && from != s.version:
		return r.noEventToCompare(s.version, false), nil
	case err != nil:
		r.historyCheck.openFailed(err)
		return r.watchFailed(s.version, IsRefused(err), r.opts.Backoff.Max, err)
	}
	r.watches.Reached()
	if mustCompare {
		return &comparing[T]{version: s.version, from: from, watch: watch}, nil
	}
	return &watching[T]{
		version:   s.version,
		watch:     watch,
		synthetic: !checkpoint.Resumes(s.version),
	}, nil
}

// watch processes one event.
func (r *Reflector[T]) watch(s *watching[T]) (state[T], error) {
	event, err := s.watch.next()
	undecodable, isUndecodable := errors.AsType[*listwatch.ObjectError](err)
	switch {
	case isUndecodable && r.isLate(s, undecodable.ResourceVersion):
		return r.handleLateUndecodable(s, undecodable)
	case isUndecodable && undecodable.Type != listwatch.Deleted:
		return r.handleUndecodableChange(s, undecodable)
	case isUndecodable:
		return r.handleUndecodableDeletion(s, undecodable)
	case err != nil:
		s.watch.close()
		return r.watchEnded(s, err)
	case event.State == listwatch.Unchanged && !event.Unordered && !s.synthetic && (event.ResourceVersion == s.version || r.isLate(s, event.ResourceVersion)):
		// Known is meant for initial events, but a stream that reads ahead may also call Known for
		// a later event. The sink already has this event.
		r.record.update(func(st *Status) { st.Stale++ })
		return s, nil
	case event.State == listwatch.Unchanged:
		// Known may have returned true for a state that the sink no longer has. A snapshot has the
		// object.
		s.watch.close()
		err := fmt.Errorf("the event %v %v came without its object", event.Type, event.Key)
		return r.retry(&r.watches, err, r.resnapshot()), err
	}

	r.eventReceived(Watching, event)
	if event.Type == listwatch.Bookmark && !checkpoint.Resumes(event.ResourceVersion) {
		// A bookmark without a version only shows that the connection is alive.
		s.received = true
		r.eventDone(event, -1)
		r.succeeded(&r.watches)
		return s, nil
	}
	if !event.Unordered && r.isLate(s, event.ResourceVersion) {
		// The versions of a watch only go up.
		return r.handleLate(s, event)
	}
	return r.applyEvent(s, event)
}

// isLate reports whether version is lower than the version that the watch has reached. Late
// events are out of order; see ErrLate.
func (r *Reflector[T]) isLate(s *watching[T], version string) bool {
	return !s.synthetic && older(version, s.version)
}

// applyEvent hands an event of a watch to the sink.
func (r *Reflector[T]) applyEvent(s *watching[T], event listwatch.Event[T]) (state[T], error) {
	if err := r.sink.Apply(event); err != nil {
		s.watch.close()
		return r.retry(&r.watches, err, r.resnapshot()), fmt.Errorf("sink: %w", err)
	}
	r.removeUndecodable(event.Key)
	s.received = true
	s.synthetic = s.synthetic && event.Type == listwatch.Added
	if !s.synthetic && !event.Unordered && checkpoint.Resumes(event.ResourceVersion) { // RC-24
		s.version = event.ResourceVersion
		r.version = event.ResourceVersion
		if event.Type != listwatch.Bookmark && !r.historyCheck.lost {
			// The history is the known one.
			r.checkpoint = checkpoint.Checkpoint{Key: event.Key, Version: event.ResourceVersion}
		}
	}
	r.eventDone(event, -1)
	r.succeeded(&r.watches)
	if r.historyCheck.lateErr != nil {
		return r.checkLate(s)
	}
	return s, nil
}

// handleUndecodableChange handles an added or modified object that is undecodable. It hands the key
// and the UID to the sink: an object of another UID under this key was deleted.
func (r *Reflector[T]) handleUndecodableChange(s *watching[T], undecodable *listwatch.ObjectError) (state[T], error) {
	r.updateUndecodable(func(u *undecodableSet) { u.add(undecodable) })
	r.reportUndecodable(Watching, undecodable)
	if undecodable.Key.Name == "" || undecodable.UIDHash == 0 {
		return s, nil
	}
	event := listwatch.Event[T]{Type: listwatch.Modified, Unordered: true, Item: undecodableItem[T](undecodable)}
	event.ResourceVersion = undecodable.ResourceVersion
	if err := r.sink.Apply(event); err != nil {
		s.watch.close()
		return r.retry(&r.watches, err, r.resnapshot()), fmt.Errorf("sink: %w", err)
	}
	return s, nil
}

// handleUndecodableDeletion handles a deletion whose object is undecodable. If the key and the
// version are known, the sink gets the deletion, and uses its own last state of the object.
// Otherwise only a snapshot that is not older than the deletion shows which object is gone.
func (r *Reflector[T]) handleUndecodableDeletion(s *watching[T], undecodable *listwatch.ObjectError) (state[T], error) {
	if undecodable.Key.Name == "" || undecodable.ResourceVersion == "" {
		s.watch.close()
		next := r.resnapshot()
		if older(r.version, undecodable.ResourceVersion) {
			next = r.snapshot(undecodable.ResourceVersion)
		}
		return r.retry(&r.watches, undecodable, next), undecodable
	}
	r.reportUndecodable(Watching, undecodable)
	// The event is Unordered, because the error does not say whether the version counts for the
	// watch.
	event := listwatch.Event[T]{Type: listwatch.Deleted, Unordered: true, Item: undecodableItem[T](undecodable)}
	event.ResourceVersion = undecodable.ResourceVersion
	return r.applyEvent(s, event)
}

// watchEnded returns the next state after an open watch has ended.
func (r *Reflector[T]) watchEnded(s *watching[T], err error) (state[T], error) {
	r.historyCheck.watchEnded(err, s.watch.early())
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
		return r.watchOrRelist(s.version), nil
	case err == io.EOF && (s.received || lasted >= veryShort): // RC-25
		return r.watchOrRelist(s.version), nil
	case err == io.EOF:
		err = r.withSourceName(ErrVeryShortWatch)
	}
	if s.received && IsExpired(err) {
		// An event has reset the streak, so this is always a first failure.
		if wait := r.relistSpacer.Wait(); wait > 0 {
			return r.retryAfter(wait, &r.watches, longest, err, r.resnapshot()), err
		}
	}
	if isLost(err) && lasted >= veryShort {
		// The next wait is not much longer than the connection lasted, however many attempts failed
		// before.
		longest = min(longest, r.opts.Backoff.upperBound(lasted))
	}
	return r.watchFailed(s.version, true, longest, err)
}

// watchOrRelist returns the state after a watch that ended in order: usually the next watch. If
// there are undecodable objects without a readable name, it is a snapshot, which shows whether they
// still exist and are still undecodable.
func (r *Reflector[T]) watchOrRelist(version string) state[T] {
	if r.undecodable.nameless > 0 {
		return r.resnapshot()
	}
	return r.resume(version)
}

// resume returns the state that watches from version. If version is "" or "0", it returns a
// snapshot. A watch from these versions begins with the existing objects, and does not show which
// objects were deleted meanwhile.
func (r *Reflector[T]) resume(version string) state[T] {
	if !checkpoint.Resumes(version) {
		return r.resnapshot()
	}
	return &connecting[T]{version: version}
}

// watchFailed returns the next state after a watch from version has failed. As a rule, the next
// watch starts from this version, after a wait. longest limits the wait. suspect is true if the
// version may be the cause: after failuresBeforeSwitch failures, a snapshot then gets another
// version. In this place plain/reflector.go always lists again, which takes 2.30 s of CPU for
// 20,000 pods (plain/README.md).
func (r *Reflector[T]) watchFailed(version string, suspect bool, longest time.Duration, err error) (state[T], error) {
	switch {
	case IsExpired(err) && !r.watches.expired:
		// RC-26. The reflector waits only if the failure before was a 410 as well.
		return r.retryAtOnce(&r.watches, err, r.resnapshot()), err
	case IsExpired(err):
		return r.retryWithin(&r.watches, longest, err, r.resnapshot()), err
	case suspect && (r.watches.connected+1)%failuresBeforeSwitch == 0 && r.relistSpacer.Remaining() <= 0:
		r.relistSpacer.Step()
		return r.retryWithin(&r.watches, longest, err, r.resnapshot()), err
	default:
		return r.retryWithin(&r.watches, longest, err, r.resume(version)), err
	}
}
