package contracts

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/consistencydetector"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// metric is both a gauge and a histogram.
type metric struct {
	mu    sync.Mutex // guards following
	value float64
	sets  int
}

func (m *metric) Set(v float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.value = v
	m.sets++
}

func (m *metric) Observe(v float64) { m.Set(v) }

func (m *metric) get() (float64, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.value, m.sets
}

type provider struct{ queued, latency, version metric }

func (p *provider) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return &p.queued
}
func (p *provider) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return &p.latency
}
func (p *provider) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return &p.version
}

// An informer whose identity is reserved has metrics. A second informer with the same identity has
// no metrics.
func TestMetricsOfAnInformer(t *testing.T) {
	defer cache.ResetInformerNamesForTesting()
	informerName, err := cache.NewInformerName("test")
	require.NoError(t, err)
	_, err = cache.NewInformerName("test")
	require.Error(t, err, "the name is in use")
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	for n, id := range []cache.InformerNameAndResource{informerName.WithResource(pods), informerName.WithResource(pods)} {
		require.Equal(t, n == 0, id.Reserved())
		synctest.Test(t, func(t *testing.T) {
			p := &provider{}
			s := &server{list: func(int, metav1.ListOptions) (kruntime.Object, error) { return podList("10", pod("a", "5")), nil }}
			inf := cache.NewSharedIndexInformerWithOptions(s.source(), &corev1.Pod{}, cache.SharedIndexInformerOptions{Identifier: id, InformerMetricsProvider: p})
			run(t, inf.RunWithContext, func() {
				s.last(t).Add(pod("b", "11"))
				synctest.Wait()
			})
			version, _ := p.version.get()
			queued, _ := p.queued.get()
			_, took := p.latency.get()
			if n > 0 {
				require.Zero(t, version+float64(took))
				return
			}
			require.InDelta(t, 11, version, 0)
			require.Zero(t, queued)
			require.Positive(t, took)
		})
	}
	informerName.Release()
	_, err = cache.NewInformerName("test")
	require.NoError(t, err)
}

// With KUBE_WATCHLIST_INCONSISTENCY_DETECTOR, a streaming list is compared with a list of the same
// version.
func TestAStreamingListIsComparedWithAList(t *testing.T) {
	defer consistencydetector.SetDataConsistencyDetectionForWatchListEnabledForTest(true)()
	for _, listed := range []string{"1", "2"} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{streams: true, list: func(int, metav1.ListOptions) (kruntime.Object, error) { return podList("9", pod("a", listed)), nil }}
			s.watch = func(int, metav1.ListOptions) (watch.Interface, error) {
				w := watch.NewFakeWithChanSize(10, false)
				w.Add(pod("a", "1"))
				w.Action(watch.Bookmark, marker("9", "true"))
				return w, nil
			}
			r := cache.NewReflector(s.source(), &corev1.Pod{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			runs := func() { _ = r.ListAndWatchWithContext(ctx) }
			if listed == "1" {
				runs()
				require.Equal(t, []string{streamingList, `list "9" Exact`}, s.takeRequests())
			} else {
				require.Panics(t, runs)
			}
		})
	}
}

// Informers use the loggers of options and contexts. So log lines have the values that the program
// has added to its loggers.
func TestInformersUseTheProgramsLoggers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(9)))
		s := &server{list: func(int, metav1.ListOptions) (kruntime.Object, error) { return nil, fmt.Errorf("refused") }}
		inf := cache.NewSharedIndexInformer(s.source(), &corev1.Pod{}, 0, nil)
		named := klog.LoggerWithName(logger, "mine")
		_, err := inf.AddEventHandlerWithOptions(&handlerRecorder{}, cache.HandlerOptions{Logger: &named})
		require.NoError(t, err)
		run(t, func(ctx context.Context) { inf.RunWithContext(klog.NewContext(ctx, named)) }, func() {})
		buffer := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
		require.Contains(t, buffer, "mine")
	})
}
