package consistencydetector

import (
	"os"
	"strconv"
	"sync/atomic"
)

// forWatchList is what the environment has said at the start.
var forWatchList atomic.Bool

func init() {
	enabled, _ := strconv.ParseBool(os.Getenv("KUBE_WATCHLIST_INCONSISTENCY_DETECTOR"))
	forWatchList.Store(enabled)
}

// IsDataConsistencyDetectionForWatchListEnabled says whether reflectors check each streaming list: the environment
// variable KUBE_WATCHLIST_INCONSISTENCY_DETECTOR was true at the start of the program.
func IsDataConsistencyDetectionForWatchListEnabled() bool { return forWatchList.Load() }

// SetDataConsistencyDetectionForWatchListEnabledForTest switches it on or off, and returns what switches it back.
func SetDataConsistencyDetectionForWatchListEnabledForTest(enabled bool) func() {
	before := forWatchList.Swap(enabled)
	return func() { forWatchList.Store(before) }
}
