package controller_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/rest"
)

// act runs a manager with a controller whose first reconcile of web/a calls the argument act. It
// returns the state of the cache in the second reconcile.
func act(t *testing.T, made *configMap, act func(ctx context.Context, r *rig, maps *controller.Client[*configMap], m *configMap) error) {
	t.Helper()
	play(t, controller.Options{Name: "tester"}, func(t *testing.T, r *rig) {
		r.create(made)
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		done := make(chan struct{})
		controller.Manage(r.manager, "act", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
			select {
			case <-done:
				return controller.Done, nil
			default:
			}
			defer close(done)
			if err := act(ctx, r, maps, m); err != nil {
				t.Error(err)
			}
			return controller.Done, nil
		}, controller.Settings[*configMap]{})
		r.run()
		<-done
		r.waitIdle()
	})
}

func TestModifyRetriesAfterAConflict(t *testing.T) {
	act(t, newMap("a", "n", "0"), func(ctx context.Context, r *rig, maps *controller.Client[*configMap], m *configMap) error {
		calls := 0
		got, err := maps.Modify(ctx, keyOf(m), func(m *configMap) error {
			if calls++; calls <= 2 { // another writer is faster, twice
				other := r.get("a")
				other.Data["other"] = time.Now().String()
				_, err := r.maps.Update(ctx, other, metav1.UpdateOptions{})
				require.NoError(t, err)
			}
			m.Data["n"] = "1"
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, 3, calls)
		require.Equal(t, "1", got.Data["n"])
		require.NotEmpty(t, got.Data["other"])
		require.Equal(t, "0", m.Data["n"], "the cached object is unchanged")

		before := r.requestCount("update configmaps")
		_, err = maps.Modify(ctx, keyOf(m), func(*configMap) error { return nil })
		require.NoError(t, err)
		require.Equal(t, before, r.requestCount("update configmaps"), "without a difference, Modify sends nothing")

		wrong := errors.New("no")
		_, err = maps.Modify(ctx, keyOf(m), func(*configMap) error { return wrong })
		require.ErrorIs(t, err, wrong)
		_, err = maps.Modify(ctx, key{Namespace: "web", Name: "none"}, func(*configMap) error { return nil })
		require.True(t, apierrors.IsNotFound(err))
		_, err = maps.Modify(ctx, keyOf(m), func(m *configMap) error {
			other := r.get("a")
			other.Data["other"] += "!"
			_, err := r.maps.Update(ctx, other, metav1.UpdateOptions{})
			m.Data["n"] = "2"
			return err
		})
		require.True(t, apierrors.IsConflict(err), "Modify gives up after six attempts")
		return nil
	})
}

func keyOf(m metav1.Object) key { return key{Namespace: m.GetNamespace(), Name: m.GetName()} }

func TestMergeSendsOnlyTheDifference(t *testing.T) {
	act(t, newMap("a", "same", "x", "changed", "0", "gone", "1"), func(ctx context.Context, r *rig, maps *controller.Client[*configMap], m *configMap) error {
		other := r.get("a")
		other.Data["other"] = "stays"
		_, err := r.maps.Update(ctx, other, metav1.UpdateOptions{})
		require.NoError(t, err)
		to := m.DeepCopy()
		to.Data = map[string]string{"same": "x", "changed": "1", "new": "1"}
		to.Labels = map[string]string{"new": "yes"}
		got, err := maps.Merge(ctx, m, to)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"same": "x", "changed": "1", "new": "1", "other": "stays"}, got.Data)
		require.Equal(t, "yes", got.Labels["new"])
		before := r.requestCount("patch configmaps")
		_, err = maps.Merge(ctx, m, m.DeepCopy())
		require.NoError(t, err)
		require.Equal(t, before, r.requestCount("patch configmaps"))

		got, err = maps.Patch(ctx, keyOf(m), types.JSONPatchType, []byte(`[{"op":"remove","path":"/data/new"}]`))
		require.NoError(t, err)
		require.NotContains(t, got.Data, "new")
		got, err = maps.Patch(ctx, keyOf(m), types.StrategicMergePatchType, []byte(`{"data":{"strategic":"1"}}`))
		require.NoError(t, err)
		require.Equal(t, "1", got.Data["strategic"])
		return nil
	})
}

