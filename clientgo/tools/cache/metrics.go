package cache

import "sync"

// GaugeMetric is a value that is set.
type GaugeMetric interface {
	Set(float64)
}

// CounterMetric is a value that goes up.
type CounterMetric interface {
	Inc()
}

// SummaryMetric takes observations.
type SummaryMetric interface {
	Observe(float64)
}

// HistogramMetric takes observations.
type HistogramMetric interface {
	Observe(float64)
}

// MetricsProvider makes the metrics of a reflector, by its name. Times are in seconds. client-go has not called it
// since 2019; here it is called for each reflector that runs, when a provider is set (D18).
type MetricsProvider interface {
	NewListsMetric(name string) CounterMetric
	NewListDurationMetric(name string) SummaryMetric
	NewItemsInListMetric(name string) SummaryMetric

	NewWatchesMetric(name string) CounterMetric
	NewShortWatchesMetric(name string) CounterMetric
	NewWatchDurationMetric(name string) SummaryMetric
	NewItemsInWatchMetric(name string) SummaryMetric

	NewLastResourceVersionMetric(name string) GaugeMetric
}

// InformerMetricsProvider makes the metrics of informers that have a reserved identity.
type InformerMetricsProvider interface {
	// NewQueuedItemMetric is of what was received and is not in the store yet.
	NewQueuedItemMetric(id InformerNameAndResource) GaugeMetric
	// NewProcessingLatencyMetric is of the seconds that a change takes to be stored and handed to the handlers.
	NewProcessingLatencyMetric(id InformerNameAndResource) HistogramMetric
	// NewStoreResourceVersionMetric is of the version through which the store is complete.
	NewStoreResourceVersionMetric(id InformerNameAndResource) GaugeMetric
}

type noMetric struct{}

func (noMetric) Set(float64)     {}
func (noMetric) Inc()            {}
func (noMetric) Observe(float64) {}

type noInformerMetrics struct{}

func (noInformerMetrics) NewQueuedItemMetric(InformerNameAndResource) GaugeMetric { return noMetric{} }
func (noInformerMetrics) NewProcessingLatencyMetric(InformerNameAndResource) HistogramMetric {
	return noMetric{}
}
func (noInformerMetrics) NewStoreResourceVersionMetric(InformerNameAndResource) GaugeMetric {
	return noMetric{}
}

// providers are those of the process. The first one that is set stays.
var providers struct {
	mu        sync.Mutex // guards following
	reflector MetricsProvider
	informer  InformerMetricsProvider
}

// SetReflectorMetricsProvider sets the provider of reflectors that run from now on. Only the first call has an effect.
func SetReflectorMetricsProvider(metricsProvider MetricsProvider) {
	providers.mu.Lock()
	defer providers.mu.Unlock()
	if providers.reflector == nil {
		providers.reflector = metricsProvider
	}
}

// SetInformerMetricsProvider sets the provider of informers that are made from now on. Only the first call has an
// effect.
func SetInformerMetricsProvider(metricsProvider InformerMetricsProvider) {
	providers.mu.Lock()
	defer providers.mu.Unlock()
	if providers.informer == nil {
		providers.informer = metricsProvider
	}
}

func reflectorMetricsProvider() MetricsProvider {
	providers.mu.Lock()
	defer providers.mu.Unlock()
	return providers.reflector
}

// informerMetricsProvider returns own, or the provider of the process, or one whose metrics do nothing.
func informerMetricsProvider(own InformerMetricsProvider) InformerMetricsProvider {
	if own != nil {
		return own
	}
	providers.mu.Lock()
	defer providers.mu.Unlock()
	if providers.informer != nil {
		return providers.informer
	}
	return noInformerMetrics{}
}
