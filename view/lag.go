package view

import (
	"strconv"
	"time"
)

// lagTracker estimates how long a stage has been behind the server. It learns a new version only
// when a frame is made, so the estimate can be wrong by the time between two frames.
type lagTracker struct {
	newest   uint64
	arrivals []arrival // the oldest first, with growing versions
}

// arrival is a version with the time at which the tracker learnt it.
type arrival struct {
	version uint64
	at      time.Duration
}

// maxArrivals is the maximum number of remembered versions: enough for more than a minute of
// frames. For a stage that is further behind, the estimate is a lower bound.
const maxArrivals = 1024

// record records that the server has reached a version.
func (b *lagTracker) record(version string, at time.Duration) {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil || n <= b.newest {
		return
	}
	// The server may have reached the version at any time since the last frame.
	b.newest = n
	b.arrivals = append(b.arrivals, arrival{n, at})
	if len(b.arrivals) > maxArrivals {
		b.arrivals = append(b.arrivals[:0:0], b.arrivals[maxArrivals/4:]...)
	}
}

// lag(version, now) returns for how many seconds a stage at the given version has been behind the
// server.
func (b *lagTracker) lag(version string, now time.Duration) (float64, bool) {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil || b.newest == 0 {
		return 0, false
	}
	for _, a := range b.arrivals {
		if a.version > n {
			return (now - a.at).Seconds(), true
		}
	}
	return 0, true
}
