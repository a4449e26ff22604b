package apiserver

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/internal/spelling"
)

// faultHelp explains --fault.
const faultHelp = `A fault is an action and its conditions, separated by commas. The conditions are verb=watch,
resource=pods, skip=N (the first N requests), times=N (at most N requests) and probability=0.1.
Without conditions, the fault hits every request.

  fail=CODE                 return a Status with this code        code=503:2s     the same, with Retry-After
  expired                   410 Gone                              too-many-requests=1s   429 as of priority and fairness
  drop                      close the connection                  delay=2s        wait before the response
  cut-body=BYTES            close after this many bytes           slow-body=BYTES a second
  html, empty, garbage, table, content-type=TYPE                  responses that are invalid
  broken-object=N           the Nth object is undecodable         duplicate-events   each event twice
  drop-after-events=N, end-after-events=N, fail-after-events=N, silent-after-events=N, silent-watch
  cut-frame=N, huge-frame=N:BYTES                                 in the event after the Nth
  delay-bookmarks=2s, no-end-marker                               of streaming lists`

// faultActions has a function for each action by name, which parses the action's value.
var faultActions = map[string]func(value string) (apitest.Action, error){
	"fail":                code,
	"code":                code,
	"expired":             withoutValue(apitest.Expired),
	"too-many-requests":   withDuration(apitest.TooManyRequests),
	"drop":                withoutValue(apitest.Drop),
	"delay":               withDuration(apitest.Delay),
	"cut-body":            withNumber(apitest.CutBody),
	"slow-body":           withNumber(apitest.SlowBody),
	"html":                withoutValue(apitest.HTML),
	"empty":               withoutValue(apitest.Empty),
	"garbage":             withoutValue(apitest.Garbage),
	"table":               withoutValue(apitest.Table),
	"content-type":        contentType,
	"broken-object":       withNumber(apitest.UndecodableObject),
	"duplicate-events":    withoutValue(apitest.DuplicateEvents),
	"drop-after-events":   withNumber(apitest.DropAfterEvents),
	"end-after-events":    withNumber(apitest.EndAfterEvents),
	"fail-after-events":   withNumber(failAfterEvents),
	"silent-after-events": withNumber(apitest.SilentAfterEvents),
	"silent-watch":        withoutValue(apitest.SilentWatch),
	"cut-frame":           withNumber(apitest.CutFrame),
	"huge-frame":          hugeFrame,
	"delay-bookmarks":     withDuration(apitest.DelayBookmarks),
	"no-end-marker":       withoutValue(apitest.NoEndMarker),
}

// parseFault parses a fault such as "expired,verb=watch,times=2".
func parseFault(text string) (f apitest.Fault, err error) {
	wrong := func(what string, args ...any) (apitest.Fault, error) {
		return f, fmt.Errorf("--fault %q is wrong: %w: kinform apiserver --help lists all faults", text, fmt.Errorf(what, args...))
	}
	action, conditions, _ := strings.Cut(text, ",")
	name, value, _ := strings.Cut(action, "=")
	read, ok := faultActions[name]
	if !ok {
		var names []string
		for known := range faultActions {
			names = append(names, known)
		}
		if similar := spelling.Similar(name, names); len(similar) > 0 {
			return wrong("there is no action %q: did you mean %s?", name, strings.Join(similar, " or "))
		}
		return wrong("there is no action %q", name)
	}
	if f.Action, err = read(value); err != nil {
		return wrong("%s %w", name, err)
	}
	for condition := range strings.SplitSeq(conditions, ",") {
		key, value, _ := strings.Cut(condition, "=")
		switch key {
		case "":
		case "verb":
			f.Verb = value
		case "resource":
			f.Resource = value
		case "skip":
			f.Skip, err = number(value)
		case "times":
			f.Times, err = number(value)
		case "probability":
			if f.Probability, err = strconv.ParseFloat(value, 64); err != nil || !(f.Probability > 0 && f.Probability <= 1) {
				err = fmt.Errorf("must be more than 0 and at most 1")
			}
		default:
			return wrong("there is no condition %q", key)
		}
		if err != nil {
			return wrong("%s %w", key, err)
		}
	}
	return f, nil
}

func withoutValue(action func() apitest.Action) func(string) (apitest.Action, error) {
	return func(value string) (apitest.Action, error) {
		if value != "" {
			return apitest.Action{}, fmt.Errorf("takes no value")
		}
		return action(), nil
	}
}

func withNumber(action func(int) apitest.Action) func(string) (apitest.Action, error) {
	return func(value string) (apitest.Action, error) {
		n, err := number(value)
		return action(n), err
	}
}

func withDuration(action func(time.Duration) apitest.Action) func(string) (apitest.Action, error) {
	return func(value string) (apitest.Action, error) {
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return apitest.Action{}, fmt.Errorf("must be a time with its unit, such as 2s")
		}
		return action(d), nil
	}
}

func number(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("must be a whole number that is not negative")
	}
	return n, nil
}

// code parses an HTTP status and, after a colon, the time for Retry-After.
func code(value string) (apitest.Action, error) {
	status, after, retry := strings.Cut(value, ":")
	n, err := number(status)
	if err != nil || n < 400 || n > 599 {
		return apitest.Action{}, fmt.Errorf("must be a code of HTTP from 400 to 599, such as 503")
	}
	var wait time.Duration
	if retry {
		if wait, err = time.ParseDuration(after); err != nil {
			return apitest.Action{}, fmt.Errorf("must have a time with its unit after the colon, such as 503:2s")
		}
	}
	return apitest.Code(n, wait), nil
}

func contentType(value string) (apitest.Action, error) {
	if value == "" {
		return apitest.Action{}, fmt.Errorf("must be a media type, such as text/plain")
	}
	return apitest.ContentType(value), nil
}

func failAfterEvents(n int) apitest.Action {
	return apitest.FailAfterEvents(n, apierrors.NewResourceExpired("too old resource version"))
}

func hugeFrame(value string) (apitest.Action, error) {
	after, size, _ := strings.Cut(value, ":")
	n, err := number(after)
	bytes, bad := strconv.ParseInt(size, 10, 64)
	if err != nil || bad != nil {
		return apitest.Action{}, fmt.Errorf("must be a number of events and a number of bytes, such as 3:100000000")
	}
	return apitest.HugeFrame(n, bytes), nil
}
