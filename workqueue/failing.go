package workqueue

import (
	"sync"
	"time"

	"github.com/kinform/kinform/internal/remind"
)

// maxLines is how many failures are logged individually within remind.Interval.
const maxLines = 10

// failing limits the log lines about failed reconciles. A key that begins to fail gets a line, up
// to maxLines. Every few minutes a line counts the other failures. The zero value has logged
// nothing.
type failing struct {
	mu     sync.Mutex // guards following
	since  time.Time  // the beginning of the current interval
	lines  int
	unsaid uint64
}

// note records a failure. first is true if the previous run of the key did not fail. line says
// whether the failure gets a line of its own. If a line must summarise the failures without a line,
// unsaid is their number, counted from the time that is the result since.
func (f *failing) note(first bool, now time.Time) (line bool, unsaid uint64, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.since.IsZero() || now.Sub(f.since) >= remind.Interval {
		unsaid, since = f.unsaid, f.since
		f.since, f.lines, f.unsaid = now, 0, 0
	}
	if first && f.lines < maxLines {
		f.lines++
		return true, unsaid, since
	}
	f.unsaid++
	return false, unsaid, since
}
