package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kinform/kinform/internal/checkpoint"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"k8s.io/apimachinery/pkg/types"
)

// List implements listwatch.Source. The first page has the first pages of all parts. The next page
// has the second pages of the parts that have one, and so on.
func (m *merged[T]) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[T], error) {
	if opts.VersionOnly && len(m.parts) > 0 {
		return m.version(ctx, opts)
	}
	if opts.Known != nil && m.hasOtherHistory() {
		return nil, errOtherHistory
	}
	l := &mergedList[T]{merged: m, opts: opts}
	if opts.Continue == "" {
		m.listed = nil
		m.inProgress = m.newState()
		m.inProgress.requestedVersion = opts.ResourceVersion
		for part := range m.parts {
			l.due = append(l.due, partPage{part: part})
		}
	} else {
		var err error
		if l.due, err = decodePages(opts.Continue, len(m.parts)); err != nil || m.inProgress == nil {
			return nil, fmt.Errorf("sources: %q is not a continue token of this merged source", opts.Continue)
		}
	}
	if opts.Bytes == nil {
		l.opts.Bytes = new(atomic.Int64)
	}
	if v := opts.ResourceVersion; v != "" && v != "0" && m.delivered != nil {
		// A list is as old as its oldest part, so no part's list may be older than anything
		// delivered.
		for _, at := range m.delivered.versions {
			if checkpoint.Newer(at, l.opts.ResourceVersion) {
				l.opts.ResourceVersion = at
			}
		}
	}
	l.ctx, l.cancel = context.WithCancel(ctx)
	l.opened = make(chan *openList[T], m.window)
	l.openMore()
	if err := l.nextPart(); err != nil && err != io.EOF {
		_ = l.Close() // The list is not needed any more.
		return nil, err
	}
	return l, nil
}

// partPage identifies a page of the list of one part.
type partPage struct {
	part  int
	token string // "" for the first page
}

// encodePages encodes the pages that follow as a continue token.
func encodePages(pages []partPage) string {
	var b strings.Builder
	for _, page := range pages {
		fmt.Fprintf(&b, "%d %d %s", page.part, len(page.token), page.token)
	}
	return b.String()
}

// decodePages decodes the token of encodePages.
func decodePages(token string, parts int) (pages []partPage, err error) {
	for token != "" {
		part, rest, _ := strings.Cut(token, " ")
		size, rest, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(part)
		length, err2 := strconv.Atoi(size)
		if err != nil || err2 != nil || n < 0 || n >= parts || length < 1 || length > len(rest) {
			return nil, errors.New("no token")
		}
		pages = append(pages, partPage{n, rest[:length]})
		token = rest[length:]
	}
	return pages, nil
}

// mergedList is a page of a list of all parts. Several parts are requested at the same time, and
// read one after another in the order of their responses.
type mergedList[T any] struct {
	*merged[T]
	ctx    context.Context
	cancel context.CancelFunc
	opts   listwatch.ListOptions

	due      []partPage // still to be requested
	inFlight int        // requested and not yet read
	openers  sync.WaitGroup
	opened   chan *openList[T] // has room for all lists in flight

	current     *openList[T]
	kept        []listwatch.Item[T] // unchanged items of a part that failed
	undecodable []*listwatch.ObjectError
	next        []partPage
	failed      []error
	meta        listwatch.ListMeta
	err         error // the final error
}

// openList is a part's response to a list, or its error.
type openList[T any] struct {
	partPage
	stream  listwatch.ListStream[T]
	err     error
	cancel  context.CancelCauseFunc
	ctx     context.Context
	silence *silenceTimer
}

// openMore requests as many lists as the window permits.
func (l *mergedList[T]) openMore() {
	for ; l.inFlight < l.window && len(l.due) > 0; l.inFlight++ {
		o := &openList[T]{partPage: l.due[0]}
		l.due = l.due[1:]
		o.ctx, o.cancel = context.WithCancelCause(l.ctx)
		opts := l.opts
		if opts.Continue = o.token; o.token != "" {
			opts.ResourceVersion, opts.ResourceVersionMatch = "", ""
		}
		source := l.parts[o.part]
		l.openers.Go(func() {
			o.silence = newSilenceTimer(opts.IdleTimeout, func() { o.cancel(reflector.ErrNoProgress) })
			opts.IdleTimeout.Progress = o.silence.progress
			defer func() {
				o.silence.received()
				l.opened <- o
			}()
			reportGoexit(func() { o.stream, o.err = source.List(o.ctx, opts) }, func(err error) { o.stream, o.err = nil, err })
		})
	}
}

// nextPart waits for the next response, and makes it the current one. It returns io.EOF if no part
// is left.
func (l *mergedList[T]) nextPart() error {
	for l.current == nil && l.inFlight > 0 {
		select {
		case o := <-l.opened:
			l.current = o
			if o.err != nil {
				l.partEnded(o.err)
			}
		case <-l.ctx.Done():
			l.err = l.ctx.Err()
		}
		if l.err != nil {
			return l.err
		}
	}
	if l.current == nil && len(l.kept)+len(l.undecodable) == 0 {
		l.err = l.finish()
	}
	return l.err
}

