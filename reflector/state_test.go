package reflector

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
)

var (
	errBroken       = errors.New("connection reset")
	errRefused      = fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	errExpired      = fmt.Errorf("wrapped: %w", apierrors.NewResourceExpired("too old"))
	errGone         = &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonGone}}
	errUnauthorized = apierrors.NewUnauthorized("who are you")
	errBusy         = apierrors.NewTooManyRequests("busy", 7)
	errInvalid      = apierrors.NewInvalid(schema.GroupKind{}, "", nil)
	errInternal     = apierrors.NewInternalError(errBroken)
	errTooLarge     = &apierrors.StatusError{ErrStatus: metav1.Status{
		Reason:  metav1.StatusReasonTimeout,
		Details: &metav1.StatusDetails{RetryAfterSeconds: 1, Causes: []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}},
	}}
)

// describe formats a state as the tables of tests do.
func describe(s state[string]) string {
	switch s := s.(type) {
	case *listing[string]:
		d := fmt.Sprintf("list at %q", s.requestedVersion)
		if s.unpaged {
			d += " whole"
		}
		if s.token != "" {
			d += fmt.Sprintf(" token=%s version=%s items=%d", s.token, s.version, len(s.items))
		}
		return d
	case *requesting[string]:
		return fmt.Sprintf("stream at %q", s.requestedVersion)
	case *streaming[string]:
		return fmt.Sprintf("streaming items=%d", len(s.items.items))
	case *connecting[string]:
		return fmt.Sprintf("connect %q", s.version)
	case *comparing[string]:
		return fmt.Sprintf("comparing %q, asked=%v told=%v", s.version, s.versionStepDone, s.versionConfirmed)
	case *watching[string]:
		return fmt.Sprintf("watching %q", s.version)
	case *backingOff[string]:
		return fmt.Sprintf("wait %v, %s", s.wait, describe(s.then))
	default:
		return s.phase().String()
	}
}

// These short names for states make the tables easy to read.
type (
	at    = listing[string]
	open  = requesting[string]
	to    = connecting[string]
	table []struct {
		name     string
		from     any // a state, or the events of an open stream
		known    string
		failures int  // consecutive failures before the step
		expired  bool // the last failure was an expired version
		reply    reply
		sink     []error

		next  string
		calls []string
	}
)

// These are states with an open stream before the step. Each stream has been open for a second.
type (
	inStream struct{ play []any }
	inWatch  struct {
		received bool
		play     []any
	}
	inSyntheticWatch struct{ play []any }
	inComparison     struct {
		versionStepDone bool
		play            []any
	}
	afterLoss struct{}
)

