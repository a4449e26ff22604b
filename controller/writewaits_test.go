package controller_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/rest"
)

var secretsGR = corev1.SchemeGroupVersion.WithResource("secrets").GroupResource()

// withBlindCache runs a controller whose first reconcile of web/a writes a secret. After a call of
// the function blind, the caches can no longer see that secret. It returns how long the key was
// held back, and the state of the controller at the next reconcile of the key.
func withBlindCache(t *testing.T, wire func(r *rig) (secrets *controller.Client[*corev1.Secret], blind func()), write func(ctx context.Context, secrets *controller.Client[*corev1.Secret]) error, check func(r *rig, held time.Duration)) {
	t.Helper()
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		s := newSecret("s")
		s.Labels = map[string]string{"mine": "yes"}
		s.Finalizers = []string{"example.com/f"}
		_, err := r.server.Create(s)
		require.NoError(t, err)
		secrets, blind := wire(r)
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		var at []time.Time
		controller.Manage(r.manager, "writer", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
			if at = append(at, time.Now()); len(at) == 1 {
				if err := write(ctx, secrets); err != nil {
					t.Error(err)
				}
				return controller.After(0), nil
			}
			return controller.Done, nil
		}, controller.Settings[*configMap]{})
		r.run()
		time.Sleep(time.Second)
		synctest.Wait()
		blind()
		time.Sleep(time.Second)
		r.create(newMap("a"))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.Len(t, at, 2)
		check(r, at[1].Sub(at[0]))
	})
}

// failLists makes all matching lists and watches of secrets fail until the test removes the faults.
func failLists(r *rig, err error, match func(apitest.Request) bool) (faults []*apitest.InjectedFault) {
	for _, verb := range []string{"list", "watch"} {
		faults = append(faults, r.server.Inject(apitest.Fault{Verb: verb, Resource: "secrets", Match: match, Action: apitest.Fail(err)}))
	}
	r.server.DropWatches("secrets")
	return faults
}

// A key does not wait for a write that a cache can no longer see. The cache cannot decode the
// deletion of an object with a finalizer, or the server no longer has the resource. Or the server
// refuses the resource to another cache. The log and the manager's health name the key, and the
// status counts it.
func TestKeyIsNotHeldBackByABlindCache(t *testing.T) {
	update := func(ctx context.Context, secrets *controller.Client[*corev1.Secret]) error {
		s, _ := secrets.Get(key{Namespace: "web", Name: "s"})
		changed := s.DeepCopy()
		changed.Data = map[string][]byte{"n": {1}}
		_, err := secrets.Update(ctx, changed)
		return err
	}
	remove := func(ctx context.Context, secrets *controller.Client[*corev1.Secret]) error {
		s, _ := secrets.Get(key{Namespace: "web", Name: "s"})
		return secrets.Delete(ctx, s)
	}
	all := func(r *rig) *controller.Client[*corev1.Secret] {
		return controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
	}
	every := func(apitest.Request) bool { return true }
	for name, tt := range map[string]struct {
		wire  func(r *rig) (*controller.Client[*corev1.Secret], func())
		write func(ctx context.Context, secrets *controller.Client[*corev1.Secret]) error
	}{
		"the deletion cannot be decoded": {func(r *rig) (*controller.Client[*corev1.Secret], func()) {
			r.server.Inject(apitest.Fault{Verb: "watch", Resource: "secrets", Action: apitest.UndecodableObject(1)})
			return all(r), func() {}
		}, remove},
		"the resource is gone, deleted": {func(r *rig) (*controller.Client[*corev1.Secret], func()) {
			gone := apierrors.NewNotFound(secretsGR, "")
			return all(r), func() {
				failLists(r, gone, every)
				r.server.Inject(apitest.Fault{Verb: "delete", Resource: "secrets", Action: apitest.Fail(gone)})
			}
		}, remove},
		"the resource is gone, updated": {func(r *rig) (*controller.Client[*corev1.Secret], func()) {
			return all(r), func() { failLists(r, apierrors.NewNotFound(secretsGR, ""), every) }
		}, update},
		"another cache is forbidden": {func(r *rig) (*controller.Client[*corev1.Secret], func()) {
			mine := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{LabelSelector: "mine=yes"})
			controller.Manage(r.manager, "other", mine, func(context.Context, *corev1.Secret) (controller.Result, error) {
				return controller.Done, nil
			}, controller.Settings[*corev1.Secret]{})
			return all(r), func() {
				failLists(r, apierrors.NewForbidden(secretsGR, "", errors.New("no right")), func(q apitest.Request) bool { return q.HTTP.URL.Query().Get("labelSelector") != "" })
			}
		}, update},
		"a namespace is forbidden": {func(r *rig) (*controller.Client[*corev1.Secret], func()) {
			some := controller.Select(r.manager, controller.Selection[*corev1.Secret]{Namespaces: []string{"web", "other"}})
			return some, func() {
				failLists(r, apierrors.NewForbidden(secretsGR, "", errors.New("no right")), func(q apitest.Request) bool { return q.Namespace == "web" })
			}
		}, update},
	} {
		t.Run(name, func(t *testing.T) {
			withBlindCache(t, tt.wire, tt.write, func(r *rig, held time.Duration) {
				require.LessOrEqual(t, held, 30*time.Second)
				for _, line := range []string{"has received", "controller=writer", "key=web/a", "object=web/s"} {
					require.Contains(t, r.logged(), line)
				}
				for _, c := range r.manager.Status().Controllers {
					if c.Name == "writer" {
						require.NotZero(t, c.UnseenWrites)
						require.Zero(t, c.PendingWrites)
					}
				}
			})
		})
	}
}

