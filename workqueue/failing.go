package workqueue

import (
	"sync"
	"time"

	"github.com/kinform/kinform/internal/remind"
)

// maxLines is how many failures are logged one by one within remind.Interval.
const maxLines = 10

// failing bounds the lines that the log gets of failed reconciles: one for each key that begins
// to fail, up to maxLines of them, and every few minutes, while there are failures, how many more
// there were. The zero value has logged nothing.
type failing struct {
	mu     sync.Mutex // guards following
	since  time.Time  // the beginning of the interval that the rest is about
	lines  int
	unsaid uint64
}

// note takes note of a failure, the first one of its key in a row or not. It says
// whether the failure is worth a line, and how many before it, since then, were not
// and are to be summed up.
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