func TestStepListing(t *testing.T) {
	runTable(t, List, table{
		{name: "a whole list is replaced in one step", from: &at{requestedVersion: "0"}, reply: whole("10", "a@1", "b@2"),
			next: `connect "10"`, calls: []string{`list "0" limit=500`, `replace "10": a@1 b@2`}},
		{name: "an empty list is a snapshot too", from: &at{requestedVersion: "0"}, reply: whole("10"),
			next: `connect "10"`, calls: []string{`list "0" limit=500`, `replace "10":`}},
		{name: "a page is collected", from: &at{requestedVersion: "0"}, reply: page("10", "c1", "a@1"),
			next: `list at "0" token=c1 version=10 items=1`, calls: []string{`list "0" limit=500`}},
		// RC-8, RC-10
		{name: "the last page completes the snapshot", from: &at{requestedVersion: "0", token: "c1", version: "10", items: items("a@1")}, reply: whole("10", "b@2"),
			next: `connect "10"`, calls: []string{`list c1/ limit=500`, `replace "10": a@1 b@2`}},
		// RC-8
		{name: "an expired token leads to a whole list at the same version at once", from: &at{requestedVersion: "9", token: "c1", items: items("a@1")}, reply: refuse(errExpired),
			next: `list at "9" whole`, calls: []string{`list c1/ limit=0`}},
		// RC-5
		{name: "an expired version leads to the most recent state at once", from: &at{requestedVersion: "9"}, reply: refuse(errExpired),
			next: `list at ""`, calls: []string{`list "9" limit=0`}},
		// RC-5
		{name: "Gone leads to the most recent state at once", from: &at{requestedVersion: "9"}, reply: refuse(errGone), next: `list at ""`, calls: []string{`list "9" limit=0`}},
		// RC-5
		{name: "a version that is too large leads to the most recent state at once, despite Retry-After", from: &at{requestedVersion: "9"}, reply: refuse(errTooLarge),
			next: `list at ""`, calls: []string{`list "9" limit=0`}},
		{name: "the most recent state cannot have expired twice", from: &at{requestedVersion: ""}, failures: 1, reply: refuse(errExpired),
			next: `wait 1.6s, list at ""`, calls: []string{`list "" limit=500`}},
		{name: "any other refusal leads to a wait", from: &at{requestedVersion: "0"}, reply: refuse(errBroken),
			next: `wait 800ms, list at "0"`, calls: []string{`list "0" limit=500`}},
		{name: "a list that breaks begins again after a wait", from: &at{requestedVersion: "0", token: "c1", items: items("a@1")}, reply: play(item("b@2"), errBroken),
			next: `wait 800ms, list at "0"`, calls: []string{`list c1/ limit=500`}},
		{name: "Retry-After is the least wait", from: &at{requestedVersion: "0"}, reply: refuse(errBusy),
			next: `wait 7s, list at "0"`, calls: []string{`list "0" limit=500`}},
		{name: "Retry-After does not shorten a wait", from: &at{requestedVersion: "0"}, failures: 4, reply: refuse(errBusy),
			next: `wait 12.8s, list at "0"`, calls: []string{`list "0" limit=500`}},
		{name: "a snapshot older than what is known is refused", known: "20", from: &at{requestedVersion: "20"}, reply: whole("10", "a@1"),
			next: `wait 800ms, list at ""`, calls: []string{`list "20" limit=0`}},
		{name: "versions that cannot be compared are accepted", known: "20", from: &at{requestedVersion: "20"}, reply: whole("x10", "a@1"),
			next: `connect "x10"`, calls: []string{`list "20" limit=0`, `replace "x10": a@1`}},
		{name: "a sink that fails gets another snapshot", known: "20", from: &at{requestedVersion: "20"}, reply: whole("30"), sink: []error{errBroken},
			next: `wait 800ms, list at "20"`, calls: []string{`list "20" limit=0`, `replace "30":`}},
		{name: "an undecodable object stays as it is", known: "10", from: &at{requestedVersion: "10"}, reply: play(undecodable(0, "a"), item("b@2")),
			next: `connect ""`, calls: []string{`list "10" limit=0`, `reflector: listing: object ns/a could not be read: garbage`, `replace "": a@= b@2`}},
		{name: "an undecodable object makes the first list a failure", from: &at{requestedVersion: "0"}, reply: play(undecodable(0, "a"), item("b@2")),
			next: `wait 800ms, list at "0"`, calls: []string{`list "0" limit=500`, `reflector: listing: object ns/a could not be read: garbage`}},
	})
}

