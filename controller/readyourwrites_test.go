package controller_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
)

// withLaggingCaches runs a controller whose caches are seconds behind the server. The first
// reconcile of web/a calls the result write of wire. The next reconcile, which is due at once,
// calls check.
func withLaggingCaches(t *testing.T, wire func(t *testing.T, r *rig) (write, check func(ctx context.Context) error)) {
	t.Helper()
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		write, look := wire(t, r)
		reconciles := 0
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		controller.Manage(r.manager, "writer", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
			switch reconciles++; reconciles {
			case 1:
				if err := write(ctx); err != nil {
					t.Error(err)
				}
				return controller.After(0), nil
			case 2:
				if err := look(ctx); err != nil {
					t.Error(err)
				}
			}
			return controller.Done, nil
		}, controller.Settings[*configMap]{})
		r.create(newMap("a"))
		r.server.Inject(apitest.Fault{Verb: "watch", Action: apitest.SlowBody(200)})
		r.run()
		r.waitIdle()
		r.waitIdle()
		require.GreaterOrEqual(t, reconciles, 2)
	})
}

func newSecret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name}}
}

// If a reconcile deletes an object, the next reconcile does not find it. The reconcile may delete
// the object by its name alone, with its cached state, or after creating it itself.
func TestReconcileSeesThePreviousDeletion(t *testing.T) {
	for name, write := range map[string]func(ctx context.Context, secrets *controller.Client[*corev1.Secret]) error{
		"as it was seen": func(ctx context.Context, secrets *controller.Client[*corev1.Secret]) error {
			seen, _ := secrets.Get(key{Namespace: "web", Name: "s"})
			return secrets.Delete(ctx, seen)
		},
		"by its name": func(ctx context.Context, secrets *controller.Client[*corev1.Secret]) error {
			return secrets.Delete(ctx, newSecret("s"))
		},
		"created in the same turn": func(ctx context.Context, secrets *controller.Client[*corev1.Secret]) error {
			seen, _ := secrets.Get(key{Namespace: "web", Name: "s"})
			if err := secrets.Delete(ctx, seen); err != nil {
				return err
			}
			made, err := secrets.Create(ctx, newSecret("s"))
			if err != nil {
				return err
			}
			return secrets.Delete(ctx, made)
		},
	} {
		t.Run(name, func(t *testing.T) {
			withLaggingCaches(t, func(t *testing.T, r *rig) (write_, look func(ctx context.Context) error) {
				_, err := r.server.Create(newSecret("s"))
				require.NoError(t, err)
				secrets := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
				return func(ctx context.Context) error { return write(ctx, secrets) },
					func(context.Context) error {
						_, exists := secrets.Get(key{Namespace: "web", Name: "s"})
						require.False(t, exists)
						return nil
					}
			})
		})
	}
}

// After a write, a cache may no longer select the object. The next reconcile sees this write too:
// the object is gone from that cache.
func TestReconcileSeesThatAnObjectLeftTheSelection(t *testing.T) {
	withLaggingCaches(t, func(t *testing.T, r *rig) (write, look func(ctx context.Context) error) {
		s := newSecret("s")
		s.Labels = map[string]string{"mine": "yes"}
		_, err := r.server.Create(s)
		require.NoError(t, err)
		secrets := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{LabelSelector: "mine=yes"})
		return func(ctx context.Context) error {
				seen, exists := secrets.Get(keyOf(s))
				require.True(t, exists)
				changed := seen.DeepCopy()
				changed.Labels = nil
				_, err := secrets.Update(ctx, changed)
				return err
			}, func(context.Context) error {
				_, exists := secrets.Get(keyOf(s))
				require.False(t, exists)
				return nil
			}
	})
}

