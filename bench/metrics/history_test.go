package metrics

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/events"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/metrics"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// interval is the time between two scrapes.
const interval = 15 * time.Second

var silent = slog.New(slog.DiscardHandler)

// replica is one of two processes of a program. Its controller slowly writes a Secret for every
// ConfigMap, and records events.
type replica struct {
	name     string
	registry *prometheus.Registry
	stop     func()
}

func startReplica(t *testing.T, srv *apitest.Server, name string) *replica {
	collected, err := metrics.New(metrics.Options{})
	require.NoError(t, err)
	r := &replica{name: name, registry: prometheus.NewPedanticRegistry()}
	r.registry.MustRegister(collected, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	c, err := rest.NewClient(rest.Config{Host: srv.URL(), DialContext: srv.DialContext},
		rest.Options{Logger: silent, Observer: collected.ClientObserver("manager", nil)})
	require.NoError(t, err)
	elector, err := lease.New(c, types.NamespacedName{Namespace: "default", Name: "shop"},
		lease.Options{Identity: name, Logger: silent, StandAgain: false, Observer: collected.ElectorObserver("default/shop", nil)})
	require.NoError(t, err)
	recorder, err := events.New(c, "example.com/shop", events.Options{Instance: name, Logger: silent, Observer: collected.RecorderObserver("shop", nil)})
	require.NoError(t, err)
	m, err := controller.New(c, controller.Options{Name: "shop", Logger: silent, Elector: elector, Observer: collected.ControllerObserver()})
	require.NoError(t, err)
	collected.Manager(m)
	collected.Recorder("shop", recorder)
	m.Add("events", recorder.Run, controller.PartOptions{})
	maps := controller.For[*corev1.ConfigMap](m, rest.ResourceOptions{})
	secrets := controller.For[*corev1.Secret](m, rest.ResourceOptions{})
	kind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	k := controller.Manage(m, "shop", maps, func(ctx context.Context, object *corev1.ConfigMap) (controller.Result, error) {
		time.Sleep(20 * time.Millisecond) // simulates work outside of the cluster
		switch object.Data["is"] {
		case "slow":
			time.Sleep(40 * time.Second)
		case "broken":
			return controller.Done, errBroken
		case "panics":
			panic("over")
		}
		if _, exists := secrets.Get(types.NamespacedName{Namespace: object.Namespace, Name: object.Name}); exists {
			return controller.After(10 * time.Minute), nil
		}
		recorder.Normal(object, "Copied", "to a secret")
		_, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: object.Namespace, Name: object.Name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(object, kind)},
		}})
		return controller.Done, err
	}, controller.Settings[*corev1.ConfigMap]{Workers: 3, Queue: workqueue.Options[types.NamespacedName]{DrainTimeout: time.Second}})
	controller.Owns(k, secrets, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	r.stop = func() { cancel(); <-ended; c.Close() }
	return r
}

// record runs two replicas for an hour of virtual time, one of them with faults. It returns the
// samples that Prometheus would have scraped.
func record(t *testing.T) *history {
	h := &history{series: map[string]*entry{}}
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.New(apitest.Options{})
		require.NoError(t, srv.ListenMemory())
		defer srv.Close()
		n := 0
		write := func(is string) {
			n++
			_, err := srv.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: fmt.Sprint("map-", n)}, Data: map[string]string{"is": is}})
			require.NoError(t, err)
		}
		one, two := startReplica(t, srv, "one"), (*replica)(nil)
		var faults []*apitest.InjectedFault
		inject := func(f apitest.Fault) { faults = append(faults, srv.Inject(f)) }
		h.start = time.Now()
		for step := range int(time.Hour / interval) {
			for range 5 {
				write("fine")
			}
			switch minute := time.Duration(step) * interval; minute {
			case 2 * time.Minute:
				two = startReplica(t, srv, "two")
			case 8 * time.Minute: // many slow reconciles begin
				for range 60 {
					write("slow")
				}
			case 20 * time.Minute: // the server fails
				inject(apitest.Fault{Resource: "configmaps", Action: apitest.Code(503, time.Second)})
				srv.DropWatches("configmaps")
			case 27 * time.Minute: // the server drops its history
				for _, f := range faults {
					f.Remove()
				}
				srv.Compact()
			case 30 * time.Minute:
				write("broken")
				write("panics")
			case 38 * time.Minute: // the leader loses its lease
				inject(apitest.Fault{Resource: "leases", Action: apitest.Delay(20 * time.Second), Times: 4})
			case 45 * time.Minute: // the client may no longer write events
				inject(apitest.Fault{Resource: "events", Action: apitest.Code(403, 0)})
			case 50 * time.Minute:
				one.stop()
				one = nil
			case 52 * time.Minute:
				one = startReplica(t, srv, "one")
			}
			time.Sleep(interval)
			synctest.Wait()
			for _, r := range []*replica{one, two} {
				if r != nil {
					h.scrape(t, r)
				}
			}
		}
		h.end = time.Now()
		for _, r := range []*replica{one, two} {
			r.stop()
		}
	})
	return h
}

// scrape records all samples of a replica.
func (h *history) scrape(t *testing.T, r *replica) {
	t.Helper()
	all, err := r.registry.Gather()
	require.NoError(t, err)
	at := time.Now().UnixMilli()
	for _, f := range all {
		for _, m := range f.Metric {
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				h.add(at, r.name, f.GetName(), m.Label, m.Counter.GetValue())
			case dto.MetricType_GAUGE:
				h.add(at, r.name, f.GetName(), m.Label, m.Gauge.GetValue())
			case dto.MetricType_HISTOGRAM:
				for _, b := range m.Histogram.Bucket {
					h.add(at, r.name, f.GetName()+"_bucket", m.Label, float64(b.GetCumulativeCount()), "le", fmt.Sprint(b.GetUpperBound()))
				}
				h.add(at, r.name, f.GetName()+"_bucket", m.Label, float64(m.Histogram.GetSampleCount()), "le", "+Inf")
				h.add(at, r.name, f.GetName()+"_sum", m.Label, m.Histogram.GetSampleSum())
				h.add(at, r.name, f.GetName()+"_count", m.Label, float64(m.Histogram.GetSampleCount()))
			}
		}
	}
}
