package metrics

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/workqueue"
)

// The metrics answer an operator's questions, both about a healthy program and about a broken one.
func TestMetricsOfAManager(t *testing.T) {
	play(t, Options{ClientGoNames: true, Holders: true}, func(t *testing.T, r *rig) {
		for _, name := range []string{"fine", "later", "broken", "hopeless", "panics"} {
			r.create(name)
		}
		r.reconcile = func(_ context.Context, m *configMap) (controller.Result, error) {
			switch m.Name {
			case "later":
				return controller.After(time.Hour), nil
			case "broken":
				return controller.Done, errBroken
			case "hopeless":
				return controller.Done, controller.Terminal(errBroken)
			case "panics":
				panic("over")
			}
			time.Sleep(100 * time.Millisecond)
			r.recorder.Normal(m, "Greeted", "hello")
			return controller.Done, nil
		}
		before := scrape(t, r.registry)
		require.Zero(t, before[`kinform_manager_ready{manager="greeter"}`])
		require.Zero(t, before[`kinform_informer_synced{informer="configmaps",selection="configmaps"}`])
		require.NotContains(t, before, `kinform_informer_staleness_seconds{informer="configmaps",selection="configmaps"}`)
		require.Zero(t, before[`leader_election_master_status{name="greeter"}`])

		r.run()
		now := scrape(t, r.registry)
		const cache = `{informer="configmaps",selection="configmaps"}`
		for series, want := range map[string]float64{
			// Is the informer synced, and the manager ready?
			"kinform_informer_synced" + cache:          1,
			"kinform_store_objects" + cache:            5,
			`kinform_manager_ready{manager="greeter"}`: 1,
			`kinform_reflector_phase{informer="configmaps",phase="watching",selection="configmaps"}`:    1,
			`kinform_reflector_phase{informer="configmaps",phase="backing_off",selection="configmaps"}`: 0,
			`kinform_handler_synced{handler="greet",informer="configmaps",selection="configmaps"}`:      1,
			// What were the results?
			`kinform_workqueue_reconciles_total{queue="greet",result="success"}`:            1,
			`kinform_workqueue_reconciles_total{queue="greet",result="requeue_after"}`:      1,
			`kinform_workqueue_reconciles_total{queue="greet",result="terminal"}`:           1,
			`kinform_workqueue_workers{queue="greet"}`:                                      2,
			`controller_runtime_reconcile_total{controller="greet",result="success"}`:       1,
			`controller_runtime_reconcile_total{controller="greet",result="requeue_after"}`: 1,
			`controller_runtime_terminal_reconcile_errors_total{controller="greet"}`:        1,
			`controller_runtime_max_concurrent_reconciles{controller="greet"}`:              2,
			`controller_runtime_active_workers{controller="greet"}`:                         0,
			// Which process leads?
			`kinform_lease_leading{lease="default/greeter"}`:                  1,
			`kinform_lease_holder_info{holder="one",lease="default/greeter"}`: 1,
			`leader_election_master_status{name="greeter"}`:                   1,
			// Which requests did the client send?
			`kinform_client_responses_total{client="manager",code="200",resource="configmaps",verb="watch"}`:                  1,
			`kinform_client_responses_total{client="manager",code="201",resource="leases.coordination.k8s.io",verb="create"}`: 1,
			`rest_client_request_duration_seconds_count{host="apitest",verb="POST"}`:                                          now[`rest_client_requests_total{code="201",host="apitest",method="POST"}`],
			`kinform_metrics_left_out{}`: 0,
		} {
			require.Contains(t, now, series)
			require.Equal(t, want, now[series], series)
		}
		failed := now[`kinform_workqueue_reconciles_total{queue="greet",result="retry"}`]
		require.Greater(t, failed, 10.0, "two keys are retried again and again")
		require.Equal(t, failed+1, now[`controller_runtime_reconcile_total{controller="greet",result="error"}`])
		require.Equal(t, failed+1, now[`controller_runtime_reconcile_errors_total{controller="greet"}`])
		require.Equal(t, failed+3, now[`controller_runtime_reconcile_time_seconds_count{controller="greet"}`])
		require.Equal(t, failed+3, now[`workqueue_work_duration_seconds_count{controller="greet",name="greet"}`])
		require.Equal(t, failed+3, now[`kinform_workqueue_run_seconds_count{queue="greet"}`])
		require.Positive(t, now[`controller_runtime_reconcile_panics_total{controller="greet"}`])

		// What waits, and for how long?
		r.server.Inject(apitest.Fault{Resource: "configmaps", Action: apitest.Code(500, 0)})
		r.server.EndWatches("configmaps")
		r.advance(90 * time.Second)
		now = scrape(t, r.registry)
		require.Greater(t, now["kinform_informer_staleness_seconds"+cache], 80.0)
		require.Positive(t, now[`kinform_reflector_failures_total{informer="configmaps",phase="connecting",reason="server"}`])
		require.Positive(t, now["kinform_reflector_failing_attempts"+cache])
		require.Equal(t, 1.0, now[`kinform_reflector_phase{informer="configmaps",phase="backing_off",selection="configmaps"}`])
		require.Equal(t, 1.0, now[`kinform_events_recorded_total{recorder="greeter"}`])
		require.Equal(t, 1.0, now[`kinform_events_sent_total{recorder="greeter"}`])
	})
}

