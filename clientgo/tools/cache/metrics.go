package cache

import "sync"

// GaugeMetric is a value that can be set.
type GaugeMetric interface {
	Set(float64)
}

// CounterMetric is a value that only increases.
type CounterMetric interface {
	Inc()
}

// SummaryMetric records observations.
type SummaryMetric interface {
	Observe(float64)
}

// HistogramMetric records observations.
type HistogramMetric interface {
	Observe(float64)
}

// MetricsProvider makes the metrics of a reflector, by its name. Times are in seconds. client-go
// has not used this provider since 2019. Here it is called for each reflector that starts after a
// provider was set (D18).
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

// InformerMetricsProvider makes the metrics of informers whose identity is reserved (see
// [InformerName.WithResource]).
type InformerMetricsProvider interface {
	// NewQueuedItemMetric returns the metric of the number of received changes that are not in the
	// store yet.
	NewQueuedItemMetric(id InformerNameAndResource) GaugeMetric
	// NewProcessingLatencyMetric returns the metric of the time, in seconds, to store a change and
	// pass it to the handlers.
	NewProcessingLatencyMetric(id InformerNameAndResource) HistogramMetric
	// NewStoreResourceVersionMetric returns the metric of the version up to which the store is
	// complete.
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

// providers has the process-wide providers. The first provider of each kind stays.
var providers struct {
	mu        sync.Mutex // guards following
	reflector MetricsProvider
	informer  InformerMetricsProvider
}

// SetReflectorMetricsProvider sets the provider of reflectors that run after the call. Only the
// first call has an effect.
func SetReflectorMetricsProvider(metricsProvider MetricsProvider) {
	providers.mu.Lock()
	defer providers.mu.Unlock()
	if providers.reflector == nil {
		providers.reflector = metricsProvider
	}
}

// SetInformerMetricsProvider sets the provider of informers that are made after the call. Only the
// first call has an effect.
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

// informerMetricsProvider returns the provider own. If own is nil, it returns the provider of the
// process. If that provider is not set, it returns a provider whose metrics do nothing.
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
