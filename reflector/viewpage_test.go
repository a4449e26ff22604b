package reflector

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/checkpoint"
)

// These types are the data for the page of package view, on which a user steps through the states.
// They cover more consecutive failures than testdata/steps.txt. Each step has the index of the next
// state in the table.
type (
	pageTable struct {
		States []pageState `json:"states"`
	}
	pageState struct {
		Name    string      `json:"name"`
		Phase   string      `json:"phase"`
		Replies []pageReply `json:"replies"`
	}
	pageReply struct {
		Name    string `json:"name"`
		Expired bool   `json:"expired,omitempty"`

		// Outage is true if the counted failures are failures without a response of a server.
		Outage bool `json:"outage,omitempty"`

		// Outcomes has the result of the step after no failure, after one failure, and so on. The
		// last element is also the result after more failures.
		Outcomes []stepResult `json:"outcomes"`
	}
)

// pageFailures is the number of consecutive failures up to which the page has results.
const pageFailures = 5

// TestViewPageHasTheSteps compares the steps in the page's data with the reflector.
func TestViewPageHasTheSteps(t *testing.T) {
	const file = "../view/page/steps.json"
	var table pageTable
	for _, s := range stepStates {
		state := pageState{Name: s.name}
		for n, meets := range stepReplies {
			if !possible(s.make(), n) {
				continue
			}
			reply := pageReply{Name: meets.name, Expired: IsExpired(meets.refuse)}
			for failures := range pageFailures + 1 {
				o := stepOf(t, s.mode, s.make(), n, failures)
				state.Phase = o.from
				reply.Outage = reply.Outage || o.outage
				o.NextRow = slices.IndexFunc(stepStates, func(s stepState) bool { return s.name == o.tableRow })
				require.Equal(t, o.Next == "stopped", o.NextRow < 0, "%s, %s: there is no row %q", s.name, meets.name, o.tableRow)
				reply.Outcomes = append(reply.Outcomes, o)
			}
			// After no failure, a count that stays and a count that is reset are both 0. So use the
			// counts of the result after one failure.
			reply.Outcomes[0].Counts = reply.Outcomes[1].Counts
			for last := len(reply.Outcomes) - 1; last > 0 && reply.Outcomes[last].same(reply.Outcomes[last-1]); last-- {
				reply.Outcomes = reply.Outcomes[:last]
			}
			state.Replies = append(state.Replies, reply)
		}
		table.States = append(table.States, state)
	}
	var b strings.Builder
	b.WriteString("{\"states\": [\n")
	for n, s := range table.States {
		fmt.Fprintf(&b, "{\"name\": %s, \"phase\": %q, \"replies\": [\n", encode(t, s.Name), s.Phase)
		for m, r := range s.Replies {
			fmt.Fprintf(&b, "  %s%s\n", encode(t, r), comma(m, len(s.Replies)))
		}
		fmt.Fprintf(&b, "]}%s\n", comma(n, len(table.States)))
	}
	b.WriteString("]}\n")
	require.True(t, json.Valid([]byte(b.String())))
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "the file must have the current steps; -update writes it")
}

func encode(t *testing.T, value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(value))
	return strings.TrimSpace(b.String())
}

func comma(n, of int) string {
	if n < of-1 {
		return ","
	}
	return ""
}

// stepResult is the result of a step.
type stepResult struct {
	// After is how long the step took, in virtual time, if it took more than a second. SinkCalls
	// are the calls of the sink, and Reports the reports of the reflector.
	After     jsonSeconds `json:"after,omitempty"`
	SinkCalls []string    `json:"told,omitempty"`
	Reports   []string    `json:"said,omitempty"`

	// Wait is the wait before the next state, whose name is Next. NextRow is the index of the next
	// state in the table, or -1 at the end.
	Wait    jsonSeconds `json:"wait,omitempty"`
	Next    string      `json:"next"`
	NextRow int         `json:"row"`

	// Counts says how each count of failures changes: it stays (=), grows by one (+) or is reset
	// (0). There are counts for snapshots and for watches: first the connected failures, then the
	// outages.
	Counts string `json:"counts"`

	from, tableRow string
	outage         bool
}

// jsonSeconds is a duration that is formatted in seconds.
type jsonSeconds time.Duration

func (l jsonSeconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(l).Seconds()) }

func (o stepResult) same(other stepResult) bool {
	return o.line() == other.line() && slices.Equal(o.Reports, other.Reports) && o.Counts == other.Counts && o.NextRow == other.NextRow
}

// line returns the result in the format of testdata/steps.txt.
func (o stepResult) line() string {
	var all []string
	if o.After > 0 {
		all = append(all, "after "+time.Duration(o.After).String())
	}
	all = append(append(all, o.Reports...), o.SinkCalls...)
	next := o.Next
	if o.Wait > 0 {
		next = "wait " + time.Duration(o.Wait).String() + ", " + next
	}
	return strings.Join(append(all, "→ "+next), "; ")
}

// count describes how a count changes from the number n to the number now.
func count(n, now int) string {
	switch now {
	case n + 1:
		return "+"
	case 0:
		return "0"
	default:
		return "="
	}
}

// tableRowOf returns the name of a state in the table, or "" at the end. had is the checkpoint
// before the step.
func tableRowOf(r *Reflector[string], s state[string], had checkpoint.Checkpoint) string {
	switch s := s.(type) {
	case *backingOff[string]:
		return tableRowOf(r, s.then, had)
	case *listing[string]:
		switch {
		case s.token != "":
			return `listing at "10", page 2`
		case s.unpaged:
			return `listing at "10", whole`
		}
		return fmt.Sprintf("listing at %q", s.requestedVersion)
	case *requesting[string]:
		return fmt.Sprintf("requesting at %q", s.requestedVersion)
	case *streaming[string]:
		return `streaming at "0"`
	case *connecting[string]:
		// After a lost watch there is an event to compare, unless the step has dropped it.
		if dropped := had != (checkpoint.Checkpoint{}) && r.checkpoint == (checkpoint.Checkpoint{}); r.historyCheck.lost && !dropped {
			return `connecting at "10", after a lost watch`
		}
		return `connecting at "10"`
	case *comparing[string]:
		if s.versionStepDone {
			return `comparing at "10", before a@10 comes again`
		}
		return `comparing at "10", version not told yet`
	case *watching[string]:
		switch {
		case s.synthetic:
			return `watching from "", initial events`
		case s.received:
			return `watching from "10"`
		}
		return `watching from "10", nothing heard yet`
	}
	return ""
}
