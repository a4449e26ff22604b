package cache

import (
	"strconv"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// informerMetrics are the metrics of an informer whose identity is reserved (see
// InformerName.WithResource). A nil pointer means no metrics.
type informerMetrics struct {
	id      InformerNameAndResource
	queued  GaugeMetric
	latency HistogramMetric
	version GaugeMetric
}

func newInformerMetrics(p InformerMetricsProvider, id InformerNameAndResource) *informerMetrics {
	if !id.Reserved() {
		return nil
	}
	p = informerMetricsProvider(p)
	m := &informerMetrics{id: id, queued: p.NewQueuedItemMetric(id), latency: p.NewProcessingLatencyMetric(id), version: p.NewStoreResourceVersionMetric(id)}
	m.queued.Set(0) // there is no queue between the reflector and the store
	return m
}

func (m *informerMetrics) took(since time.Time) {
	if m != nil && m.id.Reserved() {
		m.latency.Observe(time.Since(since).Seconds())
	}
}

func (m *informerMetrics) at(version string) {
	if m == nil || !m.id.Reserved() {
		return
	}
	if v, err := strconv.ParseFloat(version, 64); err == nil {
		m.version.Set(v)
	} else if version != "" {
		utilruntime.HandleError(err)
	}
}
