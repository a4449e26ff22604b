package demo

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kinform/kinform/cmd/kinform/internal/terminal"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// Summary is what a run amounts to.
type Summary struct {
	// Objects is how many the store holds, Events how many the handler was given.
	Objects int    `json:"objects"`
	Events  uint64 `json:"events"`
	// Enqueued counts the keys that the workqueue accepted, Reconciled the runs of
	// workers: less than events, as keys that wait are merged.
	Enqueued   uint64 `json:"enqueued"`
	Reconciled uint64 `json:"reconciled"`
	// Relists counts lists after the first one.
	Relists uint64 `json:"relists"`
	// Stale counts keys whose last reconciled state is not the server's.
	Stale int `json:"stale"`

	Trials
}

// report shows a run to whoever watches it. Its methods are called by several
// goroutines.
type report interface {
	started(opts Options, url string)
	syncing(items, total int)
	synced(objects int, took time.Duration)
	traveled(j journey)
	attempted(a attempt)
	slowSynced(calls uint64, took time.Duration)
	fault(what string)
	failed(err reflector.Error)
	draining()
	summary(s Summary)
}

// newReport returns the report for --output. Only a terminal, as progress may be
// one, gets a progress bar.
func newReport(format string, out, progress io.Writer) (report, error) {
	switch format {
	case "json":
		return newJSONReport(out), nil
	case "text":
		if !isTerminal(progress) {
			progress = nil
		}
		if progress != nil {
			progress = terminal.Raw(progress) // The bar moves the cursor, and shows numbers only.
		}
		return newTextReport(out, progress), nil
	default:
		return nil, fmt.Errorf("output format %q is unknown: use text or json", format)
	}
}

// reason is the cause of an error without the request that failed, whose long
// address is always the same here.
func reason(err error) error {
	if request, ok := errors.AsType[*rest.Error](err); ok {
		return request.Err
	}
	return err
}
