package reflector

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
)

// session is an open watch, with its timers and its context.
type session[T any] struct {
	stream  listwatch.WatchStream[T]
	opened  time.Time
	timeout time.Duration // requested from the server

	ctx     context.Context // of the request
	cancel  context.CancelCauseFunc
	overdue *time.Timer
	silence *atomic.Pointer[silenceTimer] // behind a pointer, because the Source may keep it
}

// open opens a watch. If nothing comes for the duration limit, the watch ends with the error
// reason; see newSilenceTimer.
func (r *Reflector[T]) open(ctx context.Context, opts listwatch.WatchOptions, limit time.Duration, reason error) (*session[T], error) {
	if err := listwatch.Prepare(ctx, r.source); err != nil { // no deadline: it may wait for a login
		return nil, causeOr(ctx, err)
	}
	opts.Timeout = cmp.Or(opts.Timeout, r.opts.watchTimeout())
	ctx, cancel := context.WithCancelCause(ctx)
	s := &session[T]{ctx: ctx, cancel: cancel, timeout: opts.Timeout, silence: new(atomic.Pointer[silenceTimer])}
	silence := s.silence
	s.overdue = time.AfterFunc(opts.Timeout+pace.OverdueMargin, func() { cancel(ErrOverdue) })
	s.endAfter(limit, r.withSourceName(reason))
	progress := func() { silence.Load().progress() }
	opts.IdleTimeout = listwatch.IdleTimeout{Limit: r.opts.WatchIdleTimeout, Progress: progress}
	if opts.SendInitialEvents {
		opts.InitialIdleTimeout = listwatch.IdleTimeout{Limit: r.opts.ListProgressTimeout, Progress: progress}
	}
	stream, err := r.source.Watch(ctx, opts)
	if err != nil {
		err = causeOr(ctx, err)
		s.close()
		return nil, err
	}
	s.stream, s.opened = stream, time.Now()
	return s, nil
}

// next waits for the next event.
func (s *session[T]) next() (listwatch.Event[T], error) {
	silence := s.silence.Load()
	silence.wait()
	event, err := s.stream.Next()
	silence.received()
	return event, causeOr(s.ctx, err)
}

// early reports whether the watch, if it ended now, would end long before its timeout.
func (s *session[T]) early() bool { return time.Since(s.opened)+pace.OverdueMargin < s.timeout }

// endAfter sets how long the stream may be silent from now on. After that time, the stream ends
// with the error reason.
func (s *session[T]) endAfter(limit time.Duration, reason error) {
	s.silence.Swap(newSilenceTimer(limit, s.cancel, reason)).stop()
}

// close closes the stream, and stops the timers. It may be called again.
func (s *session[T]) close() {
	s.overdue.Stop()
	s.silence.Load().stop()
	if s.stream != nil {
		// Nobody reads the stream any more, so an error of closing it does not matter.
		_ = s.stream.Close()
	}
	s.cancel(nil)
}

// abandon stops the timers and cancels the request, without closing the stream.
func (s *session[T]) abandon() {
	s.overdue.Stop()
	s.silence.Load().stop()
	s.cancel(nil)
}

// withSourceName prefixes err with the source's name, if the source has one.
func (r *Reflector[T]) withSourceName(err error) error {
	if named, ok := r.source.(fmt.Stringer); ok {
		return fmt.Errorf("%v: %w", named, err)
	}
	return err
}

// causeOr returns the reason for which the reflector cancelled the request, or err if it did not.
// An error of the stream only says that the context has ended. ctx is the context of the request.
func causeOr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return contain.SafeError(err) // the source may be foreign code
}
