package cache

import (
	"strconv"
	"time"
)

// reflectorMetrics are the metrics of one reflector. A nil pointer means no metrics.
type reflectorMetrics struct {
	lists, watches, shortWatches                CounterMetric
	listDuration, listItems, watchTime, inWatch SummaryMetric
	version                                     GaugeMetric
}

func newReflectorMetrics(p MetricsProvider, name string) *reflectorMetrics {
	if p == nil {
		return nil
	}
	return &reflectorMetrics{
		lists: p.NewListsMetric(name), listDuration: p.NewListDurationMetric(name), listItems: p.NewItemsInListMetric(name),
		watches: p.NewWatchesMetric(name), shortWatches: p.NewShortWatchesMetric(name),
		watchTime: p.NewWatchDurationMetric(name), inWatch: p.NewItemsInWatchMetric(name),
		version: p.NewLastResourceVersionMetric(name),
	}
}

func (m *reflectorMetrics) listed(took time.Duration, n int) {
	if m == nil {
		return
	}
	m.lists.Inc()
	m.listDuration.Observe(took.Seconds())
	m.listItems.Observe(float64(n))
}

func (m *reflectorMetrics) watched(took time.Duration, n int) {
	if m == nil {
		return
	}
	m.watches.Inc()
	m.watchTime.Observe(took.Seconds())
	m.inWatch.Observe(float64(n))
	if n == 0 && took < time.Second {
		m.shortWatches.Inc()
	}
}

func (m *reflectorMetrics) at(version string) {
	if m == nil {
		return
	}
	if v, err := strconv.ParseFloat(version, 64); err == nil {
		m.version.Set(v)
	}
}
