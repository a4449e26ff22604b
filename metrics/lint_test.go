package metrics

import (
	"fmt"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// All metrics follow Prometheus' conventions: units, suffixes, help texts. client-go's metrics are
// exempt, because they keep their original form.
func TestMetricsAreClean(t *testing.T) {
	t.Parallel()
	kinds := map[string]dto.MetricType{"gauge": dto.MetricType_GAUGE, "counter": dto.MetricType_COUNTER, "histogram": dto.MetricType_HISTOGRAM}
	var all []*dto.MetricFamily
	for _, f := range allFamilies(Options{Holders: true}) {
		kind, one := kinds[f.kind], &dto.Metric{}
		for _, label := range f.labels {
			one.Label = append(one.Label, &dto.LabelPair{Name: &label})
		}
		all = append(all, &dto.MetricFamily{Name: &f.name, Help: &f.help, Type: &kind, Metric: []*dto.Metric{one}})
	}
	require.Greater(t, len(all), 80)
	problems, err := promlint.NewWithMetricFamilies(all).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
}

// While Prometheus scrapes, parts are added and removed, and observers are called.
func TestEverythingAtOnce(t *testing.T) {
	t.Parallel()
	m, registry := newMetrics(t, Options{ClientGoNames: true, MaxParts: 20})
	var working sync.WaitGroup
	for worker := range 4 {
		working.Go(func() {
			client := m.ClientObserver(fmt.Sprint("client-", worker), nil)
			handlers := m.InformerObserver("pods", nil)
			queue := workqueue.New(workqueue.Options[int]{Name: "queue", Observer: QueueObserver[int](m, "queue", nil)})
			defer m.Queue(queue)()
			for i := range 200 {
				remove := m.Informer(fakeInformer{Name: "pods", Handlers: []informer.HandlerStatus{{Name: "a"}}})
				client.OnResponse(rest.ResponseInfo{Method: "GET", URL: fmt.Sprintf("https://host-%d/", i), StatusCode: 200 + i})
				handlers.OnDeliver(informer.DeliverInfo{Handler: fmt.Sprint("handler-", i)})
				queue.Add(i)
				if key, ok := queue.TryGet(); ok {
					queue.Done(key)
				}
				remove()
			}
		})
	}
	for range 20 {
		scrape(t, registry)
	}
	working.Wait()
	now := scrape(t, registry)
	require.Positive(t, now[`kinform_metrics_left_out{}`])
	require.Equal(t, 800.0, now[`kinform_workqueue_run_seconds_count{queue="queue"}`])
}

// A registry accepts one collector of this package. A program adds all of its parts to that
// collector.
func TestOneRegistryHasOneCollector(t *testing.T) {
	t.Parallel()
	_, registry := newMetrics(t, Options{})
	other, _ := newMetrics(t, Options{})
	require.ErrorAs(t, registry.Register(other), &prometheus.AlreadyRegisteredError{}, "the descriptions are the same")
}
