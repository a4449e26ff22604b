package informer

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrStale is wrapped by the error of Healthy if nothing has arrived from the server for too
	// long.
	ErrStale = errors.New("nothing has arrived from the server for too long")

	// ErrPart is wrapped by the error of Healthy if a part of a merged source has failed for too
	// long; see sources.MergeWith.
	ErrPart = errors.New("a part of the source cannot be read")

	// ErrNotSynced is wrapped by the error of Healthy before the first list is complete.
	ErrNotSynced = errors.New("the first list is not complete yet")
)

// Healthy is for a health check. It returns nil if the informer runs, is synced, and has received a
// list, an event or a bookmark within maxStaleness. No part (see sources.MergeWith) may have failed
// for longer than maxStaleness. Otherwise the error says what is wrong, since when and why. The
// error wraps [ErrStale], [ErrPart], [ErrStopped] or, in a [*SyncError], [ErrNotSynced]. The error
// also wraps the last error of the reflector, or of the part, while the reflector or the part is
// failing.
//
// An informer is also unhealthy while objects are missing or out of date because they cannot be
// decoded, or because an index function refuses them. The error then wraps reflector.ErrUndecodable
// and names the objects. The informer is healthy again when they are stored or deleted. If
// reflector.Options.SkipUndecodable is set, only Status reports them.
//
// A server sends a bookmark about once a minute, even if nothing else happens. So a maxStaleness
// under two minutes makes a false alarm likely. Some resources have no bookmarks (events, and many
// resources of aggregated servers). If such a resource is quiet, silence is not a failure.
//
// A restart of the process does not help if the server cannot be reached. So use Healthy for a
// readiness check; for a liveness check maxStaleness must be long.
func (i *Informer[T]) Healthy(maxStaleness time.Duration) error {
	return i.Status().healthy(maxStaleness)
}

func (s Status) healthy(maxStaleness time.Duration) error {
	r := s.Reflector
	lastContact := r.LastListAt
	if r.LastEventAt.After(lastContact) {
		lastContact = r.LastEventAt
	}
	var err error
	switch {
	case s.Stopped:
		err = ErrStopped
	case !s.Synced:
		return &SyncError{Status: s, Err: ErrNotSynced}
	case lastContact.IsZero():
		return nil // The first list is in the store, and the reflector is about to record it.
	case time.Since(lastContact) > maxStaleness:
		err = ErrStale
	default:
		return s.contentHealthy(maxStaleness)
	}
	text := fmt.Sprintf("last heard %v ago, %v since %s", time.Since(lastContact).Round(time.Millisecond), r.Phase, r.Since.Format("15:04:05.000"))
	if lastContact.IsZero() {
		text = "never heard"
	}
	if r.Failures == 0 {
		return fmt.Errorf("informer %s is not healthy: %w (%s)", s.Name, err, text)
	}
	return fmt.Errorf("informer %s is not healthy: %w (%s): last error: %w", s.Name, err, text, r.LastError)
}

// contentHealthy is the last check of Healthy, for an informer that is synced and has received
// something from the server in time. It checks for undecodable objects and failed parts.
func (s Status) contentHealthy(maxStaleness time.Duration) error {
	err := s.Undecodable.Err()
	if err == nil || s.SkipUndecodable {
		return s.partsHealthy(maxStaleness)
	}
	err = fmt.Errorf("informer %s is not healthy: %w", s.Name, err)
	if parts := s.partsHealthy(maxStaleness); parts != nil {
		return errors.Join(err, parts)
	}
	return err
}

// partsHealthy names the parts of the source that have failed for too long. A part that has been
// missing from the start does not count, because Tolerate allows it.
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
