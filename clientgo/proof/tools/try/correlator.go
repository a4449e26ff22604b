package main

import (
	"fmt"
	"math"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	"k8s.io/client-go/tools/record"
)

// occurrence returns an event with this reason and message. The event's time is the clock's time.
func occurrence(clock *testclock.FakeClock, reason, message string) *v1.Event {
	now := metav1.NewTime(clock.Now())
	return &v1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "a.1", Namespace: "b", Annotations: map[string]string{"x": "y"}, Labels: map[string]string{"l": "m"}},
		InvolvedObject: v1.ObjectReference{Kind: "Pod", Namespace: "b", Name: "a", UID: "u", APIVersion: "v1", FieldPath: "f"},
		Source:         v1.EventSource{Component: "c", Host: "h"}, Reason: reason, Message: message, Count: 1, Type: "Normal",
		FirstTimestamp: now, LastTimestamp: now, ReportingController: "rc", ReportingInstance: "ri", Action: "A", EventTime: metav1.NewMicroTime(clock.Now()),
		Related: &v1.ObjectReference{Name: "r"},
	}
}

func tryCorrelators() {
	options := map[string]record.CorrelatorOptions{
		"defaults": {}, "burst": {BurstSize: 3}, "rate": {BurstSize: 2, QPS: 1}, "max events": {MaxEvents: 2}, "one event": {MaxEvents: 1}, "interval": {MaxIntervalInSeconds: 2, MaxEvents: 3}, "small cache": {LRUCacheSize: 1, MaxEvents: 3},
		"key":     {MaxEvents: 2, KeyFunc: func(e *v1.Event) (string, string) { return e.Message, e.Reason }},
		"message": {MaxEvents: 2, MessageFunc: func(e *v1.Event) string { return "combined " + e.Message }},
		"spam":    {BurstSize: 2, SpamKeyFunc: func(e *v1.Event) string { return e.Reason }},
	}
	streams := map[string]func(i int, e *v1.Event){
		"the same":          func(int, *v1.Event) {},
		"messages":          func(i int, e *v1.Event) { e.Message = fmt.Sprint("m", i) },
		"two messages":      func(i int, e *v1.Event) { e.Message = fmt.Sprint("m", i%2) },
		"reasons":           func(i int, e *v1.Event) { e.Reason = fmt.Sprint("R", i) },
		"objects":           func(i int, e *v1.Event) { e.InvolvedObject.Name = fmt.Sprint("a", i%3) },
		"fields":            func(i int, e *v1.Event) { e.InvolvedObject.FieldPath = fmt.Sprint("f", i%3) },
		"types":             func(i int, e *v1.Event) { e.Type = fmt.Sprint("T", i%3) },
		"sources":           func(i int, e *v1.Event) { e.Source.Host = fmt.Sprint("h", i%3) },
		"controllers":       func(i int, e *v1.Event) { e.ReportingController = fmt.Sprint("h", i%3) },
		"names":             func(i int, e *v1.Event) { e.Name = fmt.Sprint("a.", i) },
		"empty":             func(i int, e *v1.Event) { *e = v1.Event{} },
		"resource versions": func(i int, e *v1.Event) { e.InvolvedObject.ResourceVersion = fmt.Sprint(i) },
		"counts":            func(i int, e *v1.Event) { e.Count = int32(i * 3) },
	}
	for name, o := range options {
		for stream, change := range streams {
			if stream == "two messages" && o.MaxEvents == 2 {
				continue // it is random which of the two is dropped
			}
			try("correlator: "+name+", "+stream, func(out *outcome) {
				clock := testclock.NewFakeClock(time.Unix(1000, 5).UTC())
				o.Clock = clock
				c := record.NewEventCorrelatorWithOptions(o)
				for i := range 30 {
					e := occurrence(clock, "R", "m")
					change(i, e)
					result, err := c.EventCorrelate(e)
					out.line(i, text(result.Event), string(result.Patch), result.Skip, kindOf(err))
					if i%4 == 3 && result.Event != nil {
						written := result.Event.DeepCopy()
						written.ResourceVersion, written.Name = fmt.Sprint(i), fmt.Sprint("written", i)
						written.Count += 5
						c.UpdateState(written)
					}
					clock.Step(700 * time.Millisecond)
				}
			})
		}
	}
	try("correlator: nil", func(o *outcome) {
		c := record.NewEventCorrelator(testclock.NewFakeClock(time.Unix(1000, 0)))
		result, err := c.EventCorrelate(nil)
		o.line(result == nil, err != nil)
		o.panics("state", func() { c.UpdateState(nil) })
	})
	for _, burst := range []int{-1, 0, 1, 3} {
		for _, qps := range []float32{-1, 0, 0.5, 10, float32(math.Inf(1))} {
			try(fmt.Sprint("spam filter: ", burst, " ", qps), func(o *outcome) {
				clock := testclock.NewFakeClock(time.Unix(1000, 0))
				f := record.NewEventSourceObjectSpamFilter(2, burst, qps, clock, func(e *v1.Event) string { return e.Reason })
				for i := range 30 {
					o.line(f.Filter(occurrence(clock, fmt.Sprint(i%4/2), "")))
					clock.Step(time.Duration(i) * 100 * time.Millisecond)
				}
			})
		}
	}
	for _, most := range []int{-1, 0, 1, 3} {
		for _, interval := range []int{0, 1, 100} {
			try(fmt.Sprint("aggregator: ", most, " ", interval), func(o *outcome) {
				clock := testclock.NewFakeClock(time.Unix(1000, 0).UTC())
				a := record.NewEventAggregator(2, record.EventAggregatorByReasonFunc, record.EventAggregatorByReasonMessageFunc, most, interval, clock)
				for i := range 12 {
					e := occurrence(clock, fmt.Sprint("R", i%3/2), fmt.Sprint("m", i))
					result, key := a.EventAggregate(e)
					o.line(text(result), key, result == e)
					clock.Step(time.Duration(i) * 100 * time.Millisecond)
				}
			})
		}
	}
}
