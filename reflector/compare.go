package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kinform/kinform/internal/checkpoint"
	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
)

var errNotRepeated = errors.New("the new watch did not begin with the last event of the lost watch")

// historyCheck has the reasons to suspect that the server no longer has the known history, for
// example after a restore from a backup.
type historyCheck struct {
	// lost records that a watch was lost since the last snapshot or comparison. outage records that
	// the server was unreachable after that loss, so another server may have taken its place.
	// spacer limits how often the reflector compares.
	lost, outage bool
	spacer       pace.Spacer

	// lateErr is the error of a late event, until the next snapshot. lateCheckedAt is when the
	// reflector last reacted to a late event. bookmarkCheckedAt is when a late bookmark last led to
	// a comparison.
	lateErr                          error
	lateCheckedAt, bookmarkCheckedAt time.Time

	// otherHistory records that the server has another history than the sink, so the same version
	// may belong to another object. The reflector takes the next snapshot as if the sink were
	// empty.
	otherHistory bool
}

// openFailed records that a watch could not be opened.
func (h *historyCheck) openFailed(err error) {
	if !IsExpired(err) {
		h.lost = true
		h.outage = h.outage || isUnreachable(err)
	}
}

// watchEnded records that a watch has ended. A watch that ended without an error, but too early,
// counts as lost. A server that stops ends its watches this way, and another server may replace it
// unnoticed.
func (h *historyCheck) watchEnded(err error, early bool) {
	h.lost = h.lost || err != io.EOF || early
}

// reset forgets all reasons for a comparison. It keeps the times that limit how often the reflector
// compares.
func (h *historyCheck) reset() {
	*h = historyCheck{lateCheckedAt: h.lateCheckedAt, bookmarkCheckedAt: h.bookmarkCheckedAt, spacer: h.spacer}
}

// isOrdered reports whether the version is a number, and so comparable with other versions.
func isOrdered(version string) bool {
	_, err := resourceversion.CompareResourceVersion(version, version)
	return err == nil
}

// mustCompare reports whether the reflector must compare the server's history with the known
// history before it hands over events.
func (r *Reflector[T]) mustCompare(version string) bool {
	return r.historyCheck.lost && !r.opts.SkipComparison && isOrdered(version)
}

// compare requests the server's version in its first step, and reads an event of the watch in each
// later step. If the server has the known history, the first event repeats the last event of the
// lost watch.
func (r *Reflector[T]) compare(ctx context.Context, s *comparing[T]) (state[T], error) {
	if !s.versionStepDone {
		s.versionStepDone = true
		if s.from != s.version && r.historyCheck.spacer.Remaining() > 0 {
			// It is too early for another request for the server's version. The first event
			// decides, if it comes in time.
			s.watch.endAfter(pace.HistoryCheckTimeout, errNotRepeated)
			return s, nil
		}
		s.versionRequested = true
		return r.compareVersions(ctx, s)
	}
	event, err := s.watch.next()
	key, version := event.Key, event.ResourceVersion
	undecodable, isUndecodable := errors.AsType[*listwatch.ObjectError](err)
	switch {
	case isUndecodable:
		key, version = undecodable.Key, undecodable.ResourceVersion
	case IsExpired(err):
		s.watch.close()
		return r.noEventToCompare(s.version, s.versionRequested), nil
	case errors.Is(err, errNotRepeated):
		// The last event did not come again. If the server's version was not requested, it may be
		// lower than the start of the watch. Then the server sends nothing on this watch.
		s.watch.close()
		r.historyCheck.outage = r.historyCheck.outage || s.versionConfirmed || !s.versionRequested
		return r.noEventToCompare(s.version, s.versionRequested), nil
	case err != nil:
		s.watch.close()
		return r.watchEnded(&watching[T]{version: s.version, watch: s.watch}, err)
	case event.Type == listwatch.Bookmark:
		return s, nil
	}
	if key != r.checkpoint.Key || version != r.checkpoint.Version {
		err := fmt.Errorf("%w: in place of %s at version %s, the server has %s at version %s", ErrOtherHistory, r.checkpoint.Key, r.checkpoint.Version, key, version)
		return r.beginOtherHistory(s, err)
	}
	return r.resumeKnownHistory(s), nil
}

