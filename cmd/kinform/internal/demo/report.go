package demo

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// Summary has the numbers of a run.
type Summary struct {
	// Objects is the number of objects in the store. Events is the number of events that the
	// handler got.
	Objects int    `json:"objects"`
	Events  uint64 `json:"events"`
	// Enqueued counts the keys that the workqueue accepted, and Reconciled the calls of the
	// reconcile function. Both are smaller than Events, because a key that is waiting is not queued
	// again.
	Enqueued   uint64 `json:"enqueued"`
	Reconciled uint64 `json:"reconciled"`
	// Relists counts lists after the first one.
	Relists uint64 `json:"relists"`
	// Stale counts the keys whose last reconciled state differs from the state on the server.
	Stale int `json:"stale"`

	ExperimentResults
}

// report shows a run to its user. Its methods are called concurrently.
type report interface {
	started(opts Options, url, page string)
	synced(objects int, took time.Duration)
	journeyEnded(j journey)
	attemptEnded(a attempt)
	slowSynced(calls uint64, took time.Duration)
	fault(what string)
	failed(err reflector.Error)
	draining()
	summary(s Summary)
}

// newReport returns the report for --output.
func newReport(format string, out io.Writer) (report, error) {
	switch format {
	case "json":
		return newJSONReport(out), nil
	case "text":
		return newTextReport(out), nil
	default:
		return nil, fmt.Errorf("output format %q is unknown: use text or json", format)
	}
}

// rootCause returns the cause of an error. It leaves out the failed request, because the request's
// address is long and always the same here.
func rootCause(err error) error {
	if request, ok := errors.AsType[*rest.Error](err); ok {
		return request.Err
	}
	return err
}