func TestStepStreaming(t *testing.T) {
	runTable(t, WatchList, table{
		// RC-14
		{name: "a stream opens", from: &open{requestedVersion: "0"}, next: `streaming items=0`, calls: []string{`stream ""`}},
		// RC-14
		{name: "a stream opens at the last version", from: &open{requestedVersion: "7"}, next: `streaming items=0`, calls: []string{`stream "7"`}},
		// RC-15
		{name: "initial events are collected", from: inStream{[]any{added("a@1")}}, next: `streaming items=1`},
		{name: "other bookmarks do not end the list", from: inStream{[]any{bookmark("5")}}, next: `streaming items=0`},
		// RC-16, RC-17
		{name: "the end marker completes the snapshot, and the stream goes on", from: inStream{[]any{endMarker("10")}},
			next: `watching "10"`, calls: []string{`replace "10":`}},
		{name: "a snapshot older than what is known is refused", known: "20", from: inStream{[]any{endMarker("10")}},
			next: `wait 800ms, stream at ""`},
		{name: "a sink that fails gets another snapshot", from: inStream{[]any{endMarker("10")}}, sink: []error{errBroken},
			next: `wait 800ms, stream at "0"`, calls: []string{`replace "10":`}},
		{name: "an undecodable object stays as it is", from: inStream{[]any{undecodable(listwatch.Added, "a")}},
			next: `streaming items=1`, calls: []string{`reflector: streaming: object ns/a could not be read: garbage`}},

		{name: "an undecodable delete is a delete", from: inStream{[]any{undecodable(listwatch.Deleted, "a")}},
			next: `streaming items=0`, calls: []string{`reflector: streaming: object ns/a could not be read: garbage`}},

		// RC-18
		{name: "refused connections wait", from: &open{requestedVersion: "7"}, reply: refuse(errRefused), next: `wait 800ms, stream at "7"`, calls: []string{`stream "7"`}},
		// RC-18
		{name: "429 waits", from: &open{requestedVersion: "7"}, reply: refuse(errBusy), next: `wait 7s, stream at "7"`, calls: []string{`stream "7"`}},
		// RC-18
		{name: "an expired version leads to the most recent state at once", from: &open{requestedVersion: "7"}, reply: refuse(errExpired),
			next: `stream at ""`, calls: []string{`stream "7"`}},
		// RC-18
		{name: "a version that is too large leads to the most recent state", from: &open{requestedVersion: "7"}, reply: refuse(errTooLarge), next: `stream at ""`, calls: []string{`stream "7"`}},
		{name: "a version that expires during the stream leads to the most recent state", from: inStream{[]any{errExpired}}, next: `stream at ""`},
		{name: "the most recent state cannot have expired", from: &open{requestedVersion: ""}, reply: refuse(errExpired), next: `wait 800ms, list at ""`, calls: []string{`stream ""`}},
		// RC-18
		{name: "a server without streaming lists is listed at once", from: &open{requestedVersion: "7"}, reply: refuse(errInvalid),
			next: `list at "7"`, calls: []string{`stream "7"`}},
		// RC-18
		{name: "a stream that ends too early begins again", from: inStream{[]any{io.EOF}}, next: `wait 800ms, stream at "0"`},
		{name: "after the third early end a list follows", from: inStream{[]any{io.EOF}}, failures: 2, next: `wait 3.2s, list at "0"`},
		// RC-18
		{name: "any other failure leads to a list", from: inStream{[]any{errBroken}}, next: `wait 800ms, list at "0"`},
	})
}

