package metrics

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics collects the metrics of the parts of a program. It is a prometheus.Collector, to be
// registered once; parts may be added before and after that, and taken out again.
//
// It is safe for concurrent use, has no goroutine, and holds nothing that would need closing.
type Metrics struct {
	opts     Options
	observed observed

	mu      sync.Mutex // guards following
	sources []*source  // in the order in which they were added
}

// source is a part, or several, to be looked at in each scrape.
type source struct {
	collect func(*collection)
}

var _ prometheus.Collector = (*Metrics)(nil)

// New returns a collector that has no parts yet.
func New(opts Options) (*Metrics, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Metrics{opts: opts, observed: newObserved(opts)}, nil
}

// add has a source looked at in each scrape, until remove is called.
func (m *Metrics) add(collect func(*collection)) (remove func()) {
	added := &source{collect}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sources = append(m.sources, added)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		var left []*source // A scrape may be going through the old ones.
		for _, s := range m.sources {
			if s != added {
				left = append(left, s)
			}
		}
		m.sources = left
	}
}

// leftOutDesc is about this package itself.
var leftOutDesc = prometheus.NewDesc(leftOut.name, leftOut.help, nil, nil)

var leftOut = family{
	name: "kinform_metrics_left_out", kind: "gauge",
	help: "How many parts and series have no metrics, as there are more than Options.MaxParts.",
}

// Describe sends the descriptions of all metrics that there may be.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, t := range tables(m.opts) {
		t.describe(out)
	}
	m.observed.describe(out)
	out <- leftOutDesc
}

// Collect sends the metrics of all parts, as they are now. It takes no longer than the
// snapshots of the parts: some microseconds for each.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	m.mu.Lock()
	sources := m.sources
	m.mu.Unlock()
	c := &collection{out: out, most: m.opts.MaxParts, taken: map[string]bool{}, count: map[string]int{}}
	for _, s := range sources {
		s.collect(c)
	}
	m.observed.collect(out)
	out <- prometheus.MustNewConstMetric(leftOutDesc, prometheus.GaugeValue, float64(c.leftOut+m.observed.leftOut()))
}

// table is the readings of one kind of part.
type table interface {
	families() []family
	describe(chan<- *prometheus.Desc)
}

// tables are all that is read from snapshots.
func tables(opts Options) []table {
	all := []table{&clientReadings, &informerReadings, &reflectorReadings, &fifoReadings, &storeReadings, &handlerReadings,
		&queueReadings, &managerReadings, &controllerReadings, &leaseReadings, &eventsReadings}
	if opts.Holders {
		all = append(all, &holderReadings)
	}
	if opts.FamiliarNames {
		all = append(all, &familiarQueueReadings, &familiarControllerReadings, &familiarLeaseReadings)
	}
	return all
}

// numbered is the name of the nth part that has this name.
func numbered(name string, n int) string { return name + "~" + strconv.Itoa(n) }
