package metrics

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientrest "k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/metrics"
	"github.com/kinform/kinform/rest"
)

// names are the names of the test's objects. Each object is named after the result of its
// reconcile.
var names = []string{"fine", "later", "broken", "hopeless", "panics"}

// missing has controller-runtime's metric families that kinform lacks. docs/metrics.md explains
// why.
var missing = []string{
	"controller_runtime_reconcile_timeouts_total",
	"controller_runtime_client_consistency_wait_duration_seconds",
	"rest_client_rate_limiter_duration_seconds", "rest_client_request_size_bytes", "rest_client_response_size_bytes", "rest_client_dns_resolution_duration_seconds",
}

// The same controller runs on kinform and on controller-runtime. Then the metrics with client-go's
// names have the same names, types, labels, buckets and help texts as controller-runtime's. Only
// the documented families are missing. So one endpoint can serve both, if the programs have
// different names.
func TestClientGoNamedMetricsEqualTheOriginals(t *testing.T) {
	ctrlmetrics.RegisterRESTClientMetrics(ctrlmetrics.MetricRequestLatency, ctrlmetrics.MetricRequestRetry, ctrlmetrics.MetricRateLimiterLatency,
		ctrlmetrics.MetricRequestSize, ctrlmetrics.MetricResponseSize, ctrlmetrics.MetricDNSResolutionLatency)
	runOriginal(t)
	registry := prometheus.NewPedanticRegistry()
	runKinform(t, registry)

	theirs, ours := clientGoNamed(t, ctrlmetrics.Registry), clientGoNamed(t, registry)
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		require.Contains(t, theirs, name, "controller-runtime must have this metric")
		a, b := theirs[name], ours[name]
		require.Equal(t, a.GetType(), b.GetType(), name)
		require.Equal(t, a.GetHelp(), b.GetHelp(), name)
		require.Equal(t, labelNames(a), labelNames(b), name)
		require.Equal(t, buckets(a), buckets(b), name)
		require.Equal(t, nativeSchema(a), nativeSchema(b), name)
		t.Logf("%-55s %-9v %v", name, b.GetType(), labelNames(b))
	}
	for name := range theirs {
		if ours[name] == nil && !strings.Contains(name, "webhook") { // kinform has no webhooks
			require.Contains(t, missing, name, "a metric that only controller-runtime has must be listed in missing")
		}
	}
	page, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	for _, name := range missing {
		require.NotContains(t, ours, name)
		require.Contains(t, string(page), "`"+name+"`", "docs/metrics.md must name the metrics that are missing")
	}
	// Dashboards filter by label values, which are the same, too.
	for _, name := range []string{"controller_runtime_reconcile_total", "workqueue_depth", "workqueue_adds_total", "leader_election_master_status"} {
		require.Subset(t, values(theirs[name]), values(ours[name]), name)
	}
	require.Equal(t, values(theirs["controller_runtime_reconcile_total"]), values(ours["controller_runtime_reconcile_total"]))

	_, err = prometheus.Gatherers{ctrlmetrics.Registry, registry}.Gather()
	require.ErrorContains(t, err, "collected before with the same name and label values", "the series must collide only because one program runs on both libraries")
}

// If two programs have different names, their metrics can be served together.
func TestRegistriesWithDifferentNamesCanBeMerged(t *testing.T) {
	collected, err := metrics.New(metrics.Options{ClientGoNames: true})
	require.NoError(t, err)
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(collected))
	observer := collected.ClientObserver("other", nil)
	observer.OnResponse(rest.ResponseInfo{Method: "GET", URL: "https://other:6443/api", StatusCode: 200})
	_, err = prometheus.Gatherers{ctrlmetrics.Registry, registry}.Gather()
	require.NoError(t, err)
}

func runOriginal(t *testing.T) {
	log.SetLogger(logr.Discard())
	srv := apitest.Start(t, apitest.Options{})
	create(t, srv)
	m, err := ctrl.NewManager(&clientrest.Config{Host: srv.URL()}, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"}, LeaderElection: true, LeaderElectionID: "greeter", LeaderElectionNamespace: "default",
		LeaderElectionReleaseOnCancel: true,
	})
	require.NoError(t, err)
	reconciled := reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
		switch r.Name {
		case "later":
			return reconcile.Result{RequeueAfter: time.Hour}, nil
		case "broken":
			return reconcile.Result{}, errBroken
		case "hopeless":
			return reconcile.Result{}, reconcile.TerminalError(errBroken)
		case "panics":
			panic("over")
		}
		found := &corev1.ConfigMap{}
		return reconcile.Result{}, m.GetClient().Get(t.Context(), client.ObjectKey(r.NamespacedName), found)
	})
	require.NoError(t, ctrl.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).Named("greet").
		WithOptions(ctrlcontroller.Options{MaxConcurrentReconciles: 2}).Complete(reconciled))
	refuseOnce(srv)
	require.NoError(t, m.GetAPIReader().Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "fine"}, &corev1.ConfigMap{}))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	awaitReconciles(t, ctrlmetrics.Registry)
	stop()
	require.NoError(t, <-ended)
}

