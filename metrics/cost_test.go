package metrics

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/informer"
)

// BenchmarkScrape scrapes a program with ten informers and ten queues.
func BenchmarkScrape(b *testing.B) {
	m, err := New(Options{ClientGoNames: true})
	require.NoError(b, err)
	for i := range 10 {
		name := fmt.Sprint("part-", i)
		m.Informer(fakeInformer{Name: name, Handlers: []informer.HandlerStatus{{Name: "h"}}})
		m.Queue(fakeQueue{Name: name})
		QueueObserver[string](m, name, nil)
		InformerOptions(m, informer.Options[*configMap]{Name: name}).Observer.OnDeliver(informer.DeliverInfo{Handler: "h"})
	}
	registry := prometheus.NewRegistry()
	require.NoError(b, registry.Register(m))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = registry.Gather()
	}
	b.ReportMetric(float64(len(scrape(b, registry))), "series")
}
