package main

import (
	"slices"
	"time"
)

// sendRate says how events are sent: in bursts of a size, at an interval.
type sendRate struct {
	name  string
	burst int
	every time.Duration
}

var sendRates = []sendRate{
	{"1000 events per s, evenly", 1, time.Millisecond},
	{"bursts of 500 events", 500, 250 * time.Millisecond},
}

// quantiles are the reported quantiles.
var quantiles = []struct {
	name  string
	share float64
}{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}}

// durations are measured times.
type durations []time.Duration

// quantile returns the value that this share of the durations does not exceed, in microseconds.
func (d durations) quantile(share float64) float64 {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return float64(d[min(int(share*float64(len(d))), len(d)-1)]) / float64(time.Microsecond)
}
