package informer

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrStale is what Healthy says, wrapped, when the server has not been heard for
	// too long.
	ErrStale = errors.New("the server has not been heard for too long")

	// ErrPart is what Healthy says, wrapped, when a part of a merged source has failed
	// for too long; see sources.MergeWith.
	ErrPart = errors.New("a part of the source cannot be read")

	// ErrNotSynced is what Healthy says, wrapped, before the first list is complete.
	ErrNotSynced = errors.New("the first list is not complete yet")
)

// Healthy is for a health check: it is nil if the informer runs, is synced, and
// something was heard from the server within maxStaleness, be it a list, an event
// or a bookmark, and no part of it (see sources.MergeWith) has failed for longer. Otherwise
// the error says what is wrong, since when and why; it wraps [ErrStale], [ErrPart],
// [ErrStopped] or, in a [*SyncError], [ErrNotSynced], and the last error of the
// reflector or of the part while that is failing.
//
// Nor is an informer healthy that lacks objects, or has them in an older state than the
// server, because they cannot be read or an index function refuses them: the error then
// wraps reflector.ErrUnreadable and names them. It is over when they can be read, or are
// gone. Where reflector.Options.SkipUnreadable is set, only Status tells.
//
// A server sends a bookmark about once a minute where nothing else happens, so
// that less than two minutes make a false alarm likely. Some resources have no
// bookmarks (events, and those of many aggregated servers): where these are quiet,
// that nothing is heard says nothing.
//
// To restart a process because its server cannot be reached helps nobody: the
// place for this is a readiness rather than a liveness check, unless maxStaleness
// is long.
func (i *Informer[T]) Healthy(maxStaleness time.Duration) error {
	return i.Status().healthy(maxStaleness)
}

func (s Status) healthy(maxStaleness time.Duration) error {
	r := s.Reflector
	heard := r.LastListAt
	if r.LastEventAt.After(heard) {
		heard = r.LastEventAt
	}
	var err error
	switch {
	case s.Stopped:
		err = ErrStopped
	case !s.Synced:
		return &SyncError{Status: s, Err: ErrNotSynced}
	case heard.IsZero():
		return nil // The first list is in the store; the reflector is about to note it.
	case time.Since(heard) > maxStaleness:
		err = ErrStale
	default:
		return s.completelyHealthy(maxStaleness)
	}
	text := fmt.Sprintf("last heard %v ago, %v since %s", time.Since(heard).Round(time.Millisecond), r.Phase, r.Since.Format("15:04:05.000"))
	if heard.IsZero() {
		text = "never heard"
	}
	if r.Failures == 0 {
		return fmt.Errorf("informer %s is not healthy: %w (%s)", s.Name, err, text)
	}
	return fmt.Errorf("informer %s is not healthy: %w (%s): last error: %w", s.Name, err, text, r.LastError)
}

// completelyHealthy says what is missing of an informer that is in step with its server.
func (s Status) completelyHealthy(maxStaleness time.Duration) error {
	err := s.Unreadable.Err()
	if err == nil || s.SkipUnreadable {
		return s.partsHealthy(maxStaleness)
	}
	err = fmt.Errorf("informer %s is not healthy: %w", s.Name, err)
	if parts := s.partsHealthy(maxStaleness); parts != nil {
		return errors.Join(err, parts)
	}
	return err
}

// partsHealthy names the parts of the source that have failed for too long. A part that has
// been missing from the start is not among them: Tolerate allows that.
func (s Status) partsHealthy(maxStaleness time.Duration) error {
	var failing []error
	for _, part := range s.Parts {
		if since := time.Since(part.Since); !part.Missing && since > maxStaleness {
			failing = append(failing, fmt.Errorf("%w: %s, failing for %v: %w", ErrPart, part.Part, since.Round(time.Millisecond), part.Err))
		}
	}
	if failing == nil {
		return nil
	}
	return fmt.Errorf("informer %s is not healthy: %w", s.Name, errors.Join(failing...))
}
