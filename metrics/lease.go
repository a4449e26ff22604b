package metrics

import (
	"github.com/kinform/kinform/internal/hooks"
	"github.com/kinform/kinform/lease"
)

var leaseMetrics = func() snapshotMetrics[lease.Stats] {
	r := snapshotMetrics[lease.Stats]{part: []string{"lease"}}
	r.gauge("kinform_lease_leading", "Whether this process has the lease: 1, or 0.", func(s lease.Stats) float64 { return boolValue(s.Leading) })
	r.gauge("kinform_lease_standing", "Whether this process waits for the lease: 1, or 0.", func(s lease.Stats) float64 { return boolValue(s.Standing) })
	r.gauge("kinform_lease_led", "Whether anybody has the lease, as far as this process has seen: 1, or 0.", func(s lease.Stats) float64 { return boolValue(s.Leader != "") })
	r.gauge("kinform_lease_left_seconds", "Time until the lease is lost unless it is renewed; 0 if this process does not have the lease.",
		func(s lease.Stats) float64 { return s.Left.Seconds() })
	r.gauge("kinform_lease_transitions", "How often the lease has changed hands, as the server says.", func(s lease.Stats) float64 { return float64(s.Transitions) })
	r.gauge("kinform_lease_failing_seconds", "How long attempts to read, take, renew or release the lease have been failing; 0 if the last attempt succeeded, or if this process neither has the lease nor waits for it.",
		func(s lease.Stats) float64 {
			if s.FailingSince.IsZero() || !s.Standing && !s.Leading {
				return 0
			}
			return since(s.FailingSince)
		})
	r.counter("kinform_lease_attempts_total", "Attempts to read, take, renew or release the lease.", func(s lease.Stats) uint64 { return s.Attempts })
	r.counter("kinform_lease_failures_total", "Attempts at the lease that failed.", func(s lease.Stats) uint64 { return s.Failures })
	r.counter("kinform_lease_conflicts_total", "Attempts in which another candidate wrote the lease first.", func(s lease.Stats) uint64 { return s.Conflicts })
	r.counter("kinform_lease_terms_total", "Terms of this process that have begun.", func(s lease.Stats) uint64 { return s.Terms })
	r.counter("kinform_lease_lost_total", "Terms that ended because the lease was lost.", func(s lease.Stats) uint64 { return s.Lost })
	return r
}()

var holderMetrics = func() snapshotMetrics[lease.Stats] {
	r := snapshotMetrics[lease.Stats]{part: []string{"lease"}}
	r.gauges("kinform_lease_holder_info", "1 for the holder of the lease, as far as this process has seen.",
		func(s lease.Stats, set func(float64, ...string)) {
			if s.Leader != "" {
				set(1, s.Leader)
			}
		}, "holder")
	return r
}()

// Elector adds a candidate for a lease, such as a *lease.Elector. The label "lease" has the lease's
// namespace/name.
//
// Histograms also need an observer: see [Metrics.ElectorObserver].
func (m *Metrics) Elector(e interface{ Stats() lease.Stats }) (remove func()) {
	return m.add(func(c *scrapeState) { m.collectElector(c, e.Stats()) })
}

func (m *Metrics) collectElector(c *scrapeState, s lease.Stats) {
	labels, ok := c.part("lease", s.Lease.String())
	if !ok {
		return
	}
	leaseMetrics.emit(c, s, labels)
	if m.opts.Holders {
		holderMetrics.emit(c, s, labels)
	}
	if m.opts.ClientGoNames {
		if name, ok := c.part("client-go lease", s.Lease.Name); ok {
			clientGoLeaseMetrics.emit(c, s, name)
		}
	}
}

// ElectorObserver returns an observer for the duration of acquiring and renewing a lease. It also
// calls the observer next. The value of the label "lease" is the argument name, which should be
// namespace/name of the lease.
func (m *Metrics) ElectorObserver(name string, next *lease.Observer) *lease.Observer {
	times := newResults(m.observers.leaseSeconds, m.observers.named("lease", name))
	o := hooks.CopyOf(next)
	o.OnAttempt = hooks.Chain2(times.observe, o.OnAttempt)
	return o
}
