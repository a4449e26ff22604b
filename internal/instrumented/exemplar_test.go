package instrumented

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/metrics"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/tracing"
)

// bucket matches a line of a histogram with an exemplar in OpenMetrics format:
//
//	some_seconds_bucket{queue="greet",le="0.01"} 1 # {trace_id="0af7"} 0.0042 1.7e+09
var bucket = regexp.MustCompile(`(?m)^([a-z_]+)_bucket\{(.*)\} ([0-9]+) # \{trace_id="([0-9a-f]{32})"\} ([^ ]+) [^ ]+$`)

// exemplar is an exemplar from a page of metrics.
type exemplar struct {
	trace   string
	seconds float64
}

// exemplars returns the exemplars of a page, by histogram.
func exemplars(t *testing.T, page string) map[string][]exemplar {
	t.Helper()
	found := map[string][]exemplar{}
	for _, m := range bucket.FindAllStringSubmatch(page, -1) {
		seconds, err := strconv.ParseFloat(m[5], 64)
		require.NoError(t, err)
		found[m[1]] = append(found[m[1]], exemplar{m[4], seconds})
	}
	require.Equal(t, strings.Count(page, " # {"), strings.Count(page, "# {trace_id="), "each exemplar must have a trace id")
	return found
}

// tracedPipeline is a program with metrics and tracing that serves its metrics page over HTTP.
type tracedPipeline struct {
	t        *testing.T
	server   *apitest.Server
	recorder *tracetest.SpanRecorder
	manager  *controller.Manager
	page     string // the URL of the metrics page
}

func startTraced(t *testing.T, ratio float64, reconcile func(context.Context, *corev1.ConfigMap) (controller.Result, error)) *tracedPipeline {
	p := &tracedPipeline{t: t, server: apitest.Start(t, apitest.Options{}), recorder: tracetest.NewSpanRecorder()}
	traces, err := tracing.New(sdk.NewTracerProvider(sdk.WithSpanProcessor(p.recorder)), tracing.Options{Ratio: ratio})
	require.NoError(t, err)
	collected, err := metrics.New(metrics.Options{ClientGoNames: true, Traces: traces})
	require.NoError(t, err)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collected)
	client, err := rest.NewClient(rest.Config{Host: p.server.URL()},
		rest.Options{Logger: silent, Observer: traces.ClientObserver(collected.ClientObserver("manager", nil))})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	p.manager, err = controller.New(client, controller.Options{Logger: silent, Observer: traces.ControllerObserver(collected.ControllerObserver())})
	require.NoError(t, err)
	collected.Manager(p.manager)
	p.manager.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	maps := controller.For[*corev1.ConfigMap](p.manager, rest.ResourceOptions{})
	controller.Manage(p.manager, "greet", maps, reconcile, controller.Settings[*corev1.ConfigMap]{})
	endpoint := httptest.NewServer(p.manager.Handler())
	t.Cleanup(endpoint.Close)
	p.page = endpoint.URL + "/metrics"

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.manager.Run(ctx) }()
	t.Cleanup(sync.OnceFunc(func() { cancel(); require.NoError(t, <-ended) }))
	p.eventually(func() bool { // After the sync, events are changes.
		caches := p.manager.Status().Clusters[0].Caches
		return len(caches) == 1 && caches[0].Status.Reflector.Phase.String() == "watching"
	})
	return p
}

func (p *tracedPipeline) eventually(is func() bool) {
	p.t.Helper()
	require.Eventually(p.t, is, time.Minute, 5*time.Millisecond)
}

// scrape returns the page that Prometheus gets if it accepts the given content type.
func (p *tracedPipeline) scrape(accept string) string {
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.page, nil)
	require.NoError(p.t, err)
	request.Header.Set("Accept", accept)
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(p.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(p.t, err)
	require.Contains(p.t, response.Header.Get("Content-Type"), strings.Split(accept, ";")[0])
	return string(text)
}

// change creates an object, and returns the page of metrics after the given number of reconciles.
func (p *tracedPipeline) change(reconciles int) (page string) {
	_, err := p.server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "shop"}})
	require.NoError(p.t, err)
	p.eventually(func() bool {
		page = p.scrape(openMetrics)
		return strings.Contains(page, fmt.Sprintf("kinform_workqueue_run_seconds_count{queue=\"greet\"} %d\n", reconciles))
	})
	return page
}

