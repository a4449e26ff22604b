package reflector

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// countingSource is a Source that gives the same replies for ever, each after a millisecond.
type countingSource struct {
	script
	list  func(listwatch.ListOptions) reply  // nil means one item at version 10
	watch func(listwatch.WatchOptions) reply // nil means silence

	lists, watches   int // number of requests
	versionOnlyLists int // number of lists that request only the version
}

func (s *countingSource) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[string], error) {
	if s.lists++; opts.VersionOnly {
		s.versionOnlyLists++
	}
	r := whole("10", "a@1")
	if s.list != nil {
		r = s.list(opts)
	}
	if sleep(ctx, time.Millisecond, nil); r.refuse != nil {
		return nil, r.refuse
	}
	return &listStream{known: opts.Known, stream: s.stream(ctx, append(r.play, io.EOF)), meta: r.meta}, nil
}

func (s *countingSource) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[string], error) {
	s.watches++
	r := s.watch(opts)
	if sleep(ctx, time.Millisecond, nil); r.refuse != nil {
		return nil, r.refuse
	}
	return &watchStream{stream: s.stream(ctx, r.play)}, nil
}

// forAnHour runs a reflector with the source s for an hour, with the default waits.
func (s *countingSource) forAnHour(t *testing.T, opts Options) *Reflector[string] {
	t.Helper()
	return s.run(t, time.Hour, opts)
}

func (s *countingSource) run(t *testing.T, d time.Duration, opts Options) *Reflector[string] {
	t.Helper()
	g := newRig(Options{})
	s.journal = g.journal
	r, err := New[string](s, g.sink, opts)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	require.NoError(t, r.Run(ctx))
	t.Logf("%d lists, %d of them for the version; %d watches", s.lists, s.versionOnlyLists, s.watches)
	return r
}

func always[O any](r reply) func(O) reply {
	return func(O) reply { return reply{refuse: r.refuse, play: append([]any(nil), r.play...), meta: r.meta} }
}

// No response makes the reflector send requests as fast as the server can respond.
func TestNoResponseCausesABusyLoop(t *testing.T) {
	watch := func(what ...any) func(listwatch.WatchOptions) reply {
		return always[listwatch.WatchOptions](play(what...))
	}
	n := 10
	for name, c := range map[string]struct {
		source countingSource
		opts   Options
	}{
		"a bookmark and the end":                 {source: countingSource{watch: watch(bookmark("10"), io.EOF)}},
		"an event and the end":                   {source: countingSource{watch: watch(modified("a@11"), io.EOF)}},
		"a bookmark, and the version is gone":    {source: countingSource{watch: watch(bookmark("10"), errExpired)}},
		"a bookmark, and the stream breaks":      {source: countingSource{watch: watch(bookmark("10"), errBroken)}},
		"an end marker and the end":              {source: countingSource{watch: watch(endMarker("11"), io.EOF)}, opts: Options{ListMode: WatchList}},
		"an end marker, and the version is gone": {source: countingSource{watch: watch(endMarker("11"), errExpired)}, opts: Options{ListMode: WatchList}},
		"other events each time": {source: countingSource{watch: func(listwatch.WatchOptions) reply {
			n++
			return play(modified(fmt.Sprintf("a-%d@%d", n, n)), errBroken)
		}}},
		"tokens that expire at once": {source: countingSource{watch: watch(), list: func(opts listwatch.ListOptions) reply {
			if opts.Continue != "" {
				return refuse(errExpired)
			}
			return page("10", "c1", "a@1")
		}}},
		"a short WatchIdleTimeout": {source: countingSource{watch: watch()}, opts: Options{WatchIdleTimeout: 100 * time.Millisecond}},
		"a short WatchTimeout":     {source: countingSource{watch: watch(200*time.Millisecond, io.EOF)}, opts: Options{WatchTimeout: 100 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				source := c.source
				source.forAnHour(t, c.opts)
				require.Less(t, source.lists+source.watches, 4*3600)
			})
		})
	}
}

// A proxy cuts every connection after a second.
func TestConnectionsThatAreCutCauseFewLists(t *testing.T) {
	const cut = time.Second
	requests := 0
	for name, watch := range map[string]func(listwatch.WatchOptions) reply{
		"nothing happens":       func(listwatch.WatchOptions) reply { return play(cut, io.ErrUnexpectedEOF) },
		"and bookmarks come":    func(listwatch.WatchOptions) reply { return play(bookmark("12"), cut, io.ErrUnexpectedEOF) },
		"the event comes again": func(o listwatch.WatchOptions) reply { return play(modified("a@12"), cut, io.ErrUnexpectedEOF) },
		"the event is expired": func(o listwatch.WatchOptions) reply {
			if o.ResourceVersion == "11" {
				return refuse(errExpired)
			}
			return play(modified("a@12"), cut, io.ErrUnexpectedEOF)
		},
		"and every second connection is refused": func(listwatch.WatchOptions) reply {
			if requests++; requests%2 == 0 {
				return refuse(errRefused)
			}
			return play(cut, io.ErrUnexpectedEOF)
		},
		"the event does not come again": func(o listwatch.WatchOptions) reply {
			if o.ResourceVersion == "11" {
				return play(6*time.Second, io.ErrUnexpectedEOF)
			}
			return play(modified("a@12"), cut, io.ErrUnexpectedEOF)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				source := countingSource{watch: watch, list: func(listwatch.ListOptions) reply { return whole("12", "a@12") }}
				source.forAnHour(t, Options{})
				require.Less(t, source.versionOnlyLists, 75, "number of lists of one object")
				require.Less(t, source.lists-source.versionOnlyLists, 130, "number of full lists")
				require.Greater(t, source.watches, 200)
			})
		})
	}
}

