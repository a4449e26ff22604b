// Package guard has the parts that cached objects share looked at, time and again, while a shared informer runs. Package rest knows
// how that is done, and tools/cache knows when informers run.
package guard

import (
	"sync"
	"sync/atomic"
	"time"
)

// Every look takes Parts parts of each kind of sharing that is in use. There is one in each Period, however many informers run: some milliseconds of CPU.
const (
	Period = 10 * time.Second
	Parts  = 1000
)

var last atomic.Int64 // the time of the last look, in Unix nanoseconds

var (
	mu    sync.Mutex // guards following
	looks []func(parts int)
)

// Add adds a way to look at parts, for as long as the process lives.
func Add(look func(parts int)) {
	mu.Lock()
	defer mu.Unlock()
	looks = append(looks, look)
}

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
	before := last.Load()
	since := time.Duration(now.UnixNano() - before)
	if since >= 0 && since < Period/2 || !last.CompareAndSwap(before, now.UnixNano()) {
		return
	}
	mu.Lock()
	all := looks
	mu.Unlock()
	for _, look := range all {
		look(Parts)
	}
}
