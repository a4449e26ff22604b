// Package guard periodically checks that the program has not changed the shared parts of cached
// objects. It does so while a shared informer runs. Package rest registers the checks, and
// tools/cache runs them.
package guard

import (
	"sync"
	"sync/atomic"
	"time"
)

// One check runs per Period, whatever the number of informers. It takes some milliseconds of CPU,
// and covers Parts parts for each Sharing in use.
const (
	Period = 10 * time.Second
	Parts  = 1000
)

var last atomic.Int64 // the time of the last check, in Unix nanoseconds

var (
	mu     sync.Mutex // guards following
	checks []func(parts int)
)

// Add registers a check for the lifetime of the process. The argument of check is the number of
// parts to check.
func Add(check func(parts int)) {
	mu.Lock()
	defer mu.Unlock()
	checks = append(checks, check)
}

// Run runs the checks once per Period until stopCh is closed.
func Run(stopCh <-chan struct{}) {
	ticker := time.NewTicker(Period)
	defer ticker.Stop()
	for {
		select {
		case <-stopCh:
			return
		case now := <-ticker.C:
			tick(now)
		}
	}
}

// tick runs the checks, unless another informer has run them within half a Period. If the clock was
// set back, it runs them at once.
func tick(now time.Time) {
	before := last.Load()
	since := time.Duration(now.UnixNano() - before)
	if since >= 0 && since < Period/2 || !last.CompareAndSwap(before, now.UnixNano()) {
		return
	}
	mu.Lock()
	all := checks
	mu.Unlock()
	for _, check := range all {
		check(Parts)
	}
}
