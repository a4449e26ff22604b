package reflector

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/kinform/kinform/listwatch"
)

// retryAtOnce counts a failure after which no wait is needed. The next state follows at once;
// retryAtOnce returns it.
func (r *Reflector[T]) retryAtOnce(streak *loggedStreak, err error, next state[T]) state[T] {
	streak.failed(err)
	streak.permanent = 0
	return next
}

// retry counts a failure, and returns a state that waits, and then enters the state next. The wait
// grows with each consecutive failure. It is at least the wait that the server requests, up to
// Backoff.MaxRetryAfter. retry returns the last state, stopped, if the failures reach
// Options.GiveUpAfter, or if the source can never work.
func (r *Reflector[T]) retry(streak *loggedStreak, err error, next state[T]) state[T] {
	return r.retryWithin(streak, r.opts.Backoff.Max, err, next)
}

// retryWithin is retry with another maximum wait than Backoff.Max.
func (r *Reflector[T]) retryWithin(streak *loggedStreak, longest time.Duration, err error, next state[T]) state[T] {
	return r.retryAfter(0, streak, longest, err, next)
}

// retryAfter is retryWithin with a minimum wait.
func (r *Reflector[T]) retryAfter(least time.Duration, streak *loggedStreak, longest time.Duration, err error, next state[T]) state[T] {
	streak.failed(err)
	if errors.Is(err, listwatch.ErrUnusable) {
		return stopped[T]{}
	}
	if streak.permanent > 0 {
		if streak.permanent == r.opts.GiveUpAfter {
			return stopped[T]{}
		}
		longest = r.opts.Backoff.PermanentMax
	}
	return &backingOff[T]{wait: max(least, streak.wait(r.opts.Backoff, longest, err)), then: next}
}

// succeeded resets a streak of failures, and logs the recovery (D8).
func (r *Reflector[T]) succeeded(streak *loggedStreak) {
	if streak.failures == 0 {
		return
	}
	if streak.logThrottle.Recovered() {
		r.opts.Logger.Info("Recovered", "failures", streak.failures)
	}
	*streak = loggedStreak{logThrottle: streak.logThrottle}
	r.record.update(func(st *Status) { st.Failures = r.failures() })
}

func (r *Reflector[T]) failures() int { return r.snapshots.failures + r.watches.failures }

// report reports a failed attempt, with the wait that follows (D7).
func (r *Reflector[T]) report(phase Phase, err error, next state[T]) Error {
	wait := waitOf[T](next)
	e := Error{Phase: phase, Err: err, Failures: r.watches.failures, RetryIn: wait, Final: next.phase() == Stopped}
	streak := &r.watches
	if phase == Listing || phase == Streaming {
		streak = &r.snapshots
		e.Failures = r.snapshots.failures
	}
	if wait == 0 && errors.Is(err, ErrIdle) {
		return r.reportIdle(e)
	}
	level := slog.LevelDebug
	if e.Final { // a final error is always worth a warning
		level = slog.LevelWarn
	} else if wait > 0 { // failures without a wait are usual, such as an expired version
		if _, due := streak.logThrottle.Due(int(statusOf(err).Code), time.Now()); due {
			level = slog.LevelWarn
		}
	}
	r.opts.Logger.Log(context.Background(), level, "Attempt failed",
		"phase", phase.String(), "err", err, "failures", e.Failures, "retry_in", wait)
	r.publish(e, func(st *Status) {
		st.Errors++
		st.Failures = r.failures()
	})
	return e
}

// reportIdle reports that the next watch starts because the last one was silent. This is not a
// failure, because perhaps nothing has happened.
func (r *Reflector[T]) reportIdle(e Error) Error {
	e.Failures = 0
	r.opts.Logger.Debug("The watch fell silent; opening the next watch", "err", e.Err)
	r.publish(e, func(*Status) {})
	return e
}

// reportUndecodable reports an undecodable object. The first one of each snapshot or watch is
// logged as a warning, and later ones at debug level.
func (r *Reflector[T]) reportUndecodable(phase Phase, undecodable *listwatch.ObjectError) {
	level := slog.LevelDebug
	if !r.undecodableLogged {
		level = slog.LevelWarn
		r.undecodableLogged = true
	}
	r.opts.Logger.Log(context.Background(), level, "Object skipped", "phase", phase.String(), "err", undecodable)
	r.publish(Error{Phase: phase, Err: undecodable}, func(st *Status) { st.Skipped++ })
}

func (r *Reflector[T]) publish(e Error, count func(*Status)) {
	now := time.Now()
	r.record.update(func(st *Status) {
		st.LastError, st.LastErrorAt = e, now
		count(st)
	})
	if r.opts.OnError != nil {
		r.opts.OnError(e)
	}
}

// enter records the phase of s, and calls OnPhase with the failure that led to this phase.
func (r *Reflector[T]) enter(s state[T], cause error) {
	change := PhaseChange{To: s.phase(), Cause: cause}
	wait, now := waitOf[T](s), time.Now()
	r.record.update(func(st *Status) {
		change.From = st.Phase
		st.Phase, st.Since = change.To, now
		st.NextRetry = time.Time{}
		if change.To == BackingOff {
			st.NextRetry = now.Add(wait)
		}
	})
	if r.opts.Observer.OnPhase != nil {
		r.opts.Observer.OnPhase(change)
	}
	if change.To == BackingOff && r.opts.Observer.OnWait != nil {
		r.opts.Observer.OnWait(wait)
	}
}

// beginSnapshot counts the start of a snapshot, by a list or a streaming list.
func (r *Reflector[T]) beginSnapshot() {
	r.undecodableLogged = false
	r.record.update(func(st *Status) {
		st.Lists++
		if st.Synced {
			st.Relists++
		}
		st.Items, st.Total = 0, 0
	})
}

// itemReceived counts and reports an item. n is the number of items of the list so far.
func (r *Reflector[T]) itemReceived(item listwatch.Item[T], n int) {
	r.record.update(func(st *Status) {
		st.Listed++
		st.Items = n
	})
	if r.opts.Observer.OnItem != nil {
		r.opts.Observer.OnItem(ItemInfo{Key: item.Key, ResourceVersion: item.ResourceVersion, State: item.State})
	}
}

// pageReceived reports a page. size is the number of its items, and n the number of items so far,
// including earlier pages.
func (r *Reflector[T]) pageReceived(size, n int, meta listwatch.ListMeta) {
	r.record.update(func(st *Status) { st.Total = int64(n) + meta.RemainingItemCount })
	if r.opts.Observer.OnPage != nil {
		r.opts.Observer.OnPage(PageInfo{Items: size, ListMeta: meta})
	}
}

// eventReceived reports an event to the observer.
func (r *Reflector[T]) eventReceived(phase Phase, event listwatch.Event[T]) {
	if r.opts.Observer.OnEvent != nil {
		r.opts.Observer.OnEvent(EventInfo{
			Phase:           phase,
			Type:            event.Type,
			Key:             event.Key,
			ResourceVersion: event.ResourceVersion,
		})
	}
}

// eventDone counts an event that the reflector has processed. n is the number of objects of the
// streaming list so far, or -1 for a watch.
func (r *Reflector[T]) eventDone(event listwatch.Event[T], n int) {
	now := time.Now()
	r.record.update(func(st *Status) {
		st.LastEventAt = now
		if event.Type == listwatch.Bookmark {
			st.Bookmarks++
		} else {
			st.Events++
		}
		st.ResourceVersion = r.version
		if n >= 0 {
			st.Items = n
		}
	})
}