// Next implements listwatch.ListStream.
func (l *mergedList[T]) Next() (item listwatch.Item[T], err error) {
	for l.err == nil {
		if last := len(l.kept) - 1; last >= 0 {
			item, l.kept = l.kept[last], l.kept[:last]
			return item, nil
		}
		if last := len(l.undecodable) - 1; last >= 0 {
			err, l.undecodable = l.undecodable[last], l.undecodable[:last]
			return item, err
		}
		o := l.current
		if o == nil {
			_ = l.nextPart() // sets l.err
			continue
		}
		o.silence.wait()
		item, err := o.stream.Next()
		o.silence.received()
		undecodable, skipped := errors.AsType[*listwatch.ObjectError](err)
		switch {
		case err == nil:
			l.inProgress.objects[item.Key] = deliveredObject{o.part, item.ResourceVersion, item.UIDHash}
			return item, nil
		case skipped:
			if old, ok := l.deliveredObject(undecodable.Key); ok {
				l.inProgress.objects[undecodable.Key] = old // unchanged
			}
			l.inProgress.undecodable[o.part].add(undecodable)
			return item, err
		}
		l.partEnded(err)
	}
	return item, l.err
}

// listed records a list of the part. byVersion says that the list reused known objects by version:
// such a list cannot detect changed content at a known version.
func (s *partState) listed(byVersion bool) {
	if !byVersion {
		s.checkpoint, s.otherHistory = checkpoint.Checkpoint{}, false
	}
	s.lost, s.eventMissed = s.lost && s.checkpoint.Before() != "", false
}

func (l *mergedList[T]) deliveredObject(key types.NamespacedName) (deliveredObject, bool) {
	if l.delivered == nil {
		return deliveredObject{}, false
	}
	object, ok := l.delivered.objects[key]
	return object, ok
}

// partEnded records how the current part has ended, and starts the next one.
func (l *mergedList[T]) partEnded(err error) {
	o := l.current
	l.current = nil
	l.inFlight--
	opened := o.stream != nil
	if opened && err == io.EOF {
		meta := o.stream.Meta()
		l.meta.Bytes += meta.Bytes
		l.meta.RemainingItemCount += meta.RemainingItemCount
		if o.token == "" {
			l.inProgress.versions[o.part] = meta.ResourceVersion
		}
		if meta.Continue != "" {
			l.next = append(l.next, partPage{o.part, meta.Continue})
		} else {
			state := &l.states[o.part]
			state.unlisted, state.lists = false, failureStreak{}
			state.listed(l.opts.Known != nil)
			l.health.listed(o.part)
			if state.watches.Failures() == 0 {
				l.health.recovered(o.part)
			}
		}
	} else if err = o.reason(err); opened {
		l.window = max(1, l.window/2)
	}
	o.close()
	if l.opts.IdleTimeout.Progress != nil {
		l.opts.IdleTimeout.Progress()
	}
	if err != io.EOF {
		l.err = l.partFailed(o, err)
	}
	if l.err == nil {
		l.openMore()
	}
}

// partFailed decides whether the list can continue without a part. If so, the part's delivered
// objects stay. Otherwise it returns the error of the list.
func (l *mergedList[T]) partFailed(o *openList[T], err error) error {
	switch {
	case l.ctx.Err() != nil:
		return l.ctx.Err()
	case reflector.IsExpired(err) && o.token != "",
		l.inProgress.requestedVersion != "" && reflector.RefusesVersion(err),
		errors.Is(err, listwatch.ErrListTooLarge):
		return l.withPartName(o.part, err) // The reflector handles this in another way.
	}
	known := l.delivered != nil && l.delivered.objects != nil
	missing := !known || l.delivered.missing[o.part]
	if !known && (l.merged.opts.Tolerate == nil || !l.merged.opts.Tolerate(err)) {
		return l.withPartName(o.part, err)
	}
	l.failed = append(l.failed, l.withPartName(o.part, err))
	state := &l.states[o.part]
	state.unlisted = true
	state.lists.failed(err, l.merged.opts.Backoff)
	l.health.failed(o.part, err, true, missing)
	l.inProgress.versions[o.part], l.inProgress.missing[o.part] = "", missing
	if missing {
		return nil
	}
	l.inProgress.versions[o.part] = l.delivered.versions[o.part]
	keys, undecodable := l.inProgress.keep(o.part, l.delivered)
	for _, key := range keys {
		object := l.inProgress.objects[key]
		l.kept = append(l.kept, listwatch.Item[T]{Key: key, ResourceVersion: object.version, UIDHash: object.uid, State: listwatch.Unchanged})
	}
	l.undecodable = append(l.undecodable, undecodable...)
	return nil
}

// finish ends the page or the list.
func (l *mergedList[T]) finish() error {
	if len(l.failed) == len(l.parts) && len(l.parts) > 0 {
		return l.failed[0]
	}
	version, ok := oldest(l.inProgress.versions)
	if !ok {
		return errMergeVersions
	}
	if l.opts.Continue == "" {
		l.inProgress.version = version
	}
	l.meta.ResourceVersion = l.inProgress.version
	if l.meta.Continue = encodePages(l.next); l.meta.Continue == "" {
		l.listed, l.inProgress = l.inProgress, nil
		l.listAllDue = false
		l.window = min(l.window+1, l.merged.opts.AtOnce)
	}
	return io.EOF
}

// Meta implements listwatch.ListStream.
func (l *mergedList[T]) Meta() listwatch.ListMeta { return l.meta }

// Close implements listwatch.ListStream.
func (l *mergedList[T]) Close() error {
	l.cancel()
	l.openers.Wait()
	for {
		select {
		case o := <-l.opened:
			o.close()
			continue
		default:
		}
		break
	}
	if l.current != nil {
		l.current.close()
		l.current = nil
	}
	if l.err == nil {
		l.err = context.Canceled
	}
	return nil
}

// reason returns why the list of the part ended with err.
func (o *openList[T]) reason(err error) error {
	if cause := context.Cause(o.ctx); errors.Is(cause, reflector.ErrNoProgress) {
		return cause
	}
	return err
}

func (o *openList[T]) close() {
	o.silence.stop()
	if o.stream != nil {
		_ = o.stream.Close() // It has been read, or is not needed any more.
	}
	o.cancel(nil)
}
