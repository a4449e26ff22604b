package metrics

import (
	"errors"
	"strconv"
	"time"

	"github.com/kinform/kinform/internal/hooks"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// phases are all phases of a reflector.
var phases = []reflector.Phase{reflector.Idle, reflector.Listing, reflector.Streaming, reflector.Connecting,
	reflector.Comparing, reflector.Watching, reflector.BackingOff, reflector.Stopped}

var reflectorMetrics = func() snapshotMetrics[reflector.Status] {
	r := snapshotMetrics[reflector.Status]{part: informerPart}
	r.gauges("kinform_reflector_phase", "1 for the current phase of the reflector, 0 for the others.",
		func(s reflector.Status, set func(float64, ...string)) {
			for _, phase := range phases {
				set(boolValue(s.Phase == phase), labelWord(phase))
			}
		}, "phase")
	r.gauges("kinform_reflector_phase_seconds", "How long the reflector has been in the current phase. Absent before Run.",
		func(s reflector.Status, set func(float64, ...string)) {
			if !s.Since.IsZero() {
				set(since(s.Since))
			}
		})
	r.gauge("kinform_reflector_failing_attempts", "How many attempts have failed since the last success.",
		func(s reflector.Status) float64 { return float64(s.Failures) })
	r.counter("kinform_reflector_lists_total", "Lists that were begun, plain or streaming.", func(s reflector.Status) uint64 { return s.Lists })
	r.counter("kinform_reflector_relists_total", "Lists that were begun after a first complete list.", func(s reflector.Status) uint64 { return s.Relists })
	r.counters("kinform_reflector_requests_total", "Requests, by kind: pages of lists, streaming lists, watches, and requests for the server's version.",
		func(s reflector.Status, set func(float64, ...string)) {
			set(float64(s.Pages), "page")
			set(float64(s.StreamingLists), "streaming_list")
			set(float64(s.Watches), "watch")
			set(float64(s.Comparisons), "comparison")
		}, "request")
	r.counters("kinform_reflector_received_total", "Objects of lists, events of watches and streaming lists, and bookmarks from the server.",
		func(s reflector.Status, set func(float64, ...string)) {
			set(float64(s.Listed), "listed")
			set(float64(s.Events), "event")
			set(float64(s.Bookmarks), "bookmark")
		}, "received")
	r.counter("kinform_reflector_errors_total", "Attempts to list or to watch that failed.", func(s reflector.Status) uint64 { return s.Errors })
	r.counter("kinform_reflector_skipped_total", "Objects that could not be decoded.", func(s reflector.Status) uint64 { return s.Skipped })
	r.counter("kinform_reflector_stale_events_total", "Events and bookmarks that were ignored because the watch had already passed their version.",
		func(s reflector.Status) uint64 { return s.Stale })
	return r
}()

// Reflector adds a reflector that is used without an informer.
func (m *Metrics) Reflector(name string, r interface{ Status() reflector.Status }) (remove func()) {
	return m.add(func(c *scrapeState) {
		if labels, ok := c.part("reflector", "", name); ok {
			reflectorMetrics.emit(c, r.Status(), labels)
		}
	})
}

// ReflectorObserver returns an observer for the histograms of lists and watches, and for the
// reasons of failures. It also calls the observer next. Use a separate observer for each reflector.
func (m *Metrics) ReflectorObserver(name string, next *reflector.Observer) *reflector.Observer {
	name = m.observers.named("informer", name)
	lists, watches := m.observers.listSeconds.WithLabelValues(name), m.observers.watchSeconds.WithLabelValues(name)
	var begun time.Time
	o := hooks.CopyOf(next)
	o.OnPhase = hooks.Chain(func(change reflector.PhaseChange) {
		now := time.Now()
		took := now.Sub(begun).Seconds()
		switch {
		case change.Cause != nil:
			m.observers.failures.WithLabelValues(name, labelWord(change.From), reasonOf(change.Cause)).Inc()
			if change.From == reflector.Watching {
				watches.Observe(took)
			}
		case change.From == change.To:
		case change.From == reflector.Listing, change.From == reflector.Streaming:
			lists.Observe(took)
		case change.From == reflector.Watching:
			watches.Observe(took)
		}
		if change.From != change.To {
			begun = now
		}
	}, o.OnPhase)
	return o
}

// reasons are the checks of reasonOf, in order.
var reasons = []struct {
	name string
	err  error
}{
	{"idle", reflector.ErrIdle},
	{"short_watch", reflector.ErrVeryShortWatch},
	{"overdue", reflector.ErrOverdue},
	{"no_progress", reflector.ErrNoProgress},
	{"page_repeated", reflector.ErrPageRepeated},
	{"late_event", reflector.ErrLate},
	{"time_travel", reflector.ErrTimeTravel},
	{"other_history", reflector.ErrOtherHistory},
	{"too_large", listwatch.ErrListTooLarge},
	{"unusable", listwatch.ErrUnusable},
}

// reasonOf returns why an attempt failed, as one of some twenty words.
func reasonOf(err error) string {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.name
		}
	}
	if _, ok := errors.AsType[*listwatch.ObjectError](err); ok {
		return "undecodable"
	}
	code := reflector.StatusCode(err)
	switch {
	case reflector.IsExpired(err):
		return "expired"
	case code == 401:
		return "unauthorized"
	case code == 403:
		return "forbidden"
	case code == 404:
		return "not_found"
	case code == 429:
		return "throttled"
	case code >= 500:
		return "server"
	case code > 0:
		return "refused"
	}
	return "connection"
}

// versionNumber converts a resourceVersion to a number. If a version is long, it uses the last 15
// digits, which a float can represent exactly.
func versionNumber(version string) (float64, bool) {
	if len(version) > 15 {
		version = version[len(version)-15:]
	}
	n, err := strconv.ParseUint(version, 10, 64)
	return float64(n), err == nil
}
