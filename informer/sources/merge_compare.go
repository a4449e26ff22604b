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

// errNotAgain ends a watch that was to begin with the last event that was told.
var errNotAgain = errors.New("the watch did not begin with the last event of the lost watch")

// compares reports whether the server's history is to be compared with what the part was
// told: it may have been restored from a backup since it was last heard.
func (p *partWatch[T]) compares() bool { return !p.listing && p.state.lost }

// from is the version from which the next watch begins.
func (p *partWatch[T]) from() string {
	if p.compares() {
		return cmp.Or(p.state.mark.Before(), p.version)
	}
	return p.version
}

// compareVersions returns an error if the server's version is behind the one through which
// the part has been told: it would be watched in silence until its versions have passed
// the old ones. A server that does not tell keeps nobody from watching. marked says that
// the watch has to begin with the last event, too.
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
		return p.listAll("the server has version %s, and %s has been told everything up to %s", current, p.health.names[p.part], p.version)
	case p.state.silent:
		return p.silence()
	}
	p.told, p.state.lost = true, marked
	return nil
}

// begin reads the event with which the watch has to begin if the server's history is the
// one that is known, which is told already.
func (p *partWatch[T]) begin(ctx context.Context, end context.CancelCauseFunc, stream listwatch.WatchStream[T]) error {
	late := time.AfterFunc(pace.CompareLimit, func() { end(errNotAgain) })
	defer late.Stop() // also where Next ends the goroutine
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
		return p.listAll("%s has another history: where %s was at version %s, it has %s at version %s",
			p.health.names[p.part], known.Key, known.Version, key, version)
	}
}

// forget gives up a mark that the server has forgotten. The next watch compares versions
// alone.
func (p *partWatch[T]) forget() error {
	p.state.mark = mark.Mark{}
	return errNotAgain
}

// silence is the error where the marked event did not come.
func (p *partWatch[T]) silence() error {
	return p.listAll("%s does not have the last event that it told", p.health.names[p.part])
}

// listAll is an error that has all parts listed.
func (p *partWatch[T]) listAll(why string, args ...any) error {
	return apierrors.NewResourceExpired("all parts are listed, as " + fmt.Sprintf(why, args...))
}