// compareVersions compares the server's version with the sink's version. If the server fails or
// forbids the request, the reflector watches anyway.
func (r *Reflector[T]) compareVersions(ctx context.Context, s *comparing[T]) (state[T], error) {
	current, err := r.current(ctx)
	switch {
	case ctx.Err() != nil:
		return s, nil // Run closes the watch.
	case err != nil:
		r.opts.Logger.Warn("The server's version could not be compared with the known version", "err", err)
	case older(current, s.version):
		// Set the count to one below the limit. Then the next list, which will have the same
		// version, is accepted.
		r.outdated = outdatedSnapshots{version: current, times: outdatedLimit - 1}
		return r.beginOtherHistory(s, fmt.Errorf("%w: the server is at version %s, but the sink has everything up to version %s", ErrOtherHistory, current, s.version))
	}
	switch {
	case r.historyCheck.lateErr != nil:
		s.watch.close()
		return r.retryAtOnce(&r.watches, r.historyCheck.lateErr, r.resnapshot()), r.historyCheck.lateErr
	case s.from == s.version && r.historyCheck.outage && err == nil:
		s.watch.close()
		return r.noEventToCompare(s.version, true), nil
	case s.from == s.version:
		return r.resumeKnownHistory(s), nil
	}
	s.versionConfirmed = err == nil
	s.watch.endAfter(pace.HistoryCheckTimeout, errNotRepeated)
	return s, nil
}

