package reflector

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/internal/checkpoint"
	"github.com/kinform/kinform/listwatch"
)

var update = flag.Bool("update", false, "write testdata/steps.txt, and what the page of package view has of it, instead of comparing with them")

// stepState is a state of a reflector, with its name.
type stepState struct {
	name string
	mode ListMode
	make func() any
}

// stepStates are all states in which a reflector waits for the server, with a sink that has got
// version 10. This table is complete; state_test.go gives the reasons for single steps.
var stepStates = []stepState{
	{`listing at "0"`, List, func() any { return &at{requestedVersion: "0"} }},
	{`listing at "10"`, List, func() any { return &at{requestedVersion: "10"} }},
	{`listing at ""`, List, func() any { return &at{requestedVersion: ""} }},
	{`listing at "10", page 2`, List, func() any {
		return &at{requestedVersion: "10", token: "c1", version: "12", items: items("a@1"), tokens: tokenCycle{last: "c1", saved: "c1", n: 1}}
	}},
	{`listing at "10", whole`, List, func() any { return &at{requestedVersion: "10", unpaged: true} }},
	{`requesting at "0"`, WatchList, func() any { return &open{requestedVersion: "0"} }},
	{`requesting at "10"`, WatchList, func() any { return &open{requestedVersion: "10"} }},
	{`requesting at ""`, WatchList, func() any { return &open{requestedVersion: ""} }},
	{`streaming at "0"`, WatchList, func() any { return inStream{} }},
	{`connecting at "10"`, List, func() any { return &to{version: "10"} }},
	{`connecting at "10", after a lost watch`, List, func() any { return afterLoss{} }},
	{`comparing at "10", version not told yet`, List, func() any { return inComparison{} }},
	{`comparing at "10", before a@10 comes again`, List, func() any { return inComparison{versionStepDone: true} }},
	{`watching from "10", nothing heard yet`, List, func() any { return inWatch{} }},
	{`watching from "10"`, List, func() any { return inWatch{received: true} }},
	{`watching from "", initial events`, List, func() any { return inSyntheticWatch{} }},
}

// stepReplies are all kinds of replies. An error refuses a request, or ends a stream. The other
// elements of a stream come after the server has accepted the request.
var stepReplies = []struct {
	name   string
	refuse error
	list   reply // the reply to a list, if refuse is nil
	stream []any // the events of an open stream
	sink   error
	cancel bool
}{
	{name: "all that there is", list: whole("12", "b@2"), stream: []any{endMarker("12")}},
	{name: "a part", list: page("12", "c2", "b@2"), stream: []any{added("b@11")}},
	{name: "the part before again", list: page("12", "c1", "b@2")},
	{name: "a change", stream: []any{modified("b@11")}},
	{name: "a deletion", stream: []any{deleted("b@11")}},
	{name: "the last event again", stream: []any{modified("a@10")}},
	{name: "an event again", stream: []any{modified("b@9")}},
	{name: "a bookmark", stream: []any{bookmark("11")}},
	{name: "an older state", list: whole("9", "b@2"), stream: []any{endMarker("9")}},
	{name: "what the sink refuses", list: whole("12", "b@2"), stream: []any{endMarker("12")}, sink: errBroken},
	{name: "an undecodable object", list: play(undecodable(0, "b")), stream: []any{undecodable(listwatch.Modified, "b")}},
	{name: "an undecodable deletion", stream: []any{undecodable(listwatch.Deleted, "b")}},
	{name: "a nameless deletion", stream: []any{&listwatch.ObjectError{Type: listwatch.Deleted, Err: errBroken}}},
	{name: "an event without its object", stream: []any{listwatch.Event[string]{Type: listwatch.Modified, Item: listwatch.Item[string]{Key: key("b"), ResourceVersion: "11", State: listwatch.Unchanged}}}},
	{name: "an orderly end, at once", stream: []any{io.EOF}},
	{name: "an orderly end, later", stream: []any{time.Second, io.EOF}},
	{name: "silence", list: play(24 * time.Hour), stream: []any{24 * time.Hour}},
	{name: "400 Bad Request", refuse: apierrors.NewBadRequest("")},
	{name: "401 Unauthorized", refuse: errUnauthorized},
	{name: "403 Forbidden", refuse: errForbidden},
	{name: "404 Not Found", refuse: errNotFound},
	{name: "405 Method Not Allowed", refuse: apierrors.NewMethodNotSupported(schema.GroupResource{}, "watch")},
	{name: "410 Expired", refuse: errExpired},
	{name: "410 Gone", refuse: errGone},
	{name: "422 Invalid", refuse: errInvalid},
	{name: "429 Too Many Requests, in 7 s", refuse: errBusy},
	{name: "500 Internal Error", refuse: errInternal},
	{name: "503 Service Unavailable", refuse: apierrors.NewServiceUnavailable("")},
	{name: "504 Timeout, version too large", refuse: errTooLarge},
	{name: "connection refused", refuse: errRefused},
	{name: "connection lost", refuse: errBroken},
	{name: "more than a list may have", refuse: errOversized},
	{name: "the end of the context", cancel: true, stream: []any{24 * time.Hour}},
}