// A reconcile hangs, and a key waits behind it.
func TestMetricsShowHangingReconciles(t *testing.T) {
	play(t, Options{ClientGoNames: true}, func(t *testing.T, r *rig) {
		for _, name := range []string{"a", "b", "c"} {
			r.create(name)
		}
		r.reconcile = func(ctx context.Context, _ *configMap) (controller.Result, error) {
			<-ctx.Done()
			return controller.Done, ctx.Err()
		}
		r.run()
		r.advance(time.Minute)
		now := scrape(t, r.registry)
		require.Equal(t, 1.0, now[`kinform_workqueue_ready_keys{priority="-100",queue="greet"}`]+now[`kinform_workqueue_ready_keys{priority="0",queue="greet"}`])
		require.Equal(t, 2.0, now[`kinform_workqueue_processing_keys{queue="greet"}`])
		require.InDelta(t, 60, now[`kinform_workqueue_oldest_ready_seconds{queue="greet"}`], 2)
		require.InDelta(t, 60, now[`kinform_workqueue_longest_running_seconds{queue="greet"}`], 2)
		require.InDelta(t, 120, now[`workqueue_unfinished_work_seconds{controller="greet",name="greet"}`], 4)
		require.Equal(t, 2.0, now[`controller_runtime_active_workers{controller="greet"}`])
		drained := &workqueue.DrainError{}
		require.ErrorAs(t, r.stop(), &drained)
		now = scrape(t, r.registry)
		require.Equal(t, 2.0, now[`kinform_workqueue_reconciles_total{queue="greet",result="interrupted"}`])
		require.Zero(t, now[`workqueue_unfinished_work_seconds{controller="greet",name="greet"}`])
		require.Zero(t, now[`kinform_manager_ready{manager="greeter"}`])
	})
}

// A key waits for its own write, because the cache no longer receives changes. The wait ends after
// two minutes.
func TestMetricsShowAKeyThatWaitsForItsWrite(t *testing.T) {
	play(t, Options{}, func(t *testing.T, r *rig) {
		r.create("a")
		reconciles := 0
		r.reconcile = func(ctx context.Context, m *configMap) (controller.Result, error) {
			if reconciles++; reconciles == 1 {
				return controller.After(10 * time.Second), nil
			}
			changed := m.DeepCopy()
			changed.Data = map[string]string{"turn": strconv.Itoa(reconciles)}
			_, err := r.maps.Update(ctx, changed)
			return controller.Done, err
		}
		r.run()
		for _, verb := range []string{"list", "watch"} {
			broken := apitest.Fail(apierrors.NewInternalError(errBroken))
			r.server.Inject(apitest.Fault{Resource: "configmaps", Verb: verb, Action: broken})
		}
		r.server.DropWatches("configmaps")
		const held, longest, unseen = `kinform_controller_held_writes{controller="greet"}`,
			`kinform_controller_longest_hold_seconds{controller="greet"}`, `kinform_controller_unseen_writes_total{controller="greet"}`
		now := scrape(t, r.registry)
		require.Equal(t, []float64{0, 0, 0}, []float64{now[held], now[longest], now[unseen]})
		r.advance(40 * time.Second)
		now = scrape(t, r.registry)
		require.Equal(t, []float64{1, 0}, []float64{now[held], now[unseen]})
		require.InDelta(t, 30, now[longest], 3)
		r.advance(2 * time.Minute)
		now = scrape(t, r.registry)
		require.Equal(t, []float64{0, 0, 1}, []float64{now[held], now[longest], now[unseen]})
	})
}

// The metrics show why the reflector relists.
func TestMetricsShowRelists(t *testing.T) {
	play(t, Options{}, func(t *testing.T, r *rig) {
		r.create("a")
		r.run()
		r.server.Inject(apitest.Fault{Resource: "configmaps", Verb: "watch", Times: 1, Action: apitest.Expired()})
		r.server.EndWatches("configmaps")
		r.advance(time.Minute)
		now := scrape(t, r.registry)
		require.Equal(t, 1.0, now[`kinform_reflector_relists_total{informer="configmaps",selection="configmaps"}`])
		require.Positive(t, now[`kinform_reflector_failures_total{informer="configmaps",phase="connecting",reason="expired"}`])
		require.Equal(t, 2.0, now[`kinform_reflector_list_seconds_count{informer="configmaps"}`])
		require.NoError(t, r.server.Delete(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, keyOf("a")))
		r.advance(time.Second)
		require.Equal(t, 1.0, scrape(t, r.registry)[`kinform_store_changes_total{change="deleted",informer="configmaps",selection="configmaps"}`])
	})
}
