package workqueue

import (
	"sync"
	"time"

	core "github.com/kinform/kinform/workqueue"
	"k8s.io/utils/clock"
)

// GaugeMetric is a value that goes up and down.
type GaugeMetric interface {
	Inc()
	Dec()
}

// SettableGaugeMetric is a value that can be set.
type SettableGaugeMetric interface {
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

// MetricsProvider makes the metrics of a queue, by the queue's name. Times are in seconds.
//
// When a queue with a name is made, each method is called once. NewRetriesMetric is called only for
// a queue with delays. Several goroutines may use the metrics at once.
type MetricsProvider interface {
	// NewDepthMetric returns the metric of the number of pending items: queued items, and items
	// that were added while a worker has them.
	NewDepthMetric(name string) GaugeMetric
	// NewAddsMetric returns the counter of adds, except adds of items that were pending already.
	NewAddsMetric(name string) CounterMetric
	// NewLatencyMetric returns the metric of the time from the add of an item until a worker gets
	// the item.
	NewLatencyMetric(name string) HistogramMetric
	// NewWorkDurationMetric returns the metric of the time from Get to Done of an item.
	NewWorkDurationMetric(name string) HistogramMetric
	// NewUnfinishedWorkSecondsMetric returns the metric of the items that workers have now: the sum
	// of the times since Get.
	NewUnfinishedWorkSecondsMetric(name string) SettableGaugeMetric
	// NewLongestRunningProcessorSecondsMetric returns the metric of the longest of these times.
	NewLongestRunningProcessorSecondsMetric(name string) SettableGaugeMetric
	// NewRetriesMetric returns the counter of calls of AddAfter.
	NewRetriesMetric(name string) CounterMetric
}

var provider struct {
	mu  sync.Mutex // guards following
	set MetricsProvider
}

// SetProvider sets the provider of queues that are made later without their own provider. Only the
// first call has an effect.
func SetProvider(metricsProvider MetricsProvider) {
	provider.mu.Lock()
	defer provider.mu.Unlock()
	if provider.set == nil {
		provider.set = metricsProvider
	}
}

// metricsProviderFor returns the provider of a queue, or nil if the queue has no metrics.
func metricsProviderFor(own MetricsProvider, name string) MetricsProvider {
	switch {
	case name == "":
		return nil
	case own != nil:
		return own
	}
	provider.mu.Lock()
	defer provider.mu.Unlock()
	return provider.set
}

// unfinishedPeriod is the time between two updates of the metrics about items that workers have.
const unfinishedPeriod = 500 * time.Millisecond

// queueMetrics updates the metrics of a queue. A nil pointer means no metrics, and all methods
// accept it.
type queueMetrics[T comparable] struct {
	depth               GaugeMetric
	adds                CounterMetric
	latency, duration   HistogramMetric
	unfinished, longest SettableGaugeMetric

	once   sync.Once
	stopCh chan struct{}
	loop   sync.WaitGroup
}

func newQueueMetrics[T comparable](own MetricsProvider, name string) *queueMetrics[T] {
	p := metricsProviderFor(own, name)
	if p == nil {
		return nil
	}
	return &queueMetrics[T]{
		depth:      p.NewDepthMetric(name),
		adds:       p.NewAddsMetric(name),
		latency:    p.NewLatencyMetric(name),
		duration:   p.NewWorkDurationMetric(name),
		unfinished: p.NewUnfinishedWorkSecondsMetric(name),
		longest:    p.NewLongestRunningProcessorSecondsMetric(name),
		stopCh:     make(chan struct{}),
	}
}

// observer returns an Observer for kinform's queue.
func (m *queueMetrics[T]) observer() *core.Observer[T] {
	if m == nil {
		return nil
	}
	return &core.Observer[T]{
		OnAdd:  func(T) { m.countAdd() },
		OnGet:  func(item core.Item[T]) { m.observeGet(item.Waited) },
		OnDone: func(_ T, ran time.Duration) { m.observeDone(ran) },
	}
}

func (m *queueMetrics[T]) countAdd() {
	if m != nil {
		m.adds.Inc()
		m.depth.Inc()
	}
}

func (m *queueMetrics[T]) observeGet(waited time.Duration) {
	if m != nil {
		m.depth.Dec()
		m.latency.Observe(waited.Seconds())
	}
}

func (m *queueMetrics[T]) observeDone(ran time.Duration) {
	if m != nil {
		m.duration.Observe(ran.Seconds())
	}
}

// start starts a goroutine that periodically updates the metrics about items in progress, until
// stop is called.
func (m *queueMetrics[T]) start(of items[T], c clock.WithTicker) {
	if m == nil {
		return
	}
	ticker := c.NewTicker(unfinishedPeriod)
	m.loop.Go(func() {
		defer ticker.Stop()
		for {
			select {
			case <-m.stopCh:
				return
			case <-ticker.C():
			}
			total, longest := of.running()
			m.unfinished.Set(total.Seconds())
			m.longest.Set(longest.Seconds())
		}
	})
}

// stop ends the goroutine that start has started, and waits for it.
func (m *queueMetrics[T]) stop() {
	if m == nil {
		return
	}
	m.once.Do(func() { close(m.stopCh) })
	m.loop.Wait()
}