// If a resource can be listed but not watched, the reflector lists it again and again.
func TestResourceThatCannotBeWatchedIsRelisted(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, err := range map[string]error{
		"403":            errForbidden,
		"404":            errNotFound,
		"405":            apierrors.NewMethodNotSupported(pods, "watch"),
		"504":            apierrors.NewTimeoutError("no", 0),
		"504 of a proxy": apierrors.NewGenericServerResponse(http.StatusGatewayTimeout, "watch", pods, "", "", 0, true),
		"500":            errInternal,
		"400":            apierrors.NewBadRequest("no"),
		"422":            errInvalid,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				source := countingSource{watch: always[listwatch.WatchOptions](refuse(err))}
				r := source.run(t, 12*time.Hour, Options{})
				require.Greater(t, source.lists, 40)
				require.Less(t, time.Since(r.Status().LastListAt), 16*time.Minute)
			})
		})
	}
}

// After many comparisons that have found the known history, the reflector finds another history
// later, but still finds it.
func TestOtherHistoryIsFoundAfterManyComparisons(t *testing.T) {
	for name, c := range map[string]struct {
		quiet  bool          // there is no event to compare
		outage time.Duration // until the server is back with another history
		now    string        // the version of the restored server
	}{
		"behind":                          {now: "5"},
		"behind, no event known":          {now: "5", quiet: true},
		"behind, after an outage":         {now: "5", outage: 3 * time.Second},
		"passed":                          {now: "30"},
		"passed, after an outage":         {now: "30", outage: 3 * time.Second},
		"passed by others":                {now: "30", quiet: true, outage: 3 * time.Second},
		"passed by others, a long outage": {now: "30", quiet: true, outage: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				const cuts = 10 * time.Minute
				began := time.Now()
				version := "12"
				restored := func() bool { return time.Since(began) >= cuts }
				source := countingSource{
					list: func(listwatch.ListOptions) reply {
						if restored() {
							return whole(c.now, "new@4")
						}
						return whole(version, "a@12")
					},
					watch: func(o listwatch.WatchOptions) reply {
						switch {
						case restored() && time.Since(began) < cuts+c.outage:
							return refuse(errRefused)
						case restored() && c.now == "30" && o.ResourceVersion != "30":
							return play(modified("b@29"))
						case restored():
							return play()
						case c.quiet:
							return play(time.Second, io.ErrUnexpectedEOF)
						}
						return play(modified("a@12"), time.Second, io.ErrUnexpectedEOF)
					},
				}
				r := source.run(t, cuts+c.outage+75*time.Second, Options{})
				require.Equal(t, c.now, r.version)
				require.Equal(t, map[types.NamespacedName]string{key("new"): "4"}, r.sink.(*mirror).content)
				require.Greater(t, source.versionOnlyLists, 10)
			})
		})
	}
}

// On some servers each version expires at once. Although the watches send events, the reflector
// then lists at most once a minute.
func TestVersionsThatExpireAtOnceCauseAtMostOneListAMinute(t *testing.T) {
	bubble(t, func(t *testing.T) {
		source := countingSource{watch: always[listwatch.WatchOptions](play(bookmark("10"), errExpired))}
		source.forAnHour(t, Options{})
		require.Less(t, source.lists, 75)
	})
}

// If a comparison is due later, the reflector asks the server to end the watch then. The watch may
// end a little early, because its time starts before the response comes. This is not a failure.
func TestWatchThatEndsForAComparisonIsNotTooShort(t *testing.T) {
	bubble(t, func(t *testing.T) {
		requests := 0
		source := countingSource{watch: func(o listwatch.WatchOptions) reply {
			switch {
			case o.Timeout > time.Minute:
				return play(time.Second, io.ErrUnexpectedEOF)
			case o.Timeout > 4*time.Second:
				// the next watch ends a second before the comparison is due
				return play(o.Timeout-1800*time.Millisecond, io.ErrUnexpectedEOF)
			}
			requests++
			// whole seconds, as in the request
			whole := (o.Timeout + time.Second - 1).Truncate(time.Second)
			return play(whole-time.Millisecond, io.EOF)
		}}
		source.forAnHour(t, Options{OnError: func(err Error) { require.NotErrorIs(t, err, ErrVeryShortWatch) }})
		require.Greater(t, requests, 10)
	})
}