const (
	openMetrics = "application/openmetrics-text; version=1.0.0"
	plainText   = "text/plain; version=0.0.4"
)

// histogramsInOrder lists the histograms that a change passes, in order.
var histogramsInOrder = []string{
	"kinform_handler_wait_seconds", "kinform_handler_run_seconds",
	"kinform_workqueue_wait_seconds", "workqueue_queue_duration_seconds",
	"kinform_workqueue_run_seconds", "workqueue_work_duration_seconds", "controller_runtime_reconcile_time_seconds",
}

// Every histogram that a change passes has the trace of the change as its exemplar.
func TestHistogramsHaveTheTraceIDOfAChange(t *testing.T) {
	t.Parallel()
	const slow = 30 * time.Millisecond
	p := startTraced(t, 1, func(context.Context, *corev1.ConfigMap) (controller.Result, error) {
		time.Sleep(slow)
		return controller.Done, nil
	})
	page := p.change(1)
	require.True(t, strings.HasSuffix(page, "# EOF\n"))
	var trace string
	spans := 0
	for _, s := range p.recorder.Ended() {
		spans++
		if s.Name() == "change configmaps" {
			trace = s.SpanContext().TraceID().String()
		}
	}
	require.Equal(t, 7, spans, "change, deltafifo, store, mailbox, handle, workqueue, reconcile")
	found := exemplars(t, page)
	require.Len(t, found, len(histogramsInOrder))
	for _, name := range histogramsInOrder {
		require.Len(t, found[name], 1, name)
		require.Equal(t, trace, found[name][0].trace, name)
	}
	for _, name := range histogramsInOrder[4:] {
		require.GreaterOrEqual(t, found[name][0].seconds, slow.Seconds(), name)
	}
	require.NotContains(t, p.scrape(plainText), "trace_id", "the plain text format has no exemplars")
}

// All failing reconciles of a key share one trace, so their exemplars name the same trace. This is
// also true for a reconcile that has ended while the next one is already due.
func TestFailedReconcilesHaveTheTraceIDOfTheirChange(t *testing.T) {
	t.Parallel()
	reconciles := 0
	p := startTraced(t, 1, func(context.Context, *corev1.ConfigMap) (controller.Result, error) {
		if reconciles++; reconciles < 4 {
			return controller.Done, errors.New("broken")
		}
		return controller.Done, nil
	})
	page := p.change(4)
	traces := map[string]bool{}
	for name, all := range exemplars(t, page) {
		for _, e := range all {
			traces[e.trace] = true
		}
		require.NotEmpty(t, all, name)
	}
	require.Len(t, traces, 1)
}

func TestUntracedChangesHaveNoExemplar(t *testing.T) {
	t.Parallel()
	p := startTraced(t, -1, func(context.Context, *corev1.ConfigMap) (controller.Result, error) { return controller.Done, nil })
	require.Empty(t, exemplars(t, p.change(1)))
}

// Without a manager, a queue and an informer also have exemplars if they get both observers.
func TestExemplarsWithoutAManager(t *testing.T) {
	t.Parallel()
	traces, err := tracing.New(sdk.NewTracerProvider(), tracing.Options{Ratio: 1})
	require.NoError(t, err)
	m, err := metrics.New(metrics.Options{Traces: traces})
	require.NoError(t, err)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	p := newPipeline(t, m, traces)
	p.event()
	endpoint := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	t.Cleanup(endpoint.Close)
	scraper := &tracedPipeline{t: t, page: endpoint.URL}
	var found map[string][]exemplar
	scraper.eventually(func() bool { // The handler's observer runs concurrently with the worker.
		found = exemplars(t, scraper.scrape(openMetrics))
		return len(found) == 4
	})
	for name, all := range found {
		require.Equal(t, found["kinform_handler_run_seconds"][0].trace, all[0].trace, name)
	}
	next, ended := traces.TracesOfReconciles("maps")
	require.Empty(t, next(key)+ended(key), "the reconcile has ended")
}