// A cache whose server responds with 500 may see the write after the next attempt. So the key waits
// for two minutes. Meanwhile health and status name the key.
func TestKeyIsHeldBackForABoundedTime(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		_, err := r.server.Create(newSecret("s"))
		require.NoError(t, err)
		secrets := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		var at []time.Time
		controller.Manage(r.manager, "writer", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
			if at = append(at, time.Now()); len(at) > 1 {
				return controller.Done, nil
			}
			s, _ := secrets.Get(key{Namespace: "web", Name: "s"})
			changed := s.DeepCopy()
			changed.Data = map[string][]byte{"n": {1}}
			_, err := secrets.Update(ctx, changed)
			return controller.After(0), err
		}, controller.Settings[*configMap]{})
		r.run()
		time.Sleep(time.Second)
		synctest.Wait()
		failLists(r, apierrors.NewInternalError(errors.New("broken")), nil)
		r.create(newMap("a"))

		time.Sleep(20 * time.Second)
		synctest.Wait()
		require.NoError(t, r.manager.Ready())
		time.Sleep(20 * time.Second)
		synctest.Wait()
		require.Len(t, at, 1)
		require.ErrorContains(t, r.manager.Ready(), "controller writer: key web/a is held back for 4")
		require.ErrorContains(t, r.manager.Ready(), "cache secrets has not received the key's write of web/s")
		status := r.manager.Status().Controllers[0]
		require.Equal(t, 1, status.PendingWrites)
		require.Len(t, status.HeldKeys, 1)
		require.Equal(t, key{Namespace: "web", Name: "a"}, status.HeldKeys[0].Key)
		require.Equal(t, key{Namespace: "web", Name: "s"}, status.HeldKeys[0].Object)
		require.Equal(t, "secrets", status.HeldKeys[0].Cache)
		require.GreaterOrEqual(t, status.HeldKeys[0].For, 40*time.Second-time.Second)

		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.Len(t, at, 2)
		require.Equal(t, 2*time.Minute, at[1].Sub(at[0]).Round(time.Second))
		require.ErrorContains(t, r.manager.Ready(), "key web/a was reconciled")
		require.Contains(t, r.logged(), "the write has not arrived within 2m0s")
		require.EqualValues(t, 1, r.manager.Status().Controllers[0].UnseenWrites)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		require.NoError(t, r.manager.Ready())
	})
}

