package demo

import (
	"slices"
	"time"
)

// maxLatencies is the maximum number of latencies that are kept, of the newest changes.
const maxLatencies = 1 << 16

// latencies keeps durations for percentiles.
type latencies struct {
	all  []time.Duration
	next int
}

func (l *latencies) add(d time.Duration) {
	if len(l.all) < maxLatencies {
		l.all = append(l.all, d)
		return
	}
	l.all[l.next] = d
	l.next = (l.next + 1) % maxLatencies
}

// percentiles returns the median and the 99th percentile, or 0 if there are no durations.
func (l *latencies) percentiles() (p50, p99 time.Duration) {
	if len(l.all) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(l.all))
	return sorted[len(sorted)/2], sorted[len(sorted)*99/100]
}