func runKinform(t *testing.T, registry *prometheus.Registry) {
	silent := slog.New(slog.DiscardHandler)
	srv := apitest.Start(t, apitest.Options{})
	create(t, srv)
	collected, err := metrics.New(metrics.Options{ClientGoNames: true})
	require.NoError(t, err)
	require.NoError(t, registry.Register(collected))
	c, err := rest.NewClient(rest.Config{Host: srv.URL()}, rest.Options{Logger: silent, Observer: collected.ClientObserver("manager", nil)})
	require.NoError(t, err)
	defer c.Close()
	elector, err := lease.New(c, types.NamespacedName{Namespace: "default", Name: "greeter"}, lease.Options{Logger: silent})
	require.NoError(t, err)
	m, err := controller.New(c, controller.Options{Logger: silent, Elector: elector, Observer: collected.ControllerObserver()})
	require.NoError(t, err)
	collected.Manager(m)
	objects := controller.For[*corev1.ConfigMap](m, rest.ResourceOptions{})
	controller.Manage(m, "greet", objects, func(_ context.Context, object *corev1.ConfigMap) (controller.Result, error) {
		switch object.Name {
		case "later":
			return controller.After(time.Hour), nil
		case "broken":
			return controller.Done, errBroken
		case "hopeless":
			return controller.Done, controller.Terminal(errBroken)
		case "panics":
			panic("over")
		}
		return controller.Done, nil
	}, controller.Settings[*corev1.ConfigMap]{Workers: 2})
	refuseOnce(srv)
	_, err = objects.Server().Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "fine"}, metav1.GetOptions{})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	awaitReconciles(t, registry)
	stop()
	require.NoError(t, <-ended)
}

func create(t *testing.T, srv *apitest.Server) {
	t.Helper()
	for _, name := range names {
		_, err := srv.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
		require.NoError(t, err)
	}
}

// refuseOnce makes the server refuse one request for an object, so that the client retries the
// request.
func refuseOnce(srv *apitest.Server) {
	srv.Inject(apitest.Fault{Resource: "configmaps", Verb: "get", Times: 1, Action: apitest.TooManyRequests(time.Second)})
}

// awaitReconciles waits until every object has been reconciled.
func awaitReconciles(t *testing.T, g prometheus.Gatherer) {
	t.Helper()
	require.Eventually(t, func() bool {
		all := clientGoNamed(t, g)
		total := 0.0
		if f := all["controller_runtime_reconcile_total"]; f != nil {
			for _, m := range f.Metric {
				total += m.Counter.GetValue()
			}
		}
		return total > float64(len(names))+4
	}, time.Minute, 20*time.Millisecond)
}

// clientGoNamed returns the families that are neither kinform's own nor about Go and the process.
func clientGoNamed(t *testing.T, g prometheus.Gatherer) map[string]*dto.MetricFamily {
	t.Helper()
	all, err := g.Gather()
	require.NoError(t, err)
	found := map[string]*dto.MetricFamily{}
	for _, f := range all {
		for _, prefix := range []string{"workqueue_", "rest_client_", "controller_runtime_", "leader_election_", "reflector_", "informer_"} {
			if strings.HasPrefix(f.GetName(), prefix) {
				found[f.GetName()] = f
			}
		}
	}
	return found
}

func labelNames(f *dto.MetricFamily) (names []string) {
	for _, l := range f.Metric[0].Label {
		names = append(names, l.GetName())
	}
	return names
}

func buckets(f *dto.MetricFamily) (bounds []float64) {
	for _, b := range f.Metric[0].GetHistogram().GetBucket() {
		bounds = append(bounds, b.GetUpperBound())
	}
	return bounds
}

func nativeSchema(f *dto.MetricFamily) int32 { return f.Metric[0].GetHistogram().GetSchema() }

// values returns the labels of all series, except hosts and priorities, which may differ.
func values(f *dto.MetricFamily) (all []string) {
	for _, m := range f.Metric {
		one := ""
		for _, l := range m.Label {
			if l.GetName() != "priority" {
				one += l.GetName() + "=" + l.GetValue() + " "
			}
		}
		all = append(all, one)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