// A cache whose watches the server refuses uses lists instead. A key waits for the list that has
// its write, even if only one watch was refused. The next reconcile of the key sees the write, and
// the manager stays ready.
func TestKeyIsHeldBackByACacheWhoseWatchesAreRefused(t *testing.T) {
	for name, refusal := range map[string]error{
		"403": apierrors.NewForbidden(secretsGR, "", errors.New("no right")),
		"404": apierrors.NewNotFound(secretsGR, ""),
		"405": apierrors.NewMethodNotSupported(secretsGR, "watch"),
	} {
		for _, f := range []struct {
			name, verb string
			times      int
			namespaces []string
		}{
			{"once", "watch", 1, nil},
			{"always", "watch", 0, nil},
			{"always, in one of two namespaces", "watch", 0, []string{"web", "other"}},
			{"once, and then a list", "", 4, nil},
		} {
			t.Run(name+" "+f.name, func(t *testing.T) {
				play(t, controller.Options{}, func(t *testing.T, r *rig) {
					_, err := r.server.Create(newSecret("s"))
					require.NoError(t, err)
					secrets := controller.Select(r.manager, controller.Selection[*corev1.Secret]{Namespaces: f.namespaces})
					maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
					reconciles := 0
					controller.Manage(r.manager, "writer", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
						s, _ := secrets.Get(key{Namespace: "web", Name: "s"})
						if reconciles++; reconciles > 1 {
							require.Contains(t, s.Data, "n")
							return controller.Done, nil
						}
						changed := s.DeepCopy()
						changed.Data = map[string][]byte{"n": {1}}
						_, err := secrets.Update(ctx, changed)
						return controller.After(0), err
					}, controller.Settings[*configMap]{})
					r.run()
					time.Sleep(time.Second)
					synctest.Wait()
					r.server.Inject(apitest.Fault{Resource: "secrets", Times: f.times, Action: apitest.Fail(refusal), Match: func(q apitest.Request) bool {
						return q.Namespace != "other" && (q.Verb == "watch" || q.Verb == "list" && f.verb == "")
					}})
					r.server.DropWatches("secrets")
					r.create(newMap("a"))
					time.Sleep(3 * time.Minute)
					synctest.Wait()
					require.Equal(t, 2, reconciles)
					require.NoError(t, r.manager.Ready())
					require.Zero(t, r.manager.Status().Controllers[0].UnseenWrites)
				})
			})
		}
	}
}

// When a cache gets a write that it did not have in time, the manager is ready again: the object
// changed, was deleted, or was created and deleted.
func TestManagerIsReadyOnceTheCacheHasTheWrite(t *testing.T) {
	for name, tt := range map[string]struct {
		write func(ctx context.Context, secrets *controller.Client[*corev1.Secret], s *corev1.Secret) error
		gone  string // the object is deleted before the cache sees it
	}{
		"changed": {write: func(ctx context.Context, secrets *controller.Client[*corev1.Secret], s *corev1.Secret) error {
			changed := s.DeepCopy()
			changed.Data = map[string][]byte{"n": {1}}
			_, err := secrets.Update(ctx, changed)
			return err
		}},
		"deleted": {write: func(ctx context.Context, secrets *controller.Client[*corev1.Secret], s *corev1.Secret) error {
			return secrets.Delete(ctx, s)
		}},
		"came and went": {write: func(ctx context.Context, secrets *controller.Client[*corev1.Secret], _ *corev1.Secret) error {
			_, err := secrets.Create(ctx, newSecret("new"))
			return err
		}, gone: "new"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, controller.Options{}, func(t *testing.T, r *rig) {
				_, err := r.server.Create(newSecret("s"))
				require.NoError(t, err)
				secrets := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
				maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
				reconciles := 0
				controller.Manage(r.manager, "writer", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
					if reconciles++; reconciles > 1 {
						return controller.Done, nil
					}
					s, _ := secrets.Get(key{Namespace: "web", Name: "s"})
					return controller.After(0), tt.write(ctx, secrets, s)
				}, controller.Settings[*configMap]{})
				r.run()
				time.Sleep(time.Second)
				synctest.Wait()
				faults := failLists(r, apierrors.NewForbidden(secretsGR, "", errors.New("no right")), nil)
				r.create(newMap("a"))
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Equal(t, 2, reconciles)
				require.ErrorContains(t, r.manager.Ready(), "key web/a was reconciled")
				if tt.gone != "" {
					require.NoError(t, secrets.Server().Delete(t.Context(), key{Namespace: "web", Name: tt.gone}, metav1.DeleteOptions{}))
				}
				for _, fault := range faults {
					fault.Remove()
				}
				time.Sleep(2 * time.Minute) // The next attempt to list follows.
				synctest.Wait()
				require.NoError(t, r.manager.Ready())
			})
		})
	}
}
