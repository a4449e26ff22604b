package reflector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kinform/kinform/internal/checkpoint"
	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/listwatch"
)

// defaultPageSize is how many objects a page has by default (RC-7).
const defaultPageSize = 500

// list requests one page. After the last page it hands all pages over.
//
// plain/reflector.go decodes each list whole: 626 MB of garbage for a relist of 20,000 pods. Here,
// the sink recognises unchanged objects by their version, before they are decoded: 7 MB
// (plain/README.md).
func (r *Reflector[T]) list(ctx context.Context, s *listing[T]) (state[T], error) {
	if s.token == "" {
		r.beginSnapshot()
	}
	meta, err := r.readPage(ctx, s)
	if err != nil {
		return r.listFailed(s, err)
	}
	if s.token == "" {
		// All pages have the same version. If the pages of an unusual server differ, a watch from
		// the first version misses nothing.
		s.version = meta.ResourceVersion
	}
	s.token = meta.Continue
	if s.token == "" {
		return r.handOver(s.items, s.undecodable, s.version, &connecting[T]{version: s.version})
	}
	// Only a server that reads its storage sends pages at version "0": request pages from now on
	// (RC-7).
	r.paged = r.paged || s.requestedVersion == "0"
	if s.tokens.repeats(s.token) {
		err := r.withSourceName(ErrPageRepeated)
		return r.retry(&r.snapshots, err, &listing[T]{requestedVersion: s.requestedVersion, unpaged: true}), err
	}
	return s, nil
}

// tokenCycle detects that the continue tokens of a list repeat. It works for lists of any length,
// and keeps only two tokens (Brent's method).
type tokenCycle struct {
	last, saved string
	n           int // tokens so far
}

// repeats records the next token, and reports whether the tokens repeat. It may notice a repetition
// only after twice as many pages as a comparison with all earlier tokens.
func (c *tokenCycle) repeats(token string) bool {
	if c.n > 0 && (token == c.last || token == c.saved) {
		return true
	}
	if c.n++; c.n&(c.n-1) == 0 {
		c.saved = token
	}
	c.last = token
	return false
}

