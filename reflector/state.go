package reflector

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
)

// state is one of the types below. Each type has exactly the fields that its phase needs: a
// watching state always has a stream, and a version to resume from.
type state[T any] interface{ phase() Phase }

// listing requests one page of a list.
type listing[T any] struct {
	requestedVersion string // see Reflector.snapshot
	unpaged          bool   // without pages

	// The fields below are zero before the first page.
	items       []listwatch.Item[T]
	undecodable undecodableSet
	version     string
	token       string
	bytes       atomic.Int64
	tokens      tokenCycle // detects repeated tokens
}

// requesting requests a streaming list.
type requesting[T any] struct {
	requestedVersion string // see Reflector.snapshot
}

// streaming reads the next event of a streaming list.
type streaming[T any] struct {
	requestedVersion string // see Reflector.snapshot
	watch            *session[T]
	items            streamedItems[T]

	// These fields measure the progress towards the end marker; see recordProgress.
	sawChange    bool   // the stream has sent an event that does not list an existing object
	newestChange string // the newest version of such an event
}

// connecting requests a watch.
type connecting[T any] struct {
	version string // the watch starts after it
}

// comparing compares the server's history with the known one. Its watch was opened after a lost
// watch, or has sent a late event.
type comparing[T any] struct {
	version          string // the sink has everything through this version
	from             string // start of the watch: version, or just before the checkpoint
	watch            *session[T]
	versionStepDone  bool // the server's version was requested, or its request is not due
	versionRequested bool // the server's version was requested
	versionConfirmed bool // the server's version is known, and not lower than version
}

// watching reads the next event of a watch.
type watching[T any] struct {
	version  string // the next watch starts after it
	watch    *session[T]
	received bool // the watch has sent an event or a bookmark
	sawLate  bool // the watch has sent a late event; see isLate

	// synthetic is true if the watch started without a version. Its Added events list the existing
	// objects, in no particular order, so their versions do not say how far the watch is.
	synthetic bool
}

// backingOff waits, and then enters the next state.
type backingOff[T any] struct {
	wait      time.Duration
	then      state[T]
	throttled bool // the wait limits the rate of attempts; nothing has failed
}

// stopped is the last state.
type stopped[T any] struct{}

func (*listing[T]) phase() Phase    { return Listing }
func (*requesting[T]) phase() Phase { return Streaming }
func (*streaming[T]) phase() Phase  { return Streaming }
func (*connecting[T]) phase() Phase { return Connecting }
func (*comparing[T]) phase() Phase  { return Comparing }
func (*watching[T]) phase() Phase   { return Watching }
func (*backingOff[T]) phase() Phase { return BackingOff }
func (stopped[T]) phase() Phase     { return Stopped }

// waitOf returns how long s waits.
func waitOf[T any](s state[T]) time.Duration {
	if s, ok := s.(*backingOff[T]); ok {
		return s.wait
	}
	return 0
}

// step does the work of s: it makes one request, processes one event, or waits once. It returns the
// next state, and an error if the work failed. After a failure the next state is a backingOff,
// unless no wait is needed.
//
// step may change s, and may return it as the next state.
func (r *Reflector[T]) step(ctx context.Context, s state[T]) (state[T], error) {
	if ctx.Err() != nil {
		return r.stop(s), nil
	}
	if wait := r.throttle(s); wait != nil {
		return wait, nil
	}
	switch s := s.(type) {
	case *listing[T]:
		return r.list(ctx, s)
	case *requesting[T]:
		return r.openStreamingList(ctx, s)
	case *streaming[T]:
		return r.readStreamingList(s)
	case *connecting[T]:
		return r.connect(ctx, s)
	case *comparing[T]:
		return r.compare(ctx, s)
	case *watching[T]:
		return r.watch(s)
	case *backingOff[T]:
		if sleep(ctx, s.wait, r.opts.Wake) {
			r.opts.Wake = nil // A closed channel would end every later wait at once.
		}
		if r.justWaited = true; !s.throttled {
			// After this wait, attempts may come without a wait again.
			r.burstLimiter = pace.BurstLimiter{}
		}
		return s.then, nil
	default:
		return s, nil
	}
}

// stop releases the stream of s.
func (r *Reflector[T]) stop(s state[T]) state[T] {
	switch s := s.(type) {
	case *streaming[T]:
		s.watch.close()
	case *comparing[T]:
		s.watch.close()
	case *watching[T]:
		s.watch.close()
	}
	return stopped[T]{}
}

// snapshot returns the first state of a snapshot that is at least as new as version. "0" means any
// state, and "" the most recent state.
func (r *Reflector[T]) snapshot(version string) state[T] {
	if r.mode == WatchList {
		return &requesting[T]{requestedVersion: version}
	}
	return &listing[T]{requestedVersion: version}
}

// resnapshot returns the first state of a snapshot that is at least as new as the sink's version
// (RC-4).
func (r *Reflector[T]) resnapshot() state[T] {
	return r.snapshot(cmp.Or(r.version, "0"))
}

// abandon stops the timers of s after user code has panicked or called runtime.Goexit. It does not
// close the stream: closing might block, and hide the panic. The stream ends with its context.
func abandon[T any](s state[T]) {
	switch s := s.(type) {
	case *streaming[T]:
		s.watch.abandon()
	case *watching[T]:
		s.watch.abandon()
	case *comparing[T]:
		s.watch.abandon()
	}
}
