package consistencydetector

import (
	"os"
	"strconv"
	"sync/atomic"
)

// forWatchList reports whether streaming lists are checked. Its first value comes from the
// environment variable at the start of the process.
var forWatchList atomic.Bool

func init() {
	enabled, _ := strconv.ParseBool(os.Getenv("KUBE_WATCHLIST_INCONSISTENCY_DETECTOR"))
	forWatchList.Store(enabled)
}

// IsDataConsistencyDetectionForWatchListEnabled reports whether reflectors check each streaming
// list. They do if the environment variable KUBE_WATCHLIST_INCONSISTENCY_DETECTOR was true at the
// start of the process.
func IsDataConsistencyDetectionForWatchListEnabled() bool { return forWatchList.Load() }

// SetDataConsistencyDetectionForWatchListEnabledForTest switches the checks on or off, and returns
// a function that restores the previous state.
func SetDataConsistencyDetectionForWatchListEnabledForTest(enabled bool) func() {
	before := forWatchList.Swap(enabled)
	return func() { forWatchList.Store(before) }
}
