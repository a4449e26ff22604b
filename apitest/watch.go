package apitest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// Reasons to end an open watch.
var (
	errDropped = errors.New("the connection of the watch is dropped")
	errEnded   = errors.New("the watch is ended")
)

// watcher is one open watch.
type watcher struct {
	srv     *Server
	res     *storage.Resource
	sel     storage.Selection
	format  wire.Format
	effects *effects

	ctx  context.Context
	out  http.ResponseWriter
	conn *http.ResponseController
	stop context.CancelCauseFunc

	// version is the version up to which all changes have been sent or, if not selected, skipped.
	version uint64
	buf     []byte // encoded events that have not been written yet
	sent    int    // number of events; bookmarks do not count
}

// watchStart describes the beginning of a watch.
type watchStart struct {
	initial   bool // an ADDED event for each object
	marker    bool // a bookmark that marks the end of the initial events
	bookmarks bool
	version   uint64 // changes after this version, without initial events
	timeout   time.Duration
}

func (s *Server) watch(w http.ResponseWriter, req *Request) error {
	f, sel, err := req.parseCollection()
	if err != nil {
		return err
	}
	start, err := s.watchStart(req.query)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(req.HTTP.Context())
	defer stop(nil)
	watch := &watcher{
		srv: s, res: req.res, sel: sel, format: f, effects: req.effects,
		ctx: ctx, out: w, conn: http.NewResponseController(w), stop: stop,
	}
	s.watches.add(watch)
	defer s.watches.remove(watch)

	w.Header().Set("Content-Type", f.StreamType())
	w.WriteHeader(http.StatusOK)
	watch.flush()
	watch.run(start)
	return nil
}

// watchStart parses the parameters of a watch.
func (s *Server) watchStart(query url.Values) (start watchStart, err error) {
	if err := validateWatch(query, !s.opts.NoWatchList); err != nil {
		return start, err
	}
	if start.version, err = parseVersion(query); err != nil {
		return start, err
	}
	seconds, err := strconv.ParseUint(orZero(query.Get("timeoutSeconds")), 10, 31)
	if err != nil {
		return start, apierrors.NewBadRequest("timeoutSeconds: " + err.Error())
	}
	start.timeout = time.Duration(seconds) * time.Second
	if seconds == 0 {
		start.timeout = s.opts.WatchTimeout
	}
	start.bookmarks = boolParam(query, "allowWatchBookmarks")

	current := s.store.Current()
	switch {
	case boolParam(query, "sendInitialEvents"):
		start.initial, start.marker = true, start.bookmarks
	case start.version == 0 && query.Get("sendInitialEvents") == "":
		start.initial = true
	case start.version == 0:
		start.version = current
	}
	return start, nil
}

// validateWatch checks the parameters of a watch like the real server (KEP-3157).
func validateWatch(query url.Values, watchList bool) error {
	var errs field.ErrorList
	path := field.NewPath("resourceVersionMatch")
	match, initial := query.Get("resourceVersionMatch"), query.Get("sendInitialEvents") != ""
	notOlder := string(metav1.ResourceVersionMatchNotOlderThan)
	if initial && match != notOlder {
		errs = append(errs, field.Forbidden(path, "sendInitialEvents requires setting resourceVersionMatch to "+notOlder))
	}
	if initial && !watchList {
		errs = append(errs, field.Forbidden(field.NewPath("sendInitialEvents"),
			"sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"))
	}
	if match != "" && !initial {
		errs = append(errs, field.Forbidden(path, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
	}
	if match != "" && match != notOlder {
		errs = append(errs, field.NotSupported(path, match, []string{notOlder}))
	}
	return wire.NewInvalidOptions("ListOptions", errs)
}

// closedChannel is a closed channel: a receive from it never blocks.
var closedChannel = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// run sends events until the watch ends.
func (w *watcher) run(start watchStart) {
	w.version = start.version
	if w.interrupted() {
		return
	}
	if start.initial && !w.initial(start.version) {
		return
	}
	end := time.NewTimer(start.timeout)
	defer end.Stop()
	bookmarks := newBookmarkTimer(start, w.srv.opts.BookmarkInterval, w.effects.bookmarkDelay)
	defer bookmarks.stop()
	marker := start.marker && !w.effects.noEndMarker
	if marker && w.effects.bookmarkDelay == 0 {
		w.bookmark(true)
		marker = false
	}
	removed := w.res.Removed
	for {
		changes, through, more, ok := w.srv.store.Read(w.version)
		if !ok {
			w.fail(wire.NewExpired(w.version, w.srv.store.Oldest()))
			return
		}
		for _, c := range changes {
			if !w.change(c) {
				return
			}
		}
		w.version = through
		switch {
		case len(changes) > 0:
			more = closedChannel // Look for more changes before a flush.
		case removed == nil:
			w.flush()
			return
		default:
			w.flush()
		}
		select {
		case <-more:
		case <-bookmarks.due():
			w.bookmark(marker)
			marker = false
			bookmarks.next()
		case <-end.C:
			w.flush()
			return
		case <-removed:
			removed = nil // Earlier changes must still be sent.
		case <-w.srv.closed:
			return
		case <-w.ctx.Done():
			w.dropIfRequested()
			return
		}
	}
}

// wait blocks, without sending anything, until something ends the watch.
func (w *watcher) wait() {
	select {
	case <-w.srv.closed:
	case <-w.ctx.Done():
		w.dropIfRequested()
	}
}

// dropIfRequested drops the connection if the cause of the context is errDropped.
func (w *watcher) dropIfRequested() {
	if context.Cause(w.ctx) == errDropped {
		panic(http.ErrAbortHandler)
	}
}

// initial sends an ADDED event for each object. It sends an error instead if the current state is
// older than the version notOlder. It returns false if the watch has ended.
func (w *watcher) initial(notOlder uint64) bool {
	objects, version := w.srv.store.Snapshot(w.res)
	if version < notOlder {
		// The code is 200 by then, as on the real server.
		w.fail(wire.NewTooLarge(notOlder, version))
		return false
	}
	for rev := range objects.InNamespace(w.sel.Namespace) {
		if rev = rev.ConvertedTo(w.res); w.sel.Matches(rev) && !w.send("ADDED", rev) {
			return false
		}
	}
	w.version = version
	return true
}

// change sends the event that a change causes for the selection, if any. An object that begins to
// match is ADDED. An object that no longer matches is DELETED, with the last state that matched.
// The result is false if the watch has ended.
func (w *watcher) change(c *storage.Change) bool {
	if c.Data != w.res.Data {
		return true
	}
	cur := c.Cur.ConvertedTo(w.res)
	before, now := w.sel.Matches(c.Prev.ConvertedTo(w.res)), w.sel.Matches(cur)
	switch {
	case before && now:
		return w.send("MODIFIED", cur)
	case now:
		return w.send("ADDED", cur)
	case before:
		return w.send("DELETED", c.Last().ConvertedTo(w.res))
	}
	return true
}
