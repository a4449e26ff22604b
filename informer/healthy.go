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
	// for too long; see [MergeWith].
	ErrPart = errors.New("a part of the source cannot be read")

	// ErrNotSynced is what Healthy says, wrapped, before the first list is complete.
	ErrNotSynced = errors.New("the first list is not complete yet")
)

// Healthy is for a health check: it is nil if the informer runs, is synced, and
// something was heard from the server within maxStaleness, be it a list, an event
// or a bookmark, and no part of it (see [MergeWith]) has failed for longer. Otherwise
// the error says what is wrong, since when and why; it wraps [ErrStale], [ErrPart],
// [ErrStopped] or, in a [*SyncError], [ErrNotSynced], and the last error of the
// reflector or of the part while that is failing.
//
// A server sends a bookmark about once a minute where nothing else happens, so
// that less than two minutes make a false alarm likely. Some resources have no
// bookmarks (events, and those of many aggregated servers): where these are quiet,
// silence is no news.
//
// To restart a process because its server cannot be reached helps nobody: the
// place for this is a readiness rather than a liveness check, unless maxStaleness
// is long.
func (i *Informer[T]) Healthy(maxStaleness time.Duration) error {
	return i.Status().healthy(isClosed(i.stopped), maxStaleness)
}

func (s Status) healthy(stopped bool, maxStaleness time.Duration) error {
	r := s.Reflector
	heard := r.LastListAt
	if r.LastEventAt.After(heard) {
		heard = r.LastEventAt
	}
	var err error
	switch {
	case stopped:
		err = ErrStopped
	case !s.Synced:
		return &SyncError{Status: s, Err: ErrNotSynced}
	case heard.IsZero():
		return nil // The first list is in the store; the reflector is about to note it.
	case time.Since(heard) > maxStaleness:
		err = ErrStale
	default:
		return s.partsHealthy(maxStaleness)
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

// partsHealthy names the parts of the source that have failed for too long. One that has
// been missing from the start is not among them: that was tolerated.
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
