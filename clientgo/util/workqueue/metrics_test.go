package workqueue_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

// recordingProvider is a provider with readable metrics.
type recordingProvider struct {
	mu     sync.Mutex // guards following
	values map[string]*value
}

type value struct {
	of       *recordingProvider
	value    float64
	observed []float64
}

func (v *value) Inc()              { v.of.do(func() { v.value++ }) }
func (v *value) Dec()              { v.of.do(func() { v.value-- }) }
func (v *value) Set(x float64)     { v.of.do(func() { v.value = x }) }
func (v *value) Observe(x float64) { v.of.do(func() { v.observed = append(v.observed, x) }) }

func (r *recordingProvider) do(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

func (r *recordingProvider) make(what, name string) (v *value) {
	r.do(func() {
		v = &value{of: r}
		r.values[name+" "+what] = v
	})
	return v
}

func (r *recordingProvider) at(what string) (v value) {
	synctest.Wait()
	r.do(func() { v = *r.values[what] })
	return v
}

func (r *recordingProvider) NewDepthMetric(n string) workqueue.GaugeMetric  { return r.make("depth", n) }
func (r *recordingProvider) NewAddsMetric(n string) workqueue.CounterMetric { return r.make("adds", n) }
func (r *recordingProvider) NewLatencyMetric(n string) workqueue.HistogramMetric {
	return r.make("latency", n)
}
func (r *recordingProvider) NewWorkDurationMetric(n string) workqueue.HistogramMetric {
	return r.make("duration", n)
}
func (r *recordingProvider) NewUnfinishedWorkSecondsMetric(n string) workqueue.SettableGaugeMetric {
	return r.make("unfinished", n)
}
func (r *recordingProvider) NewLongestRunningProcessorSecondsMetric(n string) workqueue.SettableGaugeMetric {
	return r.make("longest", n)
}
func (r *recordingProvider) NewRetriesMetric(n string) workqueue.CounterMetric {
	return r.make("retries", n)
}

func TestMetrics(t *testing.T) { // WQ-16, WQ-20
	for name, config := range map[string]workqueue.TypedRateLimitingQueueConfig[string]{
		"kept by kinform":  {},
		"of another clock": {Clock: otherClock{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &recordingProvider{values: map[string]*value{}}
				config.Name, config.MetricsProvider = "q", m
				q := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.NewTypedItemFastSlowRateLimiter[string](0, time.Hour, 1), config)
				require.Len(t, m.values, 7)
				for range 5 {
					q.Add("a")
				}
				require.Equal(t, 1.0, m.at("q adds").value)
				require.Equal(t, 1.0, m.at("q depth").value)
				time.Sleep(2 * time.Second)
				q.Get()
				require.Equal(t, []float64{2}, m.at("q latency").observed)
				require.Zero(t, m.at("q depth").value)
				q.Add("a")
				require.Equal(t, 1.0, m.at("q depth").value, "the item is pending again, although Len is 0")
				require.Zero(t, q.Len())
				time.Sleep(10*time.Second + time.Millisecond)
				require.InDelta(t, 10, m.at("q unfinished").value, 0.51)
				require.InDelta(t, 10, m.at("q longest").value, 0.51)
				q.Done("a")
				require.Len(t, m.at("q duration").observed, 1)
				require.InDelta(t, 10, m.at("q duration").observed[0], 0.01)
				require.Equal(t, 2.0, m.at("q adds").value)
				q.AddRateLimited("b")
				q.AddAfter("b", time.Hour)
				require.Equal(t, 2.0, m.at("q retries").value)
				q.ShutDown()
				q.AddAfter("b", time.Hour)
				require.Equal(t, 2.0, m.at("q retries").value)
				q.Get()
				time.Sleep(time.Minute)
				require.InDelta(t, 10, m.at("q unfinished").value, 0.51, "metrics are not updated after ShutDown")
			})
		})
	}
}

func TestAQueueWithoutANameHasNoMetrics(t *testing.T) { // WQ-16
	m := &recordingProvider{values: map[string]*value{}}
	q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{MetricsProvider: m})
	q.Add("a")
	q.ShutDown()
	require.Empty(t, m.values)
}

// No other test may set the provider of the process.
func TestOnlyTheFirstProviderIsUsed(t *testing.T) {
	first, second := &recordingProvider{values: map[string]*value{}}, &recordingProvider{values: map[string]*value{}}
	workqueue.SetProvider(first)
	workqueue.SetProvider(second)
	q := workqueue.NewNamed("named")
	q.Add("a")
	require.Equal(t, 1.0, first.values["named adds"].value)
	require.Empty(t, second.values)
	require.NotContains(t, first.values, "named retries", "only queues with delays have this metric")
	q.ShutDown()
}
