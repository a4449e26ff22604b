package metrics

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/events"
	"github.com/kinform/kinform/internal/hooks"
)

var eventsMetrics = func() snapshotMetrics[events.Stats] {
	r := snapshotMetrics[events.Stats]{part: []string{"recorder"}}
	r.counter("kinform_events_recorded_total", "Events that were recorded, valid or not.", func(s events.Stats) uint64 { return s.Recorded })
	r.counter("kinform_events_sent_total", "Events that the server has counted.", func(s events.Stats) uint64 { return s.Sent })
	r.gauge("kinform_events_waiting", "Events that wait to be sent.", func(s events.Stats) float64 { return float64(s.Waiting) })
	r.counters("kinform_events_dropped_total", "Events that were dropped, and why.",
		func(s events.Stats, set func(float64, ...string)) {
			for reason, n := range s.Dropped {
				set(float64(n), labelWord(events.DropReason(reason)))
			}
		}, "reason")
	r.gauge("kinform_events_series", "Different events that are remembered.", func(s events.Stats) float64 { return float64(s.Series) })
	r.counters("kinform_events_requests_total", "Requests that send events: the first of an event, updates of a series, and failures.",
		func(s events.Stats, set func(float64, ...string)) {
			set(float64(s.Created), "created")
			set(float64(s.Updated), "updated")
			set(float64(s.Failures), "failed")
		}, "result")
	r.gauge("kinform_events_failing", "1 if the last request of the recorder failed, else 0.", func(s events.Stats) float64 { return boolValue(s.Failing != nil) })
	return r
}()

// Recorder adds an event recorder, such as an *events.Recorder. The label "recorder" has the
// argument name.
func (m *Metrics) Recorder(name string, r interface{ Stats() events.Stats }) (remove func()) {
	return m.add(func(c *scrapeState) {
		if labels, ok := c.part("recorder", name); ok {
			eventsMetrics.emit(c, r.Stats(), labels)
		}
	})
}

// RecorderObserver returns an observer for the duration of requests for events. It also calls the
// observer next.
func (m *Metrics) RecorderObserver(name string, next *events.Observer) *events.Observer {
	times := newResults(m.observers.eventsSeconds, m.observers.named("recorder", name))
	o := hooks.CopyOf(next)
	onRequest := o.OnRequest
	o.OnRequest = func(event types.NamespacedName, created bool, took time.Duration, err error) {
		times.observe(took, err)
		if onRequest != nil {
			onRequest(event, created, took, err)
		}
	}
	return o
}
