// Package guard has the parts that cached objects share looked at, time and again, while a shared informer runs. Package rest knows
// how that is done, and tools/cache knows when informers run.
package guard

import (
	"sync/atomic"
	"time"
)

// Every look takes Parts parts. There is one in each Period, however many informers run: some milliseconds of CPU.
const (
	Period = 10 * time.Second
	Parts  = 1000
)

var (
	look atomic.Pointer[func(parts int)]
	last atomic.Int64 // the time of the last look, in Unix nanoseconds
)

// Set says how parts are looked at.
func Set(check func(parts int)) { look.Store(&check) }

// Run has parts looked at until stopCh is closed.
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

// tick looks, unless another informer has done so lately. A clock that was set back is no reason to wait.
func tick(now time.Time) {
	check, before := look.Load(), last.Load()
	since := time.Duration(now.UnixNano() - before)
	if check == nil || since >= 0 && since < Period/2 || !last.CompareAndSwap(before, now.UnixNano()) {
		return
	}
	(*check)(Parts)
}
