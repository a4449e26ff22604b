package controller_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

var mapKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// reconcileLog records the objects of reconciles.
type reconcileLog struct {
	mu    sync.Mutex // guards following
	names []string
}

func (l *reconcileLog) add(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names = append(l.names, name)
}

func (l *reconcileLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := l.names
	l.names = nil
	slices.Sort(names)
	return names
}

func TestControllerRestoresOwnedObjects(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		secrets := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
		c := controller.Manage(r.manager, "copies", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
			have, exists := secrets.Get(key{Namespace: m.Namespace, Name: m.Name})
			want := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}}
			if exists {
				want = have.DeepCopy()
			}
			want.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(m, mapKind)}
			want.Data = map[string][]byte{"copy": []byte(m.Data["text"])}
			var err error
			switch {
			case !exists:
				_, err = secrets.Create(ctx, want)
			case string(have.Data["copy"]) != m.Data["text"]:
				_, err = secrets.Update(ctx, want)
			}
			return controller.Done, err
		}, controller.Settings[*configMap]{Workers: 4})
		controller.Owns(c, secrets, nil)
		r.run()
		for range 20 { // Changes are faster than the cache.
			m := newMap("a", "text", "one")
			if _, err := r.maps.Create(t.Context(), m, metav1.CreateOptions{}); err != nil {
				require.True(t, apierrors.IsAlreadyExists(err))
				m.Data["text"] += "!"
				_, err := r.maps.Update(t.Context(), m, metav1.UpdateOptions{})
				require.NoError(t, err)
			}
		}
		r.waitIdle()
		copied := rest.Must(rest.For[*corev1.Secret](r.client, rest.ResourceOptions{}))
		secret, err := copied.Get(t.Context(), key{Namespace: "web", Name: "a"}, metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, "one!", string(secret.Data["copy"]))
		require.Equal(t, 1, r.requestCount("create secrets"), "the secret is created once")
		require.NotContains(t, r.logged(), "level=WARN", "the controller has no conflict with its own writes")

		require.NoError(t, copied.Delete(t.Context(), key{Namespace: "web", Name: "a"}, metav1.DeleteOptions{}))
		r.waitIdle()
		_, err = copied.Get(t.Context(), key{Namespace: "web", Name: "a"}, metav1.GetOptions{})
		require.NoError(t, err, "the owned secret is recreated")
	})
}

func TestReferencedObjectsEnqueueTheirReferrers(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		var seen reconcileLog
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		secrets := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
		c := controller.Manage(r.manager, "readers", maps, func(_ context.Context, m *configMap) (controller.Result, error) {
			seen.add(m.Name)
			return controller.Done, nil
		}, controller.Settings[*configMap]{})
		controller.References(c, secrets, "secret", func(m *configMap) []types.NamespacedName {
			return []types.NamespacedName{{Namespace: m.Namespace, Name: m.Data["secret"]}}
		}, nil)
		nodes := controller.For[*corev1.Node](r.manager, rest.ResourceOptions{})
		controller.Watch(c, nodes, func(e informer.Event[*corev1.Node]) iter.Seq[types.NamespacedName] {
			return slices.Values([]types.NamespacedName{{Namespace: "web", Name: e.Key.Name}})
		}, nil)
		keys := make(chan types.NamespacedName)
		c.Receive(keys, "told")
		r.run()
		r.create(newMap("a", "secret", "x"))
		r.create(newMap("b", "secret", "x"))
		r.create(newMap("c", "secret", "y"))
		r.waitIdle()
		require.Equal(t, []string{"a", "b", "c"}, seen.take())

		_, err := r.server.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "x"}})
		require.NoError(t, err)
		r.waitIdle()
		require.Equal(t, []string{"a", "b"}, seen.take())

		_, err = r.server.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "c"}})
		require.NoError(t, err)
		r.waitIdle()
		require.Equal(t, []string{"c"}, seen.take())

		keys <- key{Namespace: "web", Name: "a"}
		c.Enqueue(key{Namespace: "web", Name: "b"}, workqueue.AddOptions{})
		c.Enqueue(key{Namespace: "web", Name: "none"}, workqueue.AddOptions{})
		r.waitIdle()
		require.Equal(t, []string{"a", "b"}, seen.take())
	})
}

func TestResults(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		var seen, gone reconcileLog
		ready := make(chan struct{})
		failures := map[string]int{}
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		controller.Manage(r.manager, "results", maps, func(_ context.Context, m *configMap) (controller.Result, error) {
			seen.add(m.Name)
			switch m.Name {
			case "after":
				return controller.After(40 * time.Second), nil
			case "when":
				return controller.When(func(ctx context.Context) error {
					select {
					case <-ready:
						ready = nil
					case <-ctx.Done():
					}
					return ctx.Err()
				}), nil
			case "terminal":
				return controller.After(time.Second), controller.Terminal(errors.New("a contradiction"))
			case "failing":
				if failures["failing"]++; failures["failing"] < 4 {
					return controller.After(time.Hour), errors.New("not yet")
				}
			case "panics":
				if failures["panics"]++; failures["panics"] < 2 {
					panic("a bug")
				}
			}
			return controller.Done, nil
		}, controller.Settings[*configMap]{Deleted: func(_ context.Context, key types.NamespacedName) error {
			gone.add(key.Name)
			return nil
		}})
		r.run()
		for _, name := range []string{"after", "when", "terminal", "failing", "panics"} {
			r.create(newMap(name))
		}
		r.waitIdle()
		require.Equal(t, []string{"after", "after", "failing", "failing", "failing", "failing", "panics", "panics", "terminal", "when"}, seen.take())
		require.Contains(t, r.logged(), "a contradiction")
		require.Contains(t, r.logged(), "a bug")
		close(ready)
		require.NoError(t, r.maps.Delete(t.Context(), key{Namespace: "web", Name: "failing"}, metav1.DeleteOptions{}))
		r.waitIdle()
		require.Contains(t, seen.take(), "when")
		require.Equal(t, []string{"failing"}, gone.take())
	})
}

func TestWorkersStartWhenAllInitialKeysAreQueued(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		for _, name := range []string{"a", "b", "c"} {
			owner := r.create(newMap(name))
			_, err := r.server.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{
				Namespace: "web", Name: name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, mapKind)},
			}})
			require.NoError(t, err)
		}
		var seen reconcileLog
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		secrets := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
		c := controller.Manage(r.manager, "readers", maps, func(_ context.Context, m *configMap) (controller.Result, error) {
			seen.add(m.Name)
			return controller.Done, nil
		}, controller.Settings[*configMap]{Workers: 4})
		controller.Owns(c, secrets, func(informer.Event[*corev1.Secret]) bool {
			time.Sleep(time.Second) // The reconcile takes a second.
			return true
		})
		r.run()
		r.waitIdle()
		require.Equal(t, []string{"a", "b", "c"}, seen.take(), "each object is reconciled once, however many objects map to it")
	})
}

func TestManagerStopsDuringTheInitialSync(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		r.create(newMap("a"))
		var seen reconcileLog
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		controller.Manage(r.manager, "readers", maps, func(_ context.Context, m *configMap) (controller.Result, error) {
			seen.add(m.Name)
			return controller.Done, nil
		}, controller.Settings[*configMap]{When: func(informer.Event[*configMap]) bool {
			time.Sleep(time.Hour)
			return true
		}})
		r.run()
		r.waitIdle()
		require.Empty(t, seen.take())
		began := time.Now()
		require.NoError(t, r.stop())
		require.LessOrEqual(t, time.Since(began), time.Hour, "Run waits for the handler")
		require.Empty(t, seen.take())
	})
}
