package metrics

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics collects the metrics of the parts of a program. It is a prometheus.Collector: register it
// once. Parts may be added and removed at any time.
//
// It is safe for concurrent use, has no goroutines, and needs no Close.
type Metrics struct {
	opts      Options
	observers observerMetrics

	mu      sync.Mutex // guards following
	sources []*source  // in the order in which they were added
}

// source adds the metrics of one or several parts to each scrape.
type source struct {
	collect func(*scrapeState)
}

var _ prometheus.Collector = (*Metrics)(nil)

// New returns a collector without parts.
func New(opts Options) (*Metrics, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Metrics{opts: opts, observers: newObserverMetrics(opts)}, nil
}

// add adds a source, which each scrape reads until remove is called.
func (m *Metrics) add(collect func(*scrapeState)) (remove func()) {
	added := &source{collect}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sources = append(m.sources, added)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		var left []*source // A scrape may be iterating over the old slice.
		for _, s := range m.sources {
			if s != added {
				left = append(left, s)
			}
		}
		m.sources = left
	}
}

// leftOutDesc describes the package's metric about itself.
var leftOutDesc = prometheus.NewDesc(leftOut.name, leftOut.help, nil, nil)

var leftOut = family{
	name: "kinform_metrics_left_out", kind: "gauge",
	help: "How many parts and series have no metrics, as there are more than Options.MaxParts.",
}

// Describe sends the descriptions of all possible metrics.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, t := range tables(m.opts) {
		t.describe(out)
	}
	m.observers.describe(out)
	out <- leftOutDesc
}

// Collect sends the current metrics of all parts. It takes only as long as the snapshots of the
// parts: some microseconds for each.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	m.mu.Lock()
	sources := m.sources
	m.mu.Unlock()
	c := &scrapeState{out: out, limit: m.opts.MaxParts, taken: map[string]bool{}, count: map[string]int{}}
	for _, s := range sources {
		s.collect(c)
	}
	m.observers.collect(out)
	out <- prometheus.MustNewConstMetric(leftOutDesc, prometheus.GaugeValue, float64(c.leftOut+m.observers.leftOut()))
}

// table has the snapshotMetrics of one kind of part.
type table interface {
	families() []family
	describe(chan<- *prometheus.Desc)
}

// tables returns the snapshotMetrics of all kinds of parts.
func tables(opts Options) []table {
	all := []table{&clientMetrics, &informerMetrics, &reflectorMetrics, &fifoMetrics, &storeMetrics, &handlerMetrics,
		&queueMetrics, &managerMetrics, &controllerMetrics, &leaseMetrics, &eventsMetrics}
	if opts.Holders {
		all = append(all, &holderMetrics)
	}
	if opts.ClientGoNames {
		all = append(all, &clientGoQueueMetrics, &clientGoControllerMetrics, &clientGoLeaseMetrics)
	}
	return all
}

// numbered returns the name for the nth part with the same name, such as "pods~2".
func numbered(name string, n int) string { return name + "~" + strconv.Itoa(n) }