// current requests the server's most recent version with a list of one object. The object is not
// decoded.
func (r *Reflector[T]) current(ctx context.Context) (string, error) {
	r.historyCheck.spacer.Step()
	if err := listwatch.Prepare(ctx, r.source); err != nil { // as for any list
		return "", causeOr(ctx, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pace.HistoryCheckTimeout, r.withSourceName(ErrNoProgress))
	defer cancel()
	r.record.update(func(st *Status) { st.Comparisons++ })
	skipDecoding := func(types.NamespacedName, string, uint64) bool { return true }
	stream, err := r.source.List(ctx, listwatch.ListOptions{VersionOnly: true, Limit: 1, Known: skipDecoding})
	if err != nil {
		return "", causeOr(ctx, err)
	}
	defer stream.Close()
	for {
		_, err := stream.Next()
		err = contain.SafeError(err)
		_, isUndecodable := errors.AsType[*listwatch.ObjectError](err)
		switch {
		case err == io.EOF:
			return stream.Meta().ResourceVersion, nil
		case err != nil && !isUndecodable:
			return "", causeOr(ctx, err)
		}
	}
}

// resumeKnownHistory ends a comparison that has confirmed the known history. The watch goes on.
func (r *Reflector[T]) resumeKnownHistory(s *comparing[T]) state[T] {
	r.historyCheck.reset()
	s.watch.endAfter(r.opts.WatchIdleTimeout, r.withSourceName(ErrIdle))
	return &watching[T]{version: s.version, watch: s.watch, received: true}
}

// beginOtherHistory ends a comparison that has found another history. It returns the state that
// takes a snapshot as if the sink were empty.
func (r *Reflector[T]) beginOtherHistory(s *comparing[T], err error) (state[T], error) {
	s.watch.close()
	r.historyCheck.otherHistory = true
	return r.retryAtOnce(&r.watches, err, r.snapshot("")), err
}

// noEventToCompare returns the next state if no event can show whether the server's history is
// still the known one. Either no event came since the last snapshot, or the server no longer has
// that event. If the server was unreachable, the next state is a snapshot, unless the spacer still
// forbids one. Otherwise a watch starts at the version where the last watch ended. versionRequested
// is true if the server's version was requested just before.
func (r *Reflector[T]) noEventToCompare(version string, versionRequested bool) state[T] {
	r.checkpoint = checkpoint.Checkpoint{}
	switch due := versionRequested || r.historyCheck.spacer.Remaining() <= 0; {
	case r.historyCheck.outage && due:
		r.historyCheck.spacer.Step()
		r.opts.Logger.Info("The server is back, but no event shows whether its history is the same: listing")
		return r.resnapshot()
	case versionRequested:
		r.historyCheck.reset() // no reason for another comparison is left
	}
	return r.resume(version)
}

// handleLate handles an event or a bookmark that is older than the watch. It ignores a late
// bookmark, but starts a comparison, because the server's version may have gone back.
//
// If the sink has the event's version, it gets the event: some servers give a deletion the version
// of the object's last state. Any other late event may be outdated, and could bring back a deleted
// object. So the reflector drops the event, and a comparison and a snapshot follow. If late events
// go on after that snapshot, the server numbers the versions of each object separately. Then the
// sink gets each event for pace.HistoryCheckInterval, and after that the next snapshot follows.
func (r *Reflector[T]) handleLate(s *watching[T], event listwatch.Event[T]) (state[T], error) {
	isBookmark := event.Type == listwatch.Bookmark
	if !isBookmark && r.sink.HasVersion(event.Key, event.ResourceVersion, event.UIDHash) {
		event.Unordered = true
		return r.applyEvent(s, event)
	}
	accepted := !isBookmark && time.Since(r.historyCheck.lateCheckedAt) < pace.HistoryCheckInterval
	err := fmt.Errorf("%w: %v of %v at version %s, but the sink has everything up to version %s",
		ErrLate, event.Type, event.Key, event.ResourceVersion, s.version)
	if !s.sawLate {
		s.sawLate = true
		r.opts.Logger.Warn("A watch event has an old version", "accepted", accepted, "err", err)
	}
	if !isBookmark {
		r.historyCheck.lateErr = err
	}
	if accepted {
		event.Unordered = true
		return r.applyEvent(s, event)
	}
	r.record.update(func(st *Status) { st.Stale++ })
	if isBookmark && r.historyCheck.lateErr == nil {
		return r.handleLateBookmark(s), nil
	}
	return r.checkLate(s)
}

// handleLateBookmark starts a comparison after a late bookmark, at most once in
// pace.HistoryCheckInterval. No snapshot follows, and the next late event is handled as if the
// bookmark had not come.
func (r *Reflector[T]) handleLateBookmark(s *watching[T]) state[T] {
	if r.opts.SkipComparison || time.Since(r.historyCheck.lateCheckedAt) < pace.HistoryCheckInterval || time.Since(r.historyCheck.bookmarkCheckedAt) < pace.HistoryCheckInterval {
		return s
	}
	r.historyCheck.bookmarkCheckedAt = time.Now()
	return &comparing[T]{version: s.version, from: s.version, watch: s.watch}
}

// handleLateUndecodable handles a late event with an undecodable object. The sink does not get the
// event, because the sink may already have a later state, or a recreated object. The log names the
// object. After a deletion, a snapshot follows, because only a snapshot shows whether the object is
// gone.
func (r *Reflector[T]) handleLateUndecodable(s *watching[T], undecodable *listwatch.ObjectError) (state[T], error) {
	r.record.update(func(st *Status) { st.Stale++ })
	due := undecodable.Type == listwatch.Deleted && time.Since(r.historyCheck.lateCheckedAt) >= pace.HistoryCheckInterval
	if !s.sawLate || due {
		s.sawLate = true
		r.opts.Logger.Warn("A watch event has an old version", "accepted", false, "err", undecodable)
	}
	if undecodable.Type == listwatch.Deleted {
		r.historyCheck.lateErr = fmt.Errorf("%w: %w", ErrLate, undecodable)
		return r.checkLate(s)
	}
	return s, nil
}

// checkLate starts a comparison and a snapshot because of a late event, at most once in
// pace.HistoryCheckInterval.
func (r *Reflector[T]) checkLate(s *watching[T]) (state[T], error) {
	if time.Since(r.historyCheck.lateCheckedAt) < pace.HistoryCheckInterval {
		return s, nil
	}
	r.historyCheck.lateCheckedAt = time.Now()
	if !r.opts.SkipComparison {
		return &comparing[T]{version: s.version, from: s.version, watch: s.watch}, nil
	}
	s.watch.close()
	return r.retryAtOnce(&r.watches, r.historyCheck.lateErr, r.resnapshot()), r.historyCheck.lateErr
}
