package metrics

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/events"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
)

type configMap = corev1.ConfigMap

var silent = slog.New(slog.DiscardHandler)

// rig is a program with all stages and a manager, and a collector for its metrics. Its server is on
// an in-memory network, and time is virtual.
type rig struct {
	t         *testing.T
	server    *apitest.Server
	client    *rest.Client
	maps      *controller.Client[*configMap]
	manager   *controller.Manager
	recorder  *events.Recorder
	collected *Metrics
	registry  *prometheus.Registry
	reconcile func(context.Context, *configMap) (controller.Result, error)
	stop      func() error // ends the program, and returns the result of its Run
}

// play runs a test in a bubble. The test calls r.run to start the program.
func play(t *testing.T, opts Options, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, registry: prometheus.NewPedanticRegistry(), stop: func() error { return nil }}
		r.reconcile = func(context.Context, *configMap) (controller.Result, error) { return controller.Done, nil }
		r.server = apitest.New(apitest.Options{})
		require.NoError(t, r.server.ListenMemory())
		defer r.server.Close()
		var err error
		r.collected, err = New(opts)
		require.NoError(t, err)
		require.NoError(t, r.registry.Register(r.collected))
		r.client, err = rest.NewClient(rest.Config{Host: r.server.URL(), DialContext: r.server.DialContext},
			rest.Options{Logger: silent, Observer: r.collected.ClientObserver("manager", nil)})
		require.NoError(t, err)
		defer r.client.Close()
		elector, err := lease.New(r.client, types.NamespacedName{Namespace: "default", Name: "greeter"},
			lease.Options{Identity: "one", Logger: silent, Observer: r.collected.ElectorObserver("default/greeter", nil)})
		require.NoError(t, err)
		r.recorder, err = events.New(r.client, "example.com/greeter", events.Options{Instance: "one", Logger: silent, Observer: r.collected.RecorderObserver("greeter", nil)})
		require.NoError(t, err)
		r.manager, err = controller.New(r.client, controller.Options{Name: "greeter", Logger: silent, Elector: elector, Observer: r.collected.ControllerObserver()})
		require.NoError(t, err)
		r.manager.Add("events", r.recorder.Run, controller.PartOptions{})
		r.maps = controller.For[*configMap](r.manager, rest.ResourceOptions{})
		secrets := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
		c := controller.Manage(r.manager, "greet", r.maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
			return r.reconcile(ctx, m)
		}, controller.Settings[*configMap]{Workers: 2})
		controller.Owns(c, secrets, nil)
		r.collected.Manager(r.manager)
		r.collected.Recorder("greeter", r.recorder)
		test(t, r)
		_ = r.stop()
	})
}

// run starts the program. If the test does not stop it, the cleanup does.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.manager.Run(ctx) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	r.advance(time.Second)
}

// advance lets the duration d pass, and waits until all goroutines are idle.
func (r *rig) advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func newMap(name string) *configMap {
	return &configMap{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name}}
}

func (r *rig) create(name string) *configMap {
	made, err := r.server.Create(newMap(name))
	require.NoError(r.t, err)
	return made.(*configMap)
}

// scrape returns the values of all series by name and labels, such as `up{job="a"}`, in the form in
// which Prometheus stores them. For a histogram, it returns the number of observations as
// name_count.
func scrape(t testing.TB, g prometheus.Gatherer) map[string]float64 {
	t.Helper()
	all, err := g.Gather()
	require.NoError(t, err)
	series := map[string]float64{}
	for _, f := range all {
		for _, m := range f.Metric {
			name, value := f.GetName(), 0.0
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				value = m.Counter.GetValue()
			case dto.MetricType_GAUGE:
				value = m.Gauge.GetValue()
			case dto.MetricType_HISTOGRAM:
				name, value = name+"_count", float64(m.Histogram.GetSampleCount())
			}
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+`="`+l.GetValue()+`"`)
			}
			series[name+"{"+strings.Join(labels, ",")+"}"] = value
		}
	}
	return series
}

// allFamilies returns all possible families, sorted by name.
func allFamilies(opts Options) []family {
	m, err := New(opts)
	if err != nil {
		panic(err)
	}
	all := []family{leftOut}
	for _, t := range tables(opts) {
		all = append(all, t.families()...)
	}
	all = append(all, m.observers.families...)
	slices.SortFunc(all, func(a, b family) int { return strings.Compare(a.name, b.name) })
	return all
}

var errBroken = errors.New("broken")
