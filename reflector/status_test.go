package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/listwatch"
)

func TestStatusHasThePhaseOfTheReflector(t *testing.T) { // RC-34
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		r := g.reflector
		first := page("10", "c1", "a@1", "b@2")
		first.meta.RemainingItemCount = 1
		g.source.lists = []reply{first, play(time.Second, errBroken), whole("20", "c@3")}
		g.source.watches = []reply{play(time.Second, modified("c@21"), bookmark("22"))}
		require.Equal(t, Status{ListMode: List}, r.Status())

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()

		synctest.Wait()
		began := time.Now()
		require.Equal(t, Status{
			Phase: Listing, Since: began, ListMode: List, Items: 2, Total: 3,
			Stats: Stats{Lists: 1, Pages: 2, Listed: 2},
		}, r.Status())

		time.Sleep(time.Second)
		synctest.Wait()
		st := r.Status()
		require.Equal(t, BackingOff, st.Phase)
		require.Equal(t, time.Now(), st.Since)
		require.Equal(t, time.Now().Add(800*time.Millisecond), st.NextRetry)
		require.Equal(t, time.Now(), st.LastErrorAt)
		require.Equal(t, Error{Phase: Listing, Err: errBroken, Failures: 1, RetryIn: 800 * time.Millisecond}, st.LastError)
		require.Equal(t, 1, st.Failures)
		require.False(t, st.Synced)

		time.Sleep(2 * time.Second)
		synctest.Wait()
		st = r.Status()
		require.Equal(t, Watching, st.Phase)
		require.True(t, st.Synced)
		require.Equal(t, "22", st.ResourceVersion)
		require.Equal(t, began.Add(2800*time.Millisecond), st.LastEventAt)
		require.Zero(t, st.Failures)
		require.Zero(t, st.NextRetry)
		require.Equal(t, 1, st.Items)
		require.EqualValues(t, 1, st.Total)
		require.Equal(t, Stats{Lists: 2, Pages: 3, Watches: 1, Listed: 3, Events: 1, Bookmarks: 1, Errors: 1}, r.Stats())

		cancel()
		require.NoError(t, <-done)
		require.Equal(t, Stopped, r.Status().Phase)
	})
}

func TestObserverSeesEveryStep(t *testing.T) { // D18
	bubble(t, func(t *testing.T) {
		var g *rig
		g = newRig(Options{Observer: &Observer{
			OnPhase: func(c PhaseChange) { g.add("%v -> %v (%v)", c.From, c.To, c.Cause != nil) },
			OnPage:  func(p PageInfo) { g.add("page of %d, version %s, next %q", p.Items, p.ResourceVersion, p.Continue) },
			OnItem: func(i ItemInfo) {
				g.add("item %s@%s %v", i.Key.Name, i.ResourceVersion, i.State == listwatch.Unchanged)
			},
			OnEvent: func(e EventInfo) {
				g.add("%v: %v %s@%s", e.Phase, e.Type, e.Key.Name, e.ResourceVersion)
			},
			OnWait: func(d time.Duration) { g.add("waiting %v", d) },
		}})
		g.source.lists = []reply{page("10", "c1", "a@1"), whole("10", "b@2")}
		g.source.watches = []reply{play(modified("b@11"), errBroken)}
		g.run(t, 2*time.Second,
			`0s idle -> listing (false)`,
			`0s list "0" limit=500`,
			`0s item a@1 false`,
			`0s page of 1, version 10, next "c1"`,
			`0s list c1/ limit=500`,
			`0s item b@2 false`,
			`0s page of 1, version 10, next ""`,
			`0s replace "10": a@1 b@2`,
			`0s listing -> connecting (false)`,
			`0s watch "10"`,
			`0s connecting -> watching (false)`,
			`0s watching: MODIFIED b@11`,
			`0s modified b@11`,
			`0s reflector: watching: connection reset (failure 1 in a row, next attempt in 800ms)`,
			`0s watching -> backing off (true)`,
			`0s waiting 800ms`,
			`800ms backing off -> connecting (false)`,
			`800ms watch "11"`,
			`2s connecting -> stopped (false)`,
		)
	})
}

func TestHooksMayCallStatus(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var g *rig
		readStatus := func() { _ = g.reflector.Status() }
		g = newRig(Options{Observer: &Observer{
			OnPhase: func(PhaseChange) { readStatus() },
			OnPage:  func(PageInfo) { readStatus() },
			OnItem:  func(ItemInfo) { readStatus() },
			OnEvent: func(EventInfo) { readStatus() },
			OnWait:  func(time.Duration) { readStatus() },
		}})
		g.source.lists = []reply{whole("10", "a@1")}
		g.source.watches = []reply{play(modified("a@11"), undecodable(listwatch.Modified, "a"), errBroken)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.NoError(t, g.reflector.Run(ctx))
	})
}

