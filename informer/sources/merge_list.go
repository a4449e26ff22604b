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

	"github.com/kinform/kinform/internal/mark"
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
	if opts.Known != nil && m.isOther() {
		return nil, errOtherPart
	}
	l := &mergedList[T]{merged: m, opts: opts}
	if opts.Continue == "" {
		m.listed = nil
		m.making = m.newState()
		m.making.asked = opts.ResourceVersion
		for part := range m.parts {
			l.due = append(l.due, partPage{part: part})
		}
	} else {
		var err error
		if l.due, err = readPages(opts.Continue, len(m.parts)); err != nil || m.making == nil {
			return nil, fmt.Errorf("sources: %q is not a continue token of this merged source", opts.Continue)
		}
	}
	if opts.Bytes == nil {
		l.opts.Bytes = new(atomic.Int64)
	}
	if v := opts.ResourceVersion; v != "" && v != "0" && m.told != nil {
		// A list is as old as its oldest part, so no part's list may be older than anything
		// delivered.
		for _, at := range m.told.at {
			if mark.Newer(at, l.opts.ResourceVersion) {
				l.opts.ResourceVersion = at
			}
		}
	}
	l.ctx, l.cancel = context.WithCancel(ctx)
	l.opened = make(chan *openList[T], m.window)
	l.openMore()
	if err := l.take(); err != nil && err != io.EOF {
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

// writePages encodes the pages that follow as a continue token.
func writePages(pages []partPage) string {
	var b strings.Builder
	for _, page := range pages {
		fmt.Fprintf(&b, "%d %d %s", page.part, len(page.token), page.token)
	}
	return b.String()
}

// readPages decodes the token of writePages.
func readPages(token string, parts int) (pages []partPage, err error) {
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

	due     []partPage // still to be requested
	asking  int        // requested and not yet read
	openers sync.WaitGroup
	opened  chan *openList[T] // has room for all of them

	current *openList[T]
	kept    []listwatch.Item[T] // unchanged items of a part that failed
	unread  []*listwatch.ObjectError
	next    []partPage
	failed  []error
	meta    listwatch.ListMeta
	err     error // the final error
}

// openList is a part's response to a list, or its error.
type openList[T any] struct {
	partPage
	stream   listwatch.ListStream[T]
	err      error
	cancel   context.CancelCauseFunc
	ctx      context.Context
	listener *listener
}

// openMore requests as many lists as the window permits.
func (l *mergedList[T]) openMore() {
	for ; l.asking < l.window && len(l.due) > 0; l.asking++ {
		o := &openList[T]{partPage: l.due[0]}
		l.due = l.due[1:]
		o.ctx, o.cancel = context.WithCancelCause(l.ctx)
		opts := l.opts
		if opts.Continue = o.token; o.token != "" {
			opts.ResourceVersion, opts.ResourceVersionMatch = "", ""
		}
		source := l.parts[o.part]
		l.openers.Go(func() {
			o.listener = listenTo(opts.Patience, func() { o.cancel(reflector.ErrNoProgress) })
			opts.Patience.Progress = o.listener.progress
			defer func() {
				o.listener.heard()
				l.opened <- o
			}()
			toldAnyway(func() { o.stream, o.err = source.List(o.ctx, opts) }, func(err error) { o.stream, o.err = nil, err })
		})
	}
}

// take waits for the next response, and makes it the current one. It returns io.EOF if no part is
// left.
func (l *mergedList[T]) take() error {
	for l.current == nil && l.asking > 0 {
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
	if l.current == nil && len(l.kept)+len(l.unread) == 0 {
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
		if last := len(l.unread) - 1; last >= 0 {
			err, l.unread = l.unread[last], l.unread[:last]
			return item, err
		}
		o := l.current
		if o == nil {
			_ = l.take() // sets l.err
			continue
		}
		o.listener.wait()
		item, err := o.stream.Next()
		o.listener.heard()
		unread, skipped := errors.AsType[*listwatch.ObjectError](err)
		switch {
		case err == nil:
			l.making.objects[item.Key] = toldObject{o.part, item.ResourceVersion, item.UIDHash}
			return item, nil
		case skipped:
			if old, ok := l.toldObject(unread.Key); ok {
				l.making.objects[unread.Key] = old // unchanged
			}
			l.making.unread[o.part].add(unread)
			return item, err
		}
		l.partEnded(err)
	}
	return item, l.err
}

// listed records a list of the part. byVersion says that the list reused known objects by version:
// such a list cannot detect other content under a known version.
func (s *partState) listed(byVersion bool) {
	if !byVersion {
		s.mark, s.other = mark.Mark{}, false
	}
	s.lost, s.silent = s.lost && s.mark.Before() != "", false
}

func (l *mergedList[T]) toldObject(key types.NamespacedName) (toldObject, bool) {
	if l.told == nil {
		return toldObject{}, false
	}
	object, ok := l.told.objects[key]
	return object, ok
}

// partEnded records how the current part has ended, and starts the next one.
func (l *mergedList[T]) partEnded(err error) {
	o := l.current
	l.current = nil
	l.asking--
	opened := o.stream != nil
	if opened && err == io.EOF {
		meta := o.stream.Meta()
		l.meta.Bytes += meta.Bytes
		l.meta.RemainingItemCount += meta.RemainingItemCount
		if o.token == "" {
			l.making.at[o.part] = meta.ResourceVersion
		}
		if meta.Continue != "" {
			l.next = append(l.next, partPage{o.part, meta.Continue})
		} else {
			state := &l.states[o.part]
			state.unlisted, state.lists = false, failureRow{}
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
	if l.opts.Patience.Progress != nil {
		l.opts.Patience.Progress()
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
		l.making.asked != "" && reflector.RefusesVersion(err),
		errors.Is(err, listwatch.ErrListTooLarge):
		return l.about(o.part, err) // The reflector handles this in another way.
	}
	knows := l.told != nil && l.told.objects != nil
	missing := !knows || l.told.missing[o.part]
	if !knows && (l.merged.opts.Tolerate == nil || !l.merged.opts.Tolerate(err)) {
		return l.about(o.part, err)
	}
	l.failed = append(l.failed, l.about(o.part, err))
	state := &l.states[o.part]
	state.unlisted = true
	state.lists.failed(err, l.merged.opts.Backoff)
	l.health.failed(o.part, err, true, missing)
	l.making.at[o.part], l.making.missing[o.part] = "", missing
	if missing {
		return nil
	}
	l.making.at[o.part] = l.told.at[o.part]
	keys, unread := l.making.keep(o.part, l.told)
	for _, key := range keys {
		object := l.making.objects[key]
		l.kept = append(l.kept, listwatch.Item[T]{Key: key, ResourceVersion: object.version, UIDHash: object.uid, Unchanged: true})
	}
	l.unread = append(l.unread, unread...)
	return nil
}

// finish ends the page or the list.
func (l *mergedList[T]) finish() error {
	if len(l.failed) == len(l.parts) && len(l.parts) > 0 {
		return l.failed[0]
	}
	version, ok := oldest(l.making.at)
	if !ok {
		return errMergeVersions
	}
	if l.opts.Continue == "" {
		l.making.given = version
	}
	l.meta.ResourceVersion = l.making.given
	if l.meta.Continue = writePages(l.next); l.meta.Continue == "" {
		l.listed, l.making = l.making, nil
		l.late = false
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
	o.listener.stop()
	if o.stream != nil {
		_ = o.stream.Close() // It has been read, or is not needed any more.
	}
	o.cancel(nil)
}