// readPage adds the items of one page to s.
func (r *Reflector[T]) readPage(ctx context.Context, s *listing[T]) (listwatch.ListMeta, error) {
	// Prepare comes before any deadline, because it may wait for a login.
	if err := listwatch.Prepare(ctx, r.source); err != nil {
		return listwatch.ListMeta{}, causeOr(ctx, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.record.update(func(st *Status) { st.Pages++ })
	silence := newSilenceTimer(r.opts.ListProgressTimeout, cancel, r.withSourceName(ErrNoProgress))
	defer silence.stop()
	opts := r.listOptions(s)
	opts.IdleTimeout = listwatch.IdleTimeout{Limit: r.opts.ListProgressTimeout, Progress: silence.progress}
	stream, err := r.source.List(ctx, opts)
	if err != nil {
		return listwatch.ListMeta{}, causeOr(ctx, err)
	}
	defer stream.Close()
	r.snapshots.Reached()

	before := len(s.items)
	for {
		silence.wait()
		item, err := stream.Next()
		silence.received()
		err = contain.SafeError(err)
		undecodable, isUndecodable := errors.AsType[*listwatch.ObjectError](err)
		switch {
		case err == io.EOF: // not errors.Is: the error of a broken connection may wrap io.EOF
			meta := stream.Meta()
			r.pageReceived(len(s.items)-before, len(s.items), meta)
			return meta, nil
		case isUndecodable:
			r.reportUndecodable(Listing, undecodable)
			s.undecodable.add(undecodable)
			if undecodable.Key.Name == "" {
				continue
			}
			item = undecodableItem[T](undecodable)
		case err != nil:
			return listwatch.ListMeta{}, causeOr(ctx, err)
		}
		s.items = append(growForOne(s.items), item)
		r.itemReceived(item, len(s.items))
	}
}

// growForOne doubles the capacity of a full slice. append adds only a quarter to a long slice, and
// so allocates several times the memory that a long list needs.
func growForOne[T any](items []listwatch.Item[T]) []listwatch.Item[T] {
	if len(items) < cap(items) {
		return items
	}
	return slices.Grow(items, max(len(items), defaultPageSize))
}

// undecodableItem returns an item for an undecodable object. It shows the sink that the object
// exists, so that the sink keeps its state of the object.
func undecodableItem[T any](undecodable *listwatch.ObjectError) listwatch.Item[T] {
	return listwatch.Item[T]{Key: undecodable.Key, UIDHash: undecodable.UIDHash, State: listwatch.Undecodable}
}

// listOptions makes the options of one page. Later pages have no version, because the token
// contains it (RC-8). By default, a list with a limit gets exactly the requested version
// (KEP-2523), which the sink already has. So the options explicitly allow a newer version.
func (r *Reflector[T]) listOptions(s *listing[T]) listwatch.ListOptions {
	opts := listwatch.ListOptions{Known: r.known(), Continue: s.token, Bytes: &s.bytes}
	if s.token == "" {
		opts.ResourceVersion = s.requestedVersion
	}
	switch {
	case s.unpaged || r.opts.PageSize < 0:
	case r.opts.PageSize > 0:
		opts.Limit = r.opts.PageSize
	case s.requestedVersion == "" || s.requestedVersion == "0" || r.paged:
		opts.Limit = defaultPageSize
	}
	if opts.Limit > 0 && opts.ResourceVersion != "" && opts.ResourceVersion != "0" {
		opts.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	}
	return opts
}

// listFailed returns the next state after the failure of a page.
func (r *Reflector[T]) listFailed(s *listing[T], err error) (state[T], error) {
	switch {
	case errors.Is(err, ErrOtherHistory) && !r.historyCheck.otherHistory:
		return r.sourceHasOtherHistory(err)
	case IsExpired(err) && s.token != "" && !s.unpaged: // RC-8
		return r.retryAtOnce(&r.snapshots, err, &listing[T]{requestedVersion: s.requestedVersion, unpaged: true}), err
	case RefusesVersion(err) && s.requestedVersion != "":
		// RC-5. The version may also be invalid, or the server may not know resourceVersionMatch.
		return r.retryAtOnce(&r.snapshots, err, &listing[T]{requestedVersion: ""}), err
	default:
		return r.retry(&r.snapshots, err, &listing[T]{requestedVersion: s.requestedVersion}), err
	}
}

// sourceHasOtherHistory returns the next state after a source reported another history. This state
// takes a snapshot of the most recent state, as if the sink were empty.
func (r *Reflector[T]) sourceHasOtherHistory(err error) (state[T], error) {
	r.historyCheck.otherHistory = true
	// The source has requested the most recent state.
	r.outdated = outdatedSnapshots{times: outdatedLimit - 1}
	return r.retryAtOnce(&r.snapshots, err, r.snapshot("")), err
}

// handOver hands a whole snapshot over to the sink. It refuses a snapshot that is older than the
// sink's version, unless there were enough consecutive ones; see outdatedSnapshots. The argument
// next is the state that follows.
func (r *Reflector[T]) handOver(items []listwatch.Item[T], undecodable undecodableSet, version string, next state[T]) (state[T], error) {
	var timeTravelErr error
	if older(version, r.version) {
		timeTravelErr = fmt.Errorf("%w: version %s, but the sink has everything up to version %s", ErrTimeTravel, version, r.version)
		if !r.opts.AllowTimeTravel && !r.outdated.accepts(version) {
			r.stop(next)
			return r.retry(&r.snapshots, timeTravelErr, r.snapshot("")), timeTravelErr
		}
		if !r.historyCheck.otherHistory && slices.ContainsFunc(items, isRecognised) {
			// Some items of this list may be Unchanged only because the sink recognised their
			// versions. List once more, and decode all items.
			r.historyCheck.otherHistory = true
			r.stop(next)
			return r.retryAtOnce(&r.snapshots, timeTravelErr, r.snapshot("")), timeTravelErr
		}
		r.historyCheck.otherHistory = true
		timeTravelErr = fmt.Errorf("%w; the server has confirmed this version, so the reflector accepts the snapshot", timeTravelErr)
		if r.opts.AllowTimeTravel {
			timeTravelErr = nil
		}
	}
	r.outdated = outdatedSnapshots{}
	if err := r.addSnapshotUndecodable(undecodable); err != nil {
		r.stop(next)
		return r.retry(&r.snapshots, err, r.resnapshot()), err
	}
	listed := len(items)
	snapshot := listwatch.Snapshot[T]{Items: items, ResourceVersion: version, NamesMissing: undecodable.nameless > 0, OtherHistory: r.historyCheck.otherHistory}
	if err := r.sink.Replace(snapshot); err != nil {
		r.stop(next)
		return r.retry(&r.snapshots, err, r.resnapshot()), fmt.Errorf("sink: %w", err)
	}
	if r.synced {
		r.replaceUndecodable(undecodable)
	}
	r.historyCheck.reset()
	r.checkpoint = checkpoint.Checkpoint{}
	// If the snapshot has no version, use the requested one: the snapshot is not older.
	r.version, r.synced = cmp.Or(version, r.version), true
	r.succeeded(&r.snapshots)
	r.record.update(func(st *Status) {
		st.Synced = true
		st.LastListAt = time.Now()
		st.ResourceVersion = r.version
		st.Items = listed
		st.Total = int64(listed)
	})
	return next, timeTravelErr
}

// isRecognised reports whether the sink recognised this item by its version, so that the source did
// not decode it.
func isRecognised[T any](item listwatch.Item[T]) bool {
	return item.State == listwatch.Unchanged
}

// outdatedLimit is the number of consecutive outdated snapshots after which the reflector accepts
// one. A server that lags behind catches up meanwhile. From the second snapshot on, the reflector
// requests the most recent state, which no server takes from a cache.
const outdatedLimit = 6

// outdatedSnapshots counts the consecutive snapshots that were older than the sink's version.
type outdatedSnapshots struct {
	version string // of the last refused snapshot
	times   int
}

// accepts counts one more outdated snapshot, and reports whether the reflector accepts it. If its
// version is lower than the previous one, several servers contradict each other, and the count
// starts again.
func (o *outdatedSnapshots) accepts(version string) bool {
	if older(version, o.version) {
		o.times = 0
	}
	o.version = version
	o.times++
	return o.times >= outdatedLimit
}

// older reports whether a is older than b. It returns false if they cannot be compared.
func older(a, b string) bool {
	c, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && c < 0
}