// All caches of the manager that have the object show a write through one Client.
func TestReconcileSeesItsWritesInEveryCache(t *testing.T) {
	withLaggingCaches(t, func(t *testing.T, r *rig) (write, look func(ctx context.Context) error) {
		s := newSecret("s")
		s.Labels = map[string]string{"mine": "yes"}
		_, err := r.server.Create(s)
		require.NoError(t, err)
		mine := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{LabelSelector: "mine=yes"})
		all := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
		names := controller.Select(r.manager, controller.Selection[*metav1.PartialObjectMetadata]{
			ResourceOptions: rest.ResourceOptions{Resource: corev1.SchemeGroupVersion.WithResource("secrets"), Kind: "Secret"},
			Informer:        informer.Options[*metav1.PartialObjectMetadata]{Name: "names"},
		})
		return func(ctx context.Context) error {
				seen, _ := mine.Get(keyOf(s))
				changed := seen.DeepCopy()
				changed.Annotations = map[string]string{"n": "1"}
				_, err := mine.Update(ctx, changed)
				if err == nil {
					_, err = all.Create(ctx, newSecret("new"))
				}
				return err
			}, func(context.Context) error {
				for name, of := range map[string]func(key) (metav1.Object, bool){
					"mine":  func(k key) (metav1.Object, bool) { return mine.Get(k) },
					"all":   func(k key) (metav1.Object, bool) { return all.Get(k) },
					"names": func(k key) (metav1.Object, bool) { return names.Get(k) },
				} {
					object, exists := of(keyOf(s))
					require.True(t, exists, name)
					require.Equal(t, "1", object.GetAnnotations()["n"], name)
					_, exists = of(key{Namespace: "web", Name: "new"})
					require.Equal(t, name != "mine", exists, name)
				}
				return nil
			}
	})
}

// A write does not hold its key back if the cache cannot decode the object, or does not select it.
func TestKeyIsNotHeldBackByUnselectedObjects(t *testing.T) {
	for name, write := range map[string]func(ctx context.Context, secrets *controller.Client[*corev1.Secret]) error{
		"updated": func(ctx context.Context, secrets *controller.Client[*corev1.Secret]) error {
			seen, _ := secrets.Get(key{Namespace: "web", Name: "s"})
			changed := seen.DeepCopy()
			changed.Data = map[string][]byte{"n": {1}}
			_, err := secrets.Update(ctx, changed)
			return err
		},
		"created": func(ctx context.Context, secrets *controller.Client[*corev1.Secret]) error {
			_, err := secrets.Create(ctx, newSecret("new"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			withLaggingCaches(t, func(t *testing.T, r *rig) (write_, look func(ctx context.Context) error) {
				_, err := r.server.Create(newSecret("s"))
				require.NoError(t, err)
				r.server.Inject(apitest.Fault{Verb: "watch", Resource: "secrets", Action: apitest.UndecodableObject(1)})
				secrets := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
				return func(ctx context.Context) error { return write(ctx, secrets) },
					func(context.Context) error {
						name := map[string]string{"updated": "s", "created": "new"}[name]
						require.Error(t, secrets.Cache().Undecodable(key{Namespace: "web", Name: name}))
						return nil
					}
			})
		})
	}
}

// Only the server knows whether a cache with a field selector will have a new object. If the write
// was made through the Client of that cache, the key waits five seconds for the object. The key
// does not wait for other caches, unless they have an older state.
func TestKeyIsHeldBackBrieflyByFieldSelectors(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		_, err := r.server.Create(newSecret("s"))
		require.NoError(t, err)
		all := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
		one := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{FieldSelector: "metadata.name=s"})
		steps := []func(ctx context.Context) error{
			func(ctx context.Context) error { _, err := all.Create(ctx, newSecret("a")); return err },
			func(ctx context.Context) error { _, err := one.Create(ctx, newSecret("b")); return err },
			func(ctx context.Context) error {
				seen, _ := all.Get(key{Namespace: "web", Name: "s"})
				changed := seen.DeepCopy()
				changed.Annotations = map[string]string{"n": "1"}
				_, err := all.Update(ctx, changed)
				return err
			},
			func(ctx context.Context) error {
				seen, _ := one.Get(key{Namespace: "web", Name: "s"})
				require.Equal(t, "1", seen.Annotations["n"])
				return all.Delete(ctx, newSecret("a"))
			},
			func(context.Context) error { return nil },
		}
		var at []time.Time
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		controller.Manage(r.manager, "writer", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
			at = append(at, time.Now())
			if len(at) > len(steps) {
				return controller.Done, nil
			}
			if err := steps[len(at)-1](ctx); err != nil {
				t.Error(err)
			}
			return controller.After(0), nil
		}, controller.Settings[*configMap]{})
		r.create(newMap("a"))
		r.run()
		r.waitIdle()
		require.GreaterOrEqual(t, len(at), len(steps))
		var took []time.Duration
		for n := range len(steps) - 1 {
			took = append(took, at[n+1].Sub(at[n]).Round(time.Second))
		}
		require.Equal(t, []time.Duration{0, 5 * time.Second, 0, 0}, took)
	})
}
