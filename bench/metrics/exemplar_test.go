package metrics

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/prometheus/model/exemplar"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/metrics"
	"github.com/kinform/kinform/workqueue"
)

// constantTraces is a Traces that returns the same trace id for everything.
type constantTraces string

func (o constantTraces) TracesOfEvents(string) func(informer.DeliverInfo) string {
	return func(informer.DeliverInfo) string { return string(o) }
}

func (o constantTraces) TracesOfReconciles(string) (next, ended func(types.NamespacedName) string) {
	of := func(types.NamespacedName) string { return string(o) }
	return of, of
}

// Prometheus' own parser reads the page in OpenMetrics format. It finds an exemplar in each
// histogram that covers a step from a change to its reconcile.
func TestPrometheusReadsExemplars(t *testing.T) {
	const id = "0af7651916cd43dd8448eb211c80319c"
	collected, err := metrics.New(metrics.Options{ClientGoNames: true, Traces: constantTraces(id)})
	require.NoError(t, err)
	collected.InformerObserver("maps", nil).OnDeliver(informer.DeliverInfo{Handler: "greet", Waited: time.Millisecond, Ran: time.Second})
	queue := collected.ControllerObserver().Queue("greet", nil)
	queue.OnGet(workqueue.Item[types.NamespacedName]{Waited: time.Millisecond})
	queue.OnDone(types.NamespacedName{Name: "a"}, time.Second)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collected)

	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Accept", "application/openmetrics-text;version=1.0.0") // like Prometheus
	response := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(response, request)
	parser, err := textparse.New(response.Body.Bytes(), response.Header().Get("Content-Type"), labels.NewSymbolTable(), textparse.ParserOptions{})
	require.NoError(t, err)
	found := map[string]int{}
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if entry != textparse.EntrySeries {
			continue
		}
		var series labels.Labels
		parser.Labels(&series)
		for e := (exemplar.Exemplar{}); parser.Exemplar(&e); e = (exemplar.Exemplar{}) {
			require.Equal(t, id, e.Labels.Get("trace_id"))
			require.True(t, e.HasTs)
			found[strings.TrimSuffix(series.Get("__name__"), "_bucket")]++
		}
	}
	require.Equal(t, map[string]int{
		"kinform_handler_wait_seconds": 1, "kinform_handler_run_seconds": 1, "kinform_workqueue_wait_seconds": 1, "kinform_workqueue_run_seconds": 1,
		"workqueue_queue_duration_seconds": 1, "workqueue_work_duration_seconds": 1, "controller_runtime_reconcile_time_seconds": 1,
	}, found)
}
