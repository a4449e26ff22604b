package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/workqueue"
)

// onTheWay lists the histograms that observe a change, in order.
var onTheWay = []string{
	"kinform_handler_wait_seconds", "kinform_handler_run_seconds",
	"kinform_workqueue_wait_seconds", "workqueue_queue_duration_seconds",
	"kinform_workqueue_run_seconds", "workqueue_work_duration_seconds", "controller_runtime_reconcile_time_seconds",
}

// fixedTraces is a Traces that returns the same trace id in all cases.
type fixedTraces string

func (f fixedTraces) TracesOfEvents(string) func(informer.DeliverInfo) string {
	return func(informer.DeliverInfo) string { return string(f) }
}

func (f fixedTraces) TracesOfReconciles(string) (next, ended func(types.NamespacedName) string) {
	of := func(types.NamespacedName) string { return string(f) }
	return of, of
}

// The observation is counted and the scrape succeeds with every id.
func TestInvalidTraceIDsAreNotExemplars(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{"none": "", "long": strings.Repeat("a", 1000), "invalid": "\xff", "fine": "0123456789abcdef"} {
		m, registry := newMetrics(t, Options{Traces: fixedTraces(id), NativeHistograms: true, ClientGoNames: true})
		m.InformerObserver("maps", nil).OnDeliver(informer.DeliverInfo{Handler: "h"})
		q := QueueObserver[types.NamespacedName](m, "q", nil)
		q.OnGet(workqueue.Item[types.NamespacedName]{})
		q.OnDone(keyOf("a"), time.Second)
		other := QueueObserver[string](m, "texts", nil)
		other.OnGet(workqueue.Item[string]{})
		other.OnDone("a", time.Second)
		now := scrape(t, registry)
		require.Equal(t, 1.0, now[`kinform_handler_run_seconds_count{handler="h",informer="maps"}`], name)
		require.Equal(t, 1.0, now[`kinform_workqueue_run_seconds_count{queue="q"}`], name)
		require.Equal(t, 1.0, now[`kinform_workqueue_run_seconds_count{queue="texts"}`], name)
		all, err := registry.Gather()
		require.NoError(t, err)
		with := 0
		for _, f := range all {
			for _, series := range f.Metric {
				for _, b := range series.GetHistogram().GetBucket() {
					if b.Exemplar != nil {
						with++
						require.Equal(t, id, b.Exemplar.Label[0].GetValue())
					}
				}
			}
		}
		want := 0
		if name == "fine" {
			want = 6 // wait and run of the handler, and wait and run of the queue under two names
		}
		require.Equal(t, want, with, name)
	}
}
