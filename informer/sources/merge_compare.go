package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/internal/checkpoint"
	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// errNotRepeated ends a watch that did not begin with the last delivered event.
var errNotRepeated = errors.New("the new watch did not begin with the last event of the lost watch")

// mustCompare reports whether the server's history must be compared with the delivered events: the
// server may have been restored from a backup since the watch was lost.
func (p *partWatch[T]) mustCompare() bool { return !p.listing && p.state.lost }

// from is the version from which the next watch begins.
func (p *partWatch[T]) from() string {
	if p.mustCompare() {
		return cmp.Or(p.state.checkpoint.Before(), p.version)
	}
	return p.version
}

// compareVersions returns an error if the server's version is behind the version through which the
// part was delivered. A watch would then be silent until the server has passed the old versions. If
// the server does not send its version, the watch goes on. hasCheckpoint says that the watch must
// also begin with the last delivered event.
func (p *partWatch[T]) compareVersions(ctx context.Context, hasCheckpoint bool) error {
	if !p.mustCompare() || p.state.compareSpacer.Remaining() > 0 {
		return nil
	}
	p.state.compareSpacer.Step()
	if listwatch.Prepare(ctx, p.source) != nil { // before any deadline
		return nil
	}
	requestCtx, cancel := context.WithTimeout(ctx, pace.HistoryCheckTimeout)
	defer cancel()
	current, err := versionOf(requestCtx, p.source)
	switch {
	case err != nil:
		return nil
	case checkpoint.Newer(p.version, current):
		p.state.otherHistory = true
		return p.listAll("the server is at version %s, but %s was read up to version %s", current, p.health.names[p.part], p.version)
	case p.state.eventMissed:
		return p.eventMissing()
	}
	p.versionConfirmed, p.state.lost = true, hasCheckpoint
	return nil
}

// checkFirstEvent reads the first event of the watch. If the server has the known history, the
// first event is the event that was delivered last.
func (p *partWatch[T]) checkFirstEvent(ctx context.Context, end context.CancelCauseFunc, stream listwatch.WatchStream[T]) error {
	timeout := time.AfterFunc(pace.HistoryCheckTimeout, func() { end(errNotRepeated) })
	defer timeout.Stop() // also if Next ends the goroutine
	for {
		event, err := stream.Next()
		key, version := event.Key, event.ResourceVersion
		undecodable, skipped := errors.AsType[*listwatch.ObjectError](err)
		switch {
		case skipped:
			key, version = undecodable.Key, undecodable.ResourceVersion
		case err == nil && event.Type == listwatch.Bookmark:
			continue
		}
		inTime := timeout.Stop()
		known := p.state.checkpoint
		switch {
		case !inTime:
			p.state.checkpoint = checkpoint.Checkpoint{}
			if p.versionConfirmed {
				return p.eventMissing()
			}
			p.state.eventMissed = true
			return errNotRepeated
		case reflector.IsExpired(err):
			return p.dropCheckpoint()
		case err != nil && !skipped:
			return causeOr(ctx, err)
		case key == known.Key && version == known.Version:
			p.state.lost = false
			return nil
		}
		p.state.otherHistory = true
		return p.listAll("%s has another history: in place of %s at version %s, the server has %s at version %s",
			p.health.names[p.part], known.Key, known.Version, key, version)
	}
}

// dropCheckpoint drops a checkpoint whose version has expired on the server. The next watch
// compares only versions.
func (p *partWatch[T]) dropCheckpoint() error {
	p.state.checkpoint = checkpoint.Checkpoint{}
	return errNotRepeated
}

// eventMissing returns the error for a checkpoint event that did not arrive.
func (p *partWatch[T]) eventMissing() error {
	return p.listAll("%s no longer has the last event that it sent", p.health.names[p.part])
}

// listAll returns an error that leads to a list of all parts.
func (p *partWatch[T]) listAll(why string, args ...any) error {
	return apierrors.NewResourceExpired("all parts are listed again, because " + fmt.Sprintf(why, args...))
}
