package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/internal/mark"
	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// errNotAgain ends a watch that was to begin with the last delivered event.
var errNotAgain = errors.New("the new watch did not begin with the last event of the lost watch")

// compares reports whether the server's history must be compared with the delivered events: the
// server may have been restored from a backup since the watch was lost.
func (p *partWatch[T]) compares() bool { return !p.listing && p.state.lost }

// from is the version from which the next watch begins.
func (p *partWatch[T]) from() string {
	if p.compares() {
		return cmp.Or(p.state.mark.Before(), p.version)
	}
	return p.version
}

// compareVersions returns an error if the server's version is behind the version through which the
// part was delivered. A watch would then be silent until the server has passed the old versions. If
// the server does not send its version, the watch goes on. marked says that the watch also has to
// begin with the last delivered event.
func (p *partWatch[T]) compareVersions(ctx context.Context, marked bool) error {
	if !p.compares() || p.state.compared.Left() > 0 {
		return nil
	}
	p.state.compared.Step()
	if listwatch.Prepare(ctx, p.source) != nil { // before any deadline
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, pace.CompareLimit)
	defer cancel()
	current, err := versionOf(asking, p.source)
	switch {
	case err != nil:
		return nil
	case mark.Newer(p.version, current):
		p.state.other = true
		return p.listAll("the server is at version %s, but %s was read up to version %s", current, p.health.names[p.part], p.version)
	case p.state.silent:
		return p.silence()
	}
	p.told, p.state.lost = true, marked
	return nil
}

// begin reads the first event of the watch. If the server has the known history, this is the event
// that was delivered last.
func (p *partWatch[T]) begin(ctx context.Context, end context.CancelCauseFunc, stream listwatch.WatchStream[T]) error {
	late := time.AfterFunc(pace.CompareLimit, func() { end(errNotAgain) })
	defer late.Stop() // also if Next ends the goroutine
	for {
		event, err := stream.Next()
		key, version := event.Key, event.ResourceVersion
		unread, skipped := errors.AsType[*listwatch.ObjectError](err)
		switch {
		case skipped:
			key, version = unread.Key, unread.ResourceVersion
		case err == nil && event.Type == listwatch.Bookmark:
			continue
		}
		inTime := late.Stop()
		known := p.state.mark
		switch {
		case !inTime:
			p.state.mark = mark.Mark{}
			if p.told {
				return p.silence()
			}
			p.state.silent = true
			return errNotAgain
		case reflector.IsExpired(err):
			return p.forget()
		case err != nil && !skipped:
			return because(ctx, err)
		case key == known.Key && version == known.Version:
			p.state.lost = false
			return nil
		}
		p.state.other = true
		return p.listAll("%s has another history: in place of %s at version %s, the server has %s at version %s",
			p.health.names[p.part], known.Key, known.Version, key, version)
	}
}

// forget drops a mark that has expired on the server. The next watch compares only versions.
func (p *partWatch[T]) forget() error {
	p.state.mark = mark.Mark{}
	return errNotAgain
}

// silence returns the error for a marked event that did not arrive.
func (p *partWatch[T]) silence() error {
	return p.listAll("%s no longer has the last event that it sent", p.health.names[p.part])
}

// listAll returns an error that leads to a list of all parts.
func (p *partWatch[T]) listAll(why string, args ...any) error {
	return apierrors.NewResourceExpired("all parts are listed again, because " + fmt.Sprintf(why, args...))
}
