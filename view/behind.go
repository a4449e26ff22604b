package view

import (
	"strconv"
	"time"
)

// behind tells how long ago the server had the first version that a stage does not have. It learns when versions come as frames are made, so
// it is off by the time between two.
type behind struct {
	newest uint64
	seen   []arrival // the oldest first, each newer than the one before
}

// arrival is when a version was there.
type arrival struct {
	version uint64
	at      time.Duration
}

// mostArrivals is how many versions are remembered: a minute and more of frames. A stage that is older is at least so old.
const mostArrivals = 1024

// note remembers that the server has a version.
func (b *behind) note(version string, at time.Duration) {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil || n <= b.newest {
		return
	}
	// The server may have had it since the last frame.
	b.newest = n
	b.seen = append(b.seen, arrival{n, at})
	if len(b.seen) > mostArrivals {
		b.seen = append(b.seen[:0:0], b.seen[mostArrivals/4:]...)
	}
}

// of returns for how long a stage has been behind that has a version, in seconds.
func (b *behind) of(version string, now time.Duration) (float64, bool) {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil || b.newest == 0 {
		return 0, false
	}
	for _, a := range b.seen {
		if a.version > n {
			return (now - a.at).Seconds(), true
		}
	}
	return 0, true
}
