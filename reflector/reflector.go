package reflector

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/checkpoint"
	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
)

// Sink is the receiver that a reflector keeps in step with a server. Run's goroutine calls Replace
// and Apply, one call at a time. If a call returns an error, the reflector reports it, waits, and
// hands over a new snapshot. The failed call may have done all, some or none of its work.
type Sink[T any] interface {
	// HasVersion reports whether the sink has the object with this key in exactly this
	// version; see listwatch.ListOptions.Known. It may be called from several goroutines
	// at once, and while Replace or Apply runs.
	HasVersion(key types.NamespacedName, resourceVersion string, uidHash uint64) bool

	// HeldObject returns the object that the sink has under this key, in any version, or nil. A new
	// version of the object may share equal parts with it; see listwatch.WatchOptions.Held. A sink
	// whose objects may be changed returns nil. It may be called from several goroutines at once.
	HeldObject(key types.NamespacedName) any

	// Replace hands over a whole snapshot in one call. If the sink has an object that the snapshot
	// lacks, that object is gone, unless NamesMissing is set. The sink owns the slice.
	//
	// If an item is Unchanged, the sink keeps the object that it has under this key. If an item is
	// Undecodable, its object exists, and the sink keeps an older version, or has none. If the sink
	// has an object with another UIDHash under the key, that object is gone.
	//
	// If OtherHistory is set, an object of the sink may differ from the server's object although
	// both have the same version.
	Replace(snapshot listwatch.Snapshot[T]) error

	// Apply hands over one change, or a bookmark, in the server's order.
	//
	// A Deleted event that is Undecodable has no object: the object's last state is the state in
	// the sink, if the sink has one. A Modified event that is Undecodable says that the object
	// exists. If the sink has an object with another UIDHash under this key, that object is gone.
	// Otherwise nothing changes in the sink.
	Apply(event listwatch.Event[T]) error
}

// UndecodableNotifier is a [Sink] that is called when the set of undecodable objects changes; see
// [Reflector.Undecodable]. Run's goroutine calls NotifyUndecodable.
type UndecodableNotifier interface{ NotifyUndecodable() }

// UndecodableKeeper is a [Sink] that stores a snapshot or an event some time after the reflector
// handed it over. Run's goroutine calls KeepUndecodable when undecodable objects became decodable,
// or were deleted. Until the sink has stored these states, the errors in undecodable say why its
// store lacks the objects. When KeepUndecodable returns, [Reflector.Undecodable] no longer returns
// these errors.
type UndecodableKeeper interface {
	KeepUndecodable(undecodable []*listwatch.ObjectError)
}

// Reflector keeps a sink in step with a server. Make one with [New], start it with
// [Reflector.Run].
type Reflector[T any] struct {
	source listwatch.Source[T]
	sink   Sink[T]
	opts   Options
	record record

	// The fields below belong to Run's goroutine.

	mode    ListMode // List or WatchList
	version string   // through which the sink has everything
	paged   bool     // the server answers in pages even at version "0"
	// The log has named an undecodable object of this snapshot or watch.
	undecodableLogged bool
	outdated          outdatedSnapshots // consecutive outdated snapshots
	historyCheck      historyCheck      // whether the server's history is the known one
	// The last event that the sink got from the known history.
	checkpoint   checkpoint.Checkpoint
	synced       bool           // the sink has got a whole snapshot
	undecodable  undecodableSet // written by Run's goroutine, with record.mu locked
	relistSpacer pace.Spacer    // limits how often failed watches lead to a snapshot
	burstLimiter pace.BurstLimiter
	justWaited   bool // the last state waited

	// The consecutive failures of snapshots and of watches are counted separately, because one kind
	// may work while the other fails.
	snapshots, watches loggedStreak
}

// New returns a reflector from source to sink. It starts nothing. It returns an error if an
// option is invalid, or if source or sink is nil.
func New[T any](source listwatch.Source[T], sink Sink[T], opts Options) (*Reflector[T], error) {
	if contain.IsNil(source) || contain.IsNil(sink) {
		return nil, errMissing
	}
	if err := opts.validate(); err != nil {
		return nil, err
	}
	r := &Reflector[T]{source: source, sink: sink, opts: opts.withDefaults()}
	r.mode = r.opts.ListMode
	r.record.status.ListMode = r.mode
	return r, nil
}

var errMissing = errors.New("reflector: New needs a source and a sink")

// known returns the function for listwatch.ListOptions.Known. It is nil if the server has another
// history, because versions then do not identify objects.
func (r *Reflector[T]) known() func(key types.NamespacedName, resourceVersion string, uidHash uint64) bool {
	if r.historyCheck.otherHistory {
		return nil
	}
	return r.sink.HasVersion
}

// Run keeps the sink in step with the server until ctx ends, and then returns nil. It returns
// earlier, with an [Error], only after [Options].GiveUpAfter permanent failures, or if the source
// can never work ([listwatch.ErrUnusable]).
//
// Run works in the goroutine of its caller. All other goroutines belong to the Source.
//
// After Run has returned, it may be called again. It then takes a new snapshot that is not older
// than the last version. While it runs, another call returns [ErrRunning].
func (r *Reflector[T]) Run(ctx context.Context) error {
	if !r.record.start() {
		return ErrRunning
	}
	defer r.record.stop()
	// No request outlives Run, even if a hook panics.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	r.snapshots, r.watches = loggedStreak{}, loggedStreak{}
	s := r.resnapshot()
	defer func() { abandon[T](s) }()
	r.enter(s, nil)
	var last error
	for s.phase() != Stopped {
		next, err := r.step(ctx, s)
		switch {
		case ctx.Err() != nil: // The end of ctx is not a failure.
			next, err = r.stop(next), nil
		case err != nil:
			err = r.report(s.phase(), err, next)
		}
		last = err
		from := s.phase()
		s = next
		if s.phase() != from {
			r.enter(s, err)
		}
	}
	return last
}