// TestStepsOfEveryStateAndReply combines every state with every reply, as the first failure and as
// the third consecutive failure, and compares the result with testdata/steps.txt. The file is also
// a readable description of the state machine.
func TestStepsOfEveryStateAndReply(t *testing.T) {
	const file = "testdata/steps.txt"
	var b strings.Builder
	b.WriteString("What a reflector does next, for each state and each reply: the calls of the sink, and the state that\n" +
		"follows. Where it differs, the second line is for the third failure of its kind in a row. Random parts of waits are\n" +
		"left out. TestStepsOfEveryStateAndReply makes this file and compares with it; -update writes it.\n")
	for _, s := range stepStates {
		fmt.Fprintf(&b, "\n%s\n", s.name)
		for n, r := range stepReplies {
			if !possible(s.make(), n) {
				continue
			}
			first, third := stepOf(t, s.mode, s.make(), n, 0).line(), stepOf(t, s.mode, s.make(), n, 2).line()
			fmt.Fprintf(&b, "    %-30s %s\n", r.name, first)
			if third != first {
				fmt.Fprintf(&b, "    %-30s %s\n", "", third)
			}
		}
	}
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

// possible reports whether a reply can come in a state: events need an open stream, and items need
// a list.
func possible(from any, n int) bool {
	r := stepReplies[n]
	switch from := from.(type) {
	case *at:
		if r.list.meta.Continue == "c1" {
			return from.token == "c1"
		}
		return r.refuse != nil || r.cancel || len(r.list.play) > 0 || r.list.meta.ResourceVersion != ""
	case inComparison:
		return r.refuse != nil || r.cancel || from.versionStepDone && len(r.stream) > 0 || !from.versionStepDone && (len(r.list.play) > 0 || r.list.meta.ResourceVersion != "") && r.list.meta.Continue != "c1"
	case *open, *to, afterLoss:
		return r.refuse != nil || r.cancel || n == 0
	default:
		return r.refuse != nil || r.cancel || len(r.stream) > 0
	}
}

// stepOf makes one step and describes it.
func stepOf(t *testing.T, mode ListMode, from any, n, failures int) (o stepResult) {
	synctest.Test(t, func(t *testing.T) {
		meets := stepReplies[n]
		g := newRig(Options{ListMode: mode})
		r := g.reflector
		r.version, r.synced, r.opts.SkipComparison = "10", true, false
		g.source.lists, g.source.watches = []reply{meets.list}, []reply{play()}
		played := meets.stream
		if meets.refuse != nil {
			g.source.lists, g.source.watches = []reply{refuse(meets.refuse)}, []reply{refuse(meets.refuse)}
			played = []any{meets.refuse}
		}
		if meets.sink != nil {
			g.sink.fail = []error{meets.sink}
		}
		switch f := from.(type) {
		case inStream:
			from = inStream{played}
		case inWatch:
			f.play = played
			from = f
		case inSyntheticWatch:
			from = inSyntheticWatch{played}
		case afterLoss:
			r.historyCheck.lost, r.checkpoint = true, checkpoint.Checkpoint{Key: key("a"), Version: "10"}
			from = &to{version: "10"}
		case inComparison:
			r.historyCheck.lost, r.checkpoint = true, checkpoint.Checkpoint{Key: key("a"), Version: "10"}
			f.play = played
			from = f
		}
		s := g.state(t, from)
		r.snapshots = streakOf(failures, failures > 0 && IsExpired(meets.refuse))
		r.watches = r.snapshots
		g.take()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if meets.cancel {
			cancel()
		}

		had := r.checkpoint
		o.from = s.phase().String()
		began := time.Now()
		next, err := r.step(ctx, s)
		if took := time.Since(began); took > time.Second {
			o.After = jsonSeconds(took)
		}
		for _, call := range g.take() {
			_, call, _ = strings.Cut(call, " ")
			switch verb, _, _ := strings.Cut(call, " "); verb {
			case "list", "stream", "watch": // the request belongs to the state, not to the result
			case "reflector:":
				o.Reports = append(o.Reports, call)
			default:
				o.SinkCalls = append(o.SinkCalls, call)
			}
		}
		o.Next, o.tableRow = describe(next), tableRowOf(r, next, had)
		if wait, waits := next.(*backingOff[string]); waits {
			o.Wait, o.Next = jsonSeconds(wait.wait), describe(wait.then)
		}
		for _, streak := range []loggedStreak{r.snapshots, r.watches} {
			o.Counts += count(failures, streak.connected) + count(failures, streak.outage)
			o.outage = o.outage || streak.outage > failures
		}
		if _, waits := next.(*backingOff[string]); waits {
			require.Error(t, err)
		}
		r.stop(next)
		synctest.Wait()
		require.Zero(t, g.source.open)
	})
	return o
}
