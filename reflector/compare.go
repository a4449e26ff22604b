package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/internal/mark"
	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
)

var errNotAgain = errors.New("the new watch did not begin with the last event of the lost watch")

// doubt has the reasons to suspect that the server no longer has the history that the reflector
// knows, for example after a restore from a backup.
type doubt struct {
	// lost records that a watch was lost since the last snapshot or comparison. outage records that
	// the server was unreachable after that, so that another server may have taken its place. pace
	// limits how often the reflector compares.
	lost, outage bool
	pace         pace.Pace

	// late is the error of an event that is older than the watch, until the next snapshot. looked
	// is when the reflector last reacted to a late event. hinted is when a late bookmark last led
	// to a comparison.
	late           error
	looked, hinted time.Time

	// other records that the server has another history than the sink, so the same version may
	// belong to another object. The reflector takes the next snapshot as if the sink were empty.
	other bool
}

// failed records that a watch could not be opened.
func (d *doubt) failed(err error) {
	if !IsExpired(err) {
		d.lost = true
		d.outage = d.outage || isUnreachable(err)
	}
}

// ended records that a watch has ended. A watch that ended without an error, but too early, counts
// as lost: a server that stops ends its watches this way, and another server may take its place
// unnoticed.
func (d *doubt) ended(err error, early bool) {
	d.lost = d.lost || err != io.EOF || early
}

// clear removes all suspicions. It keeps the times that limit how often the reflector compares.
func (d *doubt) clear() { *d = doubt{looked: d.looked, hinted: d.hinted, pace: d.pace} }

// ordered reports whether the version is a number, so that it can be compared with others.
func ordered(version string) bool {
	_, err := resourceversion.CompareResourceVersion(version, version)
	return err == nil
}

// compares reports whether the reflector has to compare the server's history with the history that
// it knows, before it hands over events.
func (r *Reflector[T]) compares(version string) bool {
	return r.doubt.lost && !r.opts.SkipComparison && ordered(version)
}

// compare requests the server's version in its first step, and reads an event of the watch in each
// later step. If the server has the known history, the first event repeats the last event of the
// lost watch.
func (r *Reflector[T]) compare(ctx context.Context, s *comparing[T]) (state[T], error) {
	if !s.asked {
		s.asked = true
		if s.from != s.version && r.doubt.pace.Left() > 0 {
			// It is too early for another request for the server's version. The first event
			// decides, if it comes in time.
			s.watch.endAfter(pace.CompareLimit, errNotAgain)
			return s, nil
		}
		s.listed = true
		return r.compareVersions(ctx, s)
	}
	event, err := s.watch.next()
	key, version := event.Key, event.ResourceVersion
	unread, isUnread := errors.AsType[*listwatch.ObjectError](err)
	switch {
	case isUnread:
		key, version = unread.Key, unread.ResourceVersion
	case IsExpired(err):
		s.watch.close()
		return r.forgotten(s.version, s.listed), nil
	case errors.Is(err, errNotAgain):
		// The event did not come again. If the server's version was not requested, it may be lower
		// than the watch's start. Then the server sends nothing on this watch.
		s.watch.close()
		r.doubt.outage = r.doubt.outage || s.told || !s.listed
		return r.forgotten(s.version, s.listed), nil
	case err != nil:
		s.watch.close()
		return r.watchEnded(&watching[T]{version: s.version, watch: s.watch}, err)
	case event.Type == listwatch.Bookmark:
		return s, nil
	}
	if key != r.mark.Key || version != r.mark.Version {
		err := fmt.Errorf("%w: in place of %s at version %s, the server has %s at version %s", ErrOtherHistory, r.mark.Key, r.mark.Version, key, version)
		return r.begin(s, err)
	}
	return r.trust(s), nil
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
		r.refused = refusals{version: current, times: insistence - 1}
		return r.begin(s, fmt.Errorf("%w: the server is at version %s, but the sink has everything up to version %s", ErrOtherHistory, current, s.version))
	}
	switch {
	case r.doubt.late != nil:
		s.watch.close()
		return r.atOnce(&r.watches, r.doubt.late, r.resnapshot()), r.doubt.late
	case s.from == s.version && r.doubt.outage && err == nil:
		s.watch.close()
		return r.forgotten(s.version, true), nil
	case s.from == s.version:
		return r.trust(s), nil
	}
	s.told = err == nil
	s.watch.endAfter(pace.CompareLimit, errNotAgain)
	return s, nil
}

