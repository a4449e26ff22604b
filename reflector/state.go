package reflector

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
)

// state is one of the types below. Each holds exactly what is legal in its phase:
// there is no watching state without a stream and a version to go on from.
type state[T any] interface{ phase() Phase }

// listing asks for a page of a list.
type listing[T any] struct {
	at    string // as in snapshot
	whole bool   // without paging

	// The items of earlier pages; zero before the first.
	items   []listwatch.Item[T]
	unread  unreadables
	version string
	token   string
	bytes   atomic.Int64
	turns   turns // of tokens
}

// requesting asks for a streaming list.
type requesting[T any] struct {
	at string // as in snapshot
}

// streaming reads the next event of a streaming list.
type streaming[T any] struct {
	at    string // as in snapshot
	watch *session[T]
	items collection[T]

	// How far it is; see took.
	changes bool   // there has been something else than the initial events
	newest  string // version of the last such event
}

// connecting asks for a watch.
type connecting[T any] struct {
	version string // the watch starts after it
}

// comparing has a watch that was opened after another one had been lost, or that has
// brought an event too late, and compares the server's history with the history that
// the reflector knows.
type comparing[T any] struct {
	version string // through which the sink has been told everything
	from    string // the watch starts after it: version, or just before the mark
	watch   *session[T]
	asked   bool // the question of the server's version is settled: it was asked, or it is too early to ask
	listed  bool // the server was asked for its version
	told    bool // the server told its version, and it is not older
}

// watching reads the next event of a watch.
type watching[T any] struct {
	version string // the next watch starts after it
	watch   *session[T]
	heard   bool // there has been an event or a bookmark
	late    bool // there has been an event with a version that the watch had passed

	// synthetic says that Added events list the existing objects, in no particular
	// order, because the watch has no version to start from: the versions of these
	// events are not the watch's.
	synthetic bool
}

// backingOff waits.
type backingOff[T any] struct {
	wait    time.Duration
	then    state[T]
	hurried bool // not because of a failure
}

// stopped is the end.
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

// step does the work of s (one request, one event, one wait) and returns the next
// state, and the error of a failure. After a failure the next state is a backingOff,
// unless there is no need to wait.
//
// A state is used up by the step; it may come back as the next one.
func (r *Reflector[T]) step(ctx context.Context, s state[T]) (state[T], error) {
	if ctx.Err() != nil {
		return r.stop(s), nil
	}
	if wait := r.hurried(s); wait != nil {
		return wait, nil
	}
	switch s := s.(type) {
	case *listing[T]:
		return r.list(ctx, s)
	case *requesting[T]:
		return r.request(ctx, s)
	case *streaming[T]:
		return r.collect(s)
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
		if r.waited = true; !s.hurried {
			r.haste = pace.Haste{} // The waits after a failure suffice.
		}
		return s.then, nil
	default:
		return s, nil
	}
}

// stop releases what s holds.
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

// snapshot returns the state in which a snapshot begins that is not older than
// version; "0" stands for any, and "" for the most recent one.
func (r *Reflector[T]) snapshot(version string) state[T] {
	if r.mode == WatchList {
		return &requesting[T]{at: version}
	}
	return &listing[T]{at: version}
}

// resnapshot returns the state in which a snapshot begins that is not older than the
// sink's version (RC-4).
func (r *Reflector[T]) resnapshot() state[T] {
	return r.snapshot(cmp.Or(r.version, "0"))
}

// abandon stops the timers of a state that has been left by a panic, or by
// runtime.Goexit, in user code. The stream itself ends with the context; to close it might
// block, and hide the panic.
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