func TestErrorsUnwrap(t *testing.T) {
	t.Parallel()
	var err error = Error{Phase: Watching, Err: errExpired, Failures: 1}
	require.True(t, apierrors.IsResourceExpired(err))
	var e Error
	require.ErrorAs(t, err, &e)
}

func TestLogHasOneWarningForConsecutiveFailures(t *testing.T) { // RC-30
	bubble(t, func(t *testing.T) {
		var log strings.Builder
		g := newRig(Options{Logger: logTo(&log, slog.LevelDebug)})
		g.source.lists = []reply{refuse(errBroken), refuse(errBroken), whole("10")}
		g.source.watches = []reply{play(
			undecodable(listwatch.Modified, "a"), undecodable(listwatch.Modified, "b"), bookmark("11"), errExpired)}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		require.NoError(t, g.reflector.Run(ctx))
		require.Equal(t, `level=WARN msg="Attempt failed" phase=listing err="connection reset" failures=1 retry_in=800ms
level=DEBUG msg="Attempt failed" phase=listing err="connection reset" failures=2 retry_in=1.6s
level=INFO msg=Recovered failures=2
level=WARN msg="Object skipped" phase=watching err="object ns/a could not be read: garbage"
level=DEBUG msg="Object skipped" phase=watching err="object ns/b could not be read: garbage"
level=DEBUG msg="Attempt failed" phase=watching err="wrapped: too old" failures=1 retry_in=0s
`, log.String())
	})
}

// logTo returns a logger that writes lines without a time.
func logTo(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

func TestLogsGoToTheDefaultLoggerByDefault(t *testing.T) {
	previous := slog.Default()
	defer slog.SetDefault(previous)
	var log strings.Builder
	slog.SetDefault(logTo(&log, slog.LevelInfo))
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		slog.SetDefault(previous) // the default at the time of New is used
		g.source.lists = []reply{refuse(errBroken)}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		require.NoError(t, g.reflector.Run(ctx))
	})
	require.Contains(t, log.String(), `level=WARN msg="Attempt failed" phase=listing err="connection reset"`)
}

// A server that is down for 18 minutes causes four warnings, one every five minutes. When the
// server is back and refuses the request, there is one more warning.
func TestAnOutageIsLoggedWhenItBeginsEveryFiveMinutesAndWhenItEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log strings.Builder
		began := time.Now()
		lines := writerFunc(func(line []byte) (int, error) {
			return fmt.Fprintf(&log, "%v %s", time.Since(began).Truncate(time.Minute), line)
		})
		lived := &journal{}
		r, err := New[string](&outage{began: began, script: script{journal: lived}}, &mirror{journal: lived}, Options{
			Logger: logTo(lines, slog.LevelInfo),
			// a due line is logged with the next attempt
			Backoff: Backoff{Max: 10 * time.Second, Jitter: -1},
		})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Minute)
		defer cancel()
		require.NoError(t, r.Run(ctx))
		require.Regexp(t, `^0s level=WARN msg="Attempt failed" phase=listing err="connection reset" failures=1 .*
5m0s level=WARN .* err="connection reset" failures=.*
10m0s level=WARN .* err="connection reset" .*
15m0s level=WARN .* err="connection reset" .*
18m0s level=WARN .* err=".*forbidden.*" .*
2[0-9]m0s level=INFO msg=Recovered failures=[0-9]+
`, log.String())
	})
}

// outage is a source that is unreachable for 18 minutes, and then refuses requests for four
// minutes. After that it has a list, and a watch without events.
type outage struct {
	script
	began time.Time
}

func (o *outage) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[string], error) {
	past := time.Since(o.began)
	switch {
	case past < 18*time.Minute:
		return nil, errBroken
	case past < 22*time.Minute:
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no right"))
	}
	o.lists = []reply{whole("10")}
	return o.script.List(ctx, opts)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestEventCostsNoAllocation(t *testing.T) {
	ev := modified("a@11")
	r, err := New[string](endless{}, &discard{}, Options{})
	require.NoError(t, err)
	watch, err := r.open(t.Context(), listwatch.WatchOptions{}, time.Minute, ErrIdle)
	require.NoError(t, err)
	defer watch.close()
	watch.stream = repeat{ev}
	var s state[string] = &watching[string]{version: "10", watch: watch}
	require.Zero(t, testing.AllocsPerRun(1000, func() { s, _ = r.step(t.Context(), s) }))
}

// endless is a source whose watch sends one event again and again.
type endless struct{ listwatch.Source[string] }

func (endless) Watch(context.Context, listwatch.WatchOptions) (listwatch.WatchStream[string], error) {
	return repeat{}, nil
}

type repeat struct{ event listwatch.Event[string] }

func (s repeat) Next() (listwatch.Event[string], error) { return s.event, nil }
func (repeat) Close() error                             { return nil }

// discard is a sink that keeps nothing.
type discard struct{ mirror }

func (*discard) Apply(listwatch.Event[string]) error { return nil }