func TestStepWatching(t *testing.T) {
	runTable(t, List, table{
		// RC-21
		{name: "a watch opens", from: &to{version: "10"}, next: `watching "10"`, calls: []string{`watch "10"`}},
		// RC-24
		{name: "an event advances the version", from: inWatch{play: []any{modified("a@11")}}, next: `watching "11"`, calls: []string{`modified a@11`}},
		{name: "a delete advances the version", from: inWatch{play: []any{deleted("a@11")}}, next: `watching "11"`, calls: []string{`deleted a@11`}},
		{name: "a bookmark advances the version", from: inWatch{play: []any{bookmark("11")}}, next: `watching "11"`, calls: []string{`bookmark @11`}},
		{name: "an event without a version does not advance the version", from: inWatch{play: []any{added("a@")}}, next: `watching "10"`, calls: []string{`added a@`}},
		// RC-24
		{name: "a synthetic event does not advance the version", from: inSyntheticWatch{[]any{added("a@5")}}, next: `watching ""`, calls: []string{`added a@5`}},
		// RC-24
		{name: "the first event that is not Added advances the version", from: inSyntheticWatch{[]any{bookmark("9")}}, next: `watching "9"`, calls: []string{`bookmark @9`}},
		// RC-23
		{name: "an undecodable object is skipped", from: inWatch{play: []any{undecodable(listwatch.Modified, "a")}},
			next: `watching "10"`, calls: []string{`reflector: watching: object ns/a could not be read: garbage`}},
		{name: "an undecodable delete deletes the object of the sink", from: inWatch{play: []any{undecodable(listwatch.Deleted, "a")}},
			next: `watching "10"`, calls: []string{`reflector: watching: object ns/a could not be read: garbage`, `deleted a@99=`}},
		{name: "a late undecodable delete leads to a snapshot", from: inWatch{play: []any{
			&listwatch.ObjectError{Key: key("a"), ResourceVersion: "9", Type: listwatch.Deleted, Err: errBroken},
		}}, next: `list at "10"`},
		{name: "a late undecodable change is ignored", from: inWatch{play: []any{
			&listwatch.ObjectError{Key: key("a"), ResourceVersion: "9", Type: listwatch.Modified, Err: errBroken},
		}}, next: `watching "10"`},
		{name: "an undecodable delete on which the sink fails leads to a snapshot", from: inWatch{play: []any{undecodable(listwatch.Deleted, "a")}}, sink: []error{errBroken},
			next: `wait 800ms, list at "10"`, calls: []string{`reflector: watching: object ns/a could not be read: garbage`, `deleted a@99=`}},
		{name: "a nameless delete leads to a snapshot that is not older than it", from: inWatch{play: []any{
			&listwatch.ObjectError{ResourceVersion: "99", Type: listwatch.Deleted, Err: errBroken},
		}}, next: `wait 800ms, list at "99"`},
		{name: "an undecodable delete without a version leads to a snapshot", from: inWatch{play: []any{
			&listwatch.ObjectError{Key: key("a"), Type: listwatch.Deleted, Err: errBroken},
		}}, next: `wait 800ms, list at "10"`},
		{name: "an event without its object leads to a snapshot", from: inWatch{play: []any{
			listwatch.Event[string]{Type: listwatch.Added, Item: listwatch.Item[string]{Key: key("a"), ResourceVersion: "11", State: listwatch.Unchanged}},
		}}, next: `wait 800ms, list at "10"`},
		{name: "an event without its object is ignored if the sink has its version", from: inWatch{play: []any{
			listwatch.Event[string]{Type: listwatch.Added, Item: listwatch.Item[string]{Key: key("a"), ResourceVersion: "10", State: listwatch.Unchanged}},
		}}, next: `watching "10"`},
		{name: "a sink that fails gets a snapshot", from: inWatch{play: []any{modified("a@11")}}, sink: []error{errBroken},
			next: `wait 800ms, list at "10"`, calls: []string{`modified a@11`}},

		// RC-25
		{name: "an orderly end leads to the next watch at once", from: inWatch{received: true, play: []any{io.EOF}}, next: `connect "10"`},
		// RC-25
		{name: "the end of a silent watch after a second leads to the next watch at once", from: inWatch{play: []any{time.Second, io.EOF}}, next: `connect "10"`},
		// RC-25
		{name: "a very short watch waits", from: inWatch{play: []any{time.Second - 1, io.EOF}}, next: `wait 800ms, connect "10"`},
		// RC-26
		{name: "an expired version leads to a snapshot at once", from: inWatch{play: []any{errExpired}}, next: `list at "10"`},
		{name: "an expired version leads to a snapshot at once, also after other failures", from: inWatch{play: []any{errExpired}}, failures: 9, next: `list at "10"`},
		{name: "a second expired version leads to a wait", from: inWatch{play: []any{errExpired}}, failures: 1, expired: true, next: `wait 1.6s, list at "10"`},
		{name: "a version that is expired at opening leads to a snapshot at once", known: "10", from: &to{version: "10"}, reply: refuse(errGone), next: `list at "10"`, calls: []string{`watch "10"`}},
		// RC-26
		{name: "429 waits", from: inWatch{play: []any{errBusy}}, next: `wait 7s, connect "10"`},
		// RC-22
		{name: "429 at opening waits", from: &to{version: "10"}, reply: refuse(errBusy), next: `wait 7s, connect "10"`, calls: []string{`watch "10"`}},
		// RC-22
		{name: "refused connections wait", from: &to{version: "10"}, failures: 2, reply: refuse(errRefused),
			next: `wait 1.25s, connect "10"`, calls: []string{`watch "10"`}},
		{name: "refused credentials wait like refused connections", from: &to{version: "10"}, failures: 2, reply: refuse(errUnauthorized),
			next: `wait 1.25s, connect "10"`, calls: []string{`watch "10"`}},
		{name: "after a broken stream, the next watch starts from the same version", from: inWatch{play: []any{errBroken}}, next: `wait 800ms, connect "10"`},
		{name: "after the third broken stream a list follows", from: inWatch{play: []any{errBroken}}, failures: 2, next: `wait 3.2s, list at "10"`},
		{name: "after an internal error, the next watch starts from the same version", from: &to{version: "10"}, reply: refuse(errInternal), next: `wait 800ms, connect "10"`, calls: []string{`watch "10"`}},
		{name: "after the third refusal a list follows, because the version may be the reason", known: "10", from: &to{version: "10"}, failures: 2, reply: refuse(errInvalid),
			next: `wait 3.2s, list at "10"`, calls: []string{`watch "10"`}},
	})
}