func TestDeleteRequiresTheUIDOfTheObject(t *testing.T) {
	act(t, newMap("a"), func(ctx context.Context, r *rig, maps *controller.Client[*configMap], m *configMap) error {
		require.NoError(t, r.maps.Delete(ctx, keyOf(m), metav1.DeleteOptions{}))
		successor := r.create(newMap("a", "new", "1"))
		require.True(t, apierrors.IsConflict(maps.Delete(ctx, m)), "the object has another UID")
		require.NoError(t, maps.Delete(ctx, successor))
		require.NoError(t, maps.Delete(ctx, successor), "Delete returns nil for an object that is gone")
		return nil
	})
}

func TestFinalizerFromBeginningToEnd(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		var cleaned, reconciles int
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		controller.Manage(r.manager, "final", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
			reconciles++
			_, _, err := maps.Finalize(ctx, m, "example.com/final", func(context.Context, *configMap) error { cleaned++; return nil })
			return controller.Done, err
		}, controller.Settings[*configMap]{})
		r.run()
		r.create(newMap("a"))
		r.waitIdle()
		require.Equal(t, []string{"example.com/final"}, r.get("a").Finalizers)
		require.NoError(t, r.maps.Delete(t.Context(), key{Namespace: "web", Name: "a"}, metav1.DeleteOptions{}))
		r.waitIdle()
		_, err := r.maps.Get(t.Context(), key{Namespace: "web", Name: "a"}, metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err))
		require.Equal(t, 1, cleaned)
		require.Equal(t, 1+1+1, reconciles, "reconciles when it is created, has the finalizer and is being deleted, but not when it is gone")
	})
}

// Every kind of write holds the key back, even if the cache lags by seconds.
func TestReconcileSeesThePreviousWrite(t *testing.T) {
	writes := map[string]func(ctx context.Context, d *controller.Client[*appsv1.Deployment], cached *appsv1.Deployment, n string) error{
		"update": func(ctx context.Context, d *controller.Client[*appsv1.Deployment], cached *appsv1.Deployment, n string) error {
			changed := cached.DeepCopy()
			changed.Annotations = map[string]string{"n": n}
			_, err := d.Update(ctx, changed)
			return err
		},
		"status": func(ctx context.Context, d *controller.Client[*appsv1.Deployment], cached *appsv1.Deployment, n string) error {
			changed := cached.DeepCopy()
			changed.Status.ObservedGeneration++
			_, err := d.UpdateStatus(ctx, changed)
			return err
		},
		"modify": func(ctx context.Context, d *controller.Client[*appsv1.Deployment], cached *appsv1.Deployment, n string) error {
			_, err := d.Modify(ctx, keyOf(cached), func(c *appsv1.Deployment) error {
				c.Annotations = map[string]string{"n": n}
				return nil
			})
			return err
		},
		"merge": func(ctx context.Context, d *controller.Client[*appsv1.Deployment], cached *appsv1.Deployment, n string) error {
			changed := cached.DeepCopy()
			changed.Annotations = map[string]string{"n": n}
			_, err := d.Merge(ctx, cached, changed)
			return err
		},
		"apply": func(ctx context.Context, d *controller.Client[*appsv1.Deployment], cached *appsv1.Deployment, n string) error {
			_, err := d.Apply(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: cached.Namespace, Name: cached.Name, Annotations: map[string]string{"n": n}}})
			return err
		},
		"apply status": func(ctx context.Context, d *controller.Client[*appsv1.Deployment], cached *appsv1.Deployment, _ string) error {
			status := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: cached.Namespace, Name: cached.Name}}
			status.Status.ObservedGeneration = cached.Status.ObservedGeneration + 1
			_, err := d.ApplyStatus(ctx, status)
			return err
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			play(t, controller.Options{}, func(t *testing.T, r *rig) {
				deployments := controller.For[*appsv1.Deployment](r.manager, rest.ResourceOptions{})
				last, reconciles := "", 0
				controller.Manage(r.manager, "writer", deployments, func(ctx context.Context, d *appsv1.Deployment) (controller.Result, error) {
					if reconciles++; reconciles > 1 && reconciles <= 6 {
						require.NotEqual(t, last, d.ResourceVersion, "the reconcile sees the previous write")
					}
					last = d.ResourceVersion
					if reconciles > 5 {
						return controller.Done, nil
					}
					// The next reconcile is due at once.
					return controller.After(0), write(ctx, deployments, d, d.Annotations["n"]+"1")
				}, controller.Settings[*appsv1.Deployment]{})
				_, err := r.server.Create(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "a"}})
				require.NoError(t, err)
				r.server.Inject(apitest.Fault{Verb: "watch", Action: apitest.SlowBody(200)})
				r.run()
				r.waitIdle()
				require.GreaterOrEqual(t, reconciles, 6)
				require.NotContains(t, r.logged(), "conflict")
			})
		})
	}
}
