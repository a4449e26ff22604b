package workqueue

import (
	"sync"
	"time"

	"github.com/kinform/kinform/internal/logthrottle"
)

// maxLines is how many failures are logged individually within logthrottle.Interval.
const maxLines = 10

// failureLog limits the log lines about failed reconciles. A key that begins to fail gets a line,
// up to maxLines. Every few minutes a line counts the other failures. The zero value has logged
// nothing.
type failureLog struct {
	mu         sync.Mutex // guards following
	since      time.Time  // the beginning of the current interval
	lines      int
	suppressed uint64
}

// record records a failure. first is true if the previous run of the key did not fail. line says
// whether the failure gets a line of its own. If suppressed is positive, a line must summarise this
// number of failures, which got no line since the time since.
func (f *failureLog) record(first bool, now time.Time) (line bool, suppressed uint64, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.since.IsZero() || now.Sub(f.since) >= logthrottle.Interval {
		suppressed, since = f.suppressed, f.since
		f.since, f.lines, f.suppressed = now, 0, 0
	}
	if first && f.lines < maxLines {
		f.lines++
		return true, suppressed, since
	}
	f.suppressed++
	return false, suppressed, since
}