// runTable checks one step for each row of a table.
func runTable(t *testing.T, mode ListMode, rows table) {
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(Options{ListMode: mode})
				g.source.lists = []reply{row.reply}
				g.source.watches = []reply{row.reply}
				g.sink.fail = row.sink
				r := g.reflector
				r.version, r.synced = row.known, row.known != ""
				r.snapshots = streakOf(row.failures, row.expired)
				r.watches = r.snapshots

				next, err := r.step(t.Context(), g.state(t, row.from))
				got := describe(next)
				_, waits := next.(*backingOff[string])
				require.False(t, waits && err == nil, "a wait must follow a failure")
				for i, line := range row.calls {
					row.calls[i] = time.Since(g.began).String() + " " + line
				}
				calls := g.take()
				require.Equal(t, row.next, got)
				require.Equal(t, row.calls, calls)

				r.stop(next)
				synctest.Wait()
				require.Zero(t, g.source.open, "a stream may be open only in states that have a stream")
				for _, ctx := range g.source.contexts {
					require.Error(t, ctx.Err(), "a request's context must end with the request")
				}
			})
		})
	}
}

// streakOf returns a streak with n failures of all kinds.
func streakOf(n int, expired bool) loggedStreak {
	return loggedStreak{FailureStreak: FailureStreak{failures: n, connected: n, outage: n, expired: expired}}
}

// state makes the state before a step.
func (g *rig) state(t *testing.T, from any) state[string] {
	watch := func(play []any) *session[string] {
		g.source.watches = []reply{{play: play}}
		w, err := g.reflector.open(t.Context(), listwatch.WatchOptions{}, time.Minute, ErrIdle)
		require.NoError(t, err)
		g.take()
		return w
	}
	switch from := from.(type) {
	case inStream:
		return &streaming[string]{requestedVersion: "0", watch: watch(from.play)}
	case inWatch:
		g.reflector.version = "10"
		return &watching[string]{version: "10", watch: watch(from.play), received: from.received}
	case inComparison:
		g.reflector.version = "10"
		w := watch(from.play)
		if from.versionStepDone {
			w.endAfter(pace.HistoryCheckTimeout, errNotRepeated)
		}
		return &comparing[string]{version: "10", from: "9", watch: w, versionStepDone: from.versionStepDone, versionRequested: from.versionStepDone, versionConfirmed: from.versionStepDone}
	case inSyntheticWatch:
		return &watching[string]{watch: watch(from.play), synthetic: true}
	default:
		return from.(state[string])
	}
}

func items(names ...string) []listwatch.Item[string] {
	var list []listwatch.Item[string]
	for _, name := range names {
		list = append(list, item(name))
	}
	return list
}

func undecodable(t listwatch.EventType, name string) error {
	return &listwatch.ObjectError{Key: key(name), ResourceVersion: "99", Type: t, Err: errors.New("garbage")}
}