// current requests the server's most recent version with a list of one object. The object is not
// decoded.
func (r *Reflector[T]) current(ctx context.Context) (string, error) {
	r.doubt.pace.Step()
	if err := listwatch.Prepare(ctx, r.source); err != nil { // as for any list
		return "", explain(ctx, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pace.CompareLimit, r.about(ErrNoProgress))
	defer cancel()
	r.record.update(func(st *Status) { st.Comparisons++ })
	undecoded := func(types.NamespacedName, string, uint64) bool { return true }
	stream, err := r.source.List(ctx, listwatch.ListOptions{VersionOnly: true, Limit: 1, Known: undecoded})
	if err != nil {
		return "", explain(ctx, err)
	}
	defer stream.Close()
	for {
		_, err := stream.Next()
		err = contain.Error(err)
		_, isUnread := errors.AsType[*listwatch.ObjectError](err)
		switch {
		case err == io.EOF:
			return stream.Meta().ResourceVersion, nil
		case err != nil && !isUnread:
			return "", explain(ctx, err)
		}
	}
}

// trust ends the comparison: the server has the history that the reflector knows. The watch goes
// on.
func (r *Reflector[T]) trust(s *comparing[T]) state[T] {
	r.doubt.clear()
	s.watch.endAfter(r.opts.WatchIdleTimeout, r.about(ErrIdle))
	return &watching[T]{version: s.version, watch: s.watch, heard: true}
}

// begin ends the comparison: the server has another history. It returns the state that takes a
// snapshot as if the sink were empty.
func (r *Reflector[T]) begin(s *comparing[T], err error) (state[T], error) {
	s.watch.close()
	r.doubt.other = true
	return r.atOnce(&r.watches, err, r.snapshot("")), err
}

// forgotten returns the next state if no event can show whether the server's history is still the
// known one. Either no event came since the last snapshot, or the server does not have that event.
// If the server was unreachable, a snapshot follows when the pace of comparisons allows it.
// Otherwise the watch starts where the last watch ended. listed says that the server's version was
// requested just before.
func (r *Reflector[T]) forgotten(version string, listed bool) state[T] {
	r.mark = mark.Mark{}
	switch due := listed || r.doubt.pace.Left() <= 0; {
	case r.doubt.outage && due:
		r.doubt.pace.Step()
		r.opts.Logger.Info("The server is back, but no event shows whether its history is the same: listing")
		return r.resnapshot()
	case listed:
		r.doubt.clear() // no other reason for a comparison is left
	}
	return r.resume(version)
}

// late handles an event that is older than the watch. A late bookmark is ignored, but a comparison
// follows, because the server may have gone back.
//
// If the sink has the event's version, it gets the event: some servers give a deletion the version
// of the object's last state. Any other late event may be outdated, and could bring back a deleted
// object. So the reflector drops the event, and a comparison and a snapshot follow. If late events
// go on after that snapshot, the server's objects have versions of their own. Then the sink gets
// each event for pace.DoubtPause, and after that the next snapshot follows.
func (r *Reflector[T]) late(s *watching[T], event listwatch.Event[T]) (state[T], error) {
	isBookmark := event.Type == listwatch.Bookmark
	if !isBookmark && r.sink.HasVersion(event.Key, event.ResourceVersion, event.UIDHash) {
		event.Unordered = true
		return r.apply(s, event)
	}
	believed := !isBookmark && time.Since(r.doubt.looked) < pace.DoubtPause
	err := fmt.Errorf("%w: %v of %v at version %s, but the sink has everything up to version %s",
		ErrLate, event.Type, event.Key, event.ResourceVersion, s.version)
	if !s.late {
		s.late = true
		r.opts.Logger.Warn("A watch event has an old version", "accepted", believed, "err", err)
	}
	if !isBookmark {
		r.doubt.late = err
	}
	if believed {
		event.Unordered = true
		return r.apply(s, event)
	}
	r.record.update(func(st *Status) { st.Stale++ })
	if isBookmark && r.doubt.late == nil {
		return r.lateBookmark(s), nil
	}
	return r.look(s)
}

// lateBookmark starts a comparison after a late bookmark, at most once in pace.DoubtPause. No
// snapshot follows, and the next late event is handled as if the bookmark had not come.
func (r *Reflector[T]) lateBookmark(s *watching[T]) state[T] {
	if r.opts.SkipComparison || time.Since(r.doubt.looked) < pace.DoubtPause || time.Since(r.doubt.hinted) < pace.DoubtPause {
		return s
	}
	r.doubt.hinted = time.Now()
	return &comparing[T]{version: s.version, from: s.version, watch: s.watch}
}

// lateUnread handles a late event with an undecodable object. The sink does not get the event,
// because the object may have been decoded, or recreated, since then. The log names the object.
// After a deletion, a snapshot follows, because only a snapshot shows whether the object is gone.
func (r *Reflector[T]) lateUnread(s *watching[T], unread *listwatch.ObjectError) (state[T], error) {
	r.record.update(func(st *Status) { st.Stale++ })
	due := unread.Type == listwatch.Deleted && time.Since(r.doubt.looked) >= pace.DoubtPause
	if !s.late || due {
		s.late = true
		r.opts.Logger.Warn("A watch event has an old version", "accepted", false, "err", unread)
	}
	if unread.Type == listwatch.Deleted {
		r.doubt.late = fmt.Errorf("%w: %w", ErrLate, unread)
		return r.look(s)
	}
	return s, nil
}

// look starts a comparison and a snapshot because of a late event, at most once in pace.DoubtPause.
func (r *Reflector[T]) look(s *watching[T]) (state[T], error) {
	if time.Since(r.doubt.looked) < pace.DoubtPause {
		return s, nil
	}
	r.doubt.looked = time.Now()
	if !r.opts.SkipComparison {
		return &comparing[T]{version: s.version, from: s.version, watch: s.watch}, nil
	}
	s.watch.close()
	return r.atOnce(&r.watches, r.doubt.late, r.resnapshot()), r.doubt.late
}
