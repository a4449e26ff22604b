package view

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// histogram counts durations. Each power of two of nanoseconds has four buckets, so a quantile is
// wrong by at most an eighth.
type histogram struct {
	buckets [bucketCount]atomic.Uint64
}

const bucketCount = 4 * 42 // the last buckets are for more than an hour

func (h *histogram) add(d time.Duration) { h.buckets[bucketOf(d)].Add(1) }

func bucketOf(d time.Duration) int {
	if d < 4 {
		return int(max(d, 0))
	}
	log := bits.Len64(uint64(d)) - 1
	return min(4*(log-1)+int(d>>(log-2))&3, bucketCount-1)
}

// midpoint returns the duration that represents a bucket.
func midpoint(bucket int) time.Duration {
	if bucket < 4 {
		return time.Duration(bucket)
	}
	log := bucket/4 + 1
	from := time.Duration(4+bucket%4) << (log - 2)
	return from + (time.Duration(1)<<(log-2))/2
}

type counts [bucketCount]uint64

func (h *histogram) counts() (c counts) {
	for i := range h.buckets {
		c[i] = h.buckets[i].Load()
	}
	return c
}

// Times are quantiles of durations in the last ten seconds. They count only objects in the sample.
// Their error is at most an eighth.
type Times struct {
	// Count is the number of durations.
	Count uint64 `json:"count"`

	// P50, P99 and Max are in seconds. Half of the durations are at most P50, and one in a hundred
	// is longer than P99.
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// add adds to c the difference between a later and an earlier state of some counts.
func (c *counts) add(now, before *counts) {
	for i := range c {
		c[i] += now[i] - before[i]
	}
}

// times computes the quantiles.
func (c *counts) times() (t Times) {
	last := 0
	for i, n := range c {
		t.Count += n
		if n > 0 {
			last = i
		}
	}
	if t.Count == 0 {
		return t
	}
	quantile := func(q float64) float64 {
		rank, sum := uint64(q*float64(t.Count-1))+1, uint64(0)
		for i, n := range c {
			if sum += n; sum >= rank {
				return midpoint(i).Seconds()
			}
		}
		return 0
	}
	t.P50, t.P99, t.Max = quantile(0.5), quantile(0.99), midpoint(last).Seconds()
	return t
}

// window holds the counts of a histogram for each of the last ten seconds.
type window struct {
	of      *histogram
	past    [10]counts // past[second % 10]: the counts at the start of that second
	second  int64
	started bool
}

// addTo adds the counts of about the last ten seconds to sum. sinceStart must not decrease from
// call to call.
func (w *window) addTo(sum *counts, sinceStart time.Duration) {
	now := w.of.counts()
	second := int64(sinceStart / time.Second)
	if !w.started || second-w.second >= int64(len(w.past)) {
		w.started, w.second = true, second
		for i := range w.past {
			w.past[i] = now
		}
	}
	for ; w.second < second; w.second++ {
		w.past[(w.second+1)%int64(len(w.past))] = now
	}
	sum.add(&now, &w.past[(w.second+1)%int64(len(w.past))])
}
