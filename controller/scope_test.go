package controller_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
)

var zones = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "zones"}

// requireOwnedIsRestored runs a controller that keeps a ConfigMap for each of its owners, with the
// owner's name and in the namespace web. The ConfigMap of "one" is deleted twice, and is recreated
// each time.
func requireOwnedIsRestored[T metav1.Object](t *testing.T, r *rig, owners *controller.Client[T], kind schema.GroupVersionKind, create func(name string)) {
	maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
	var deleted nameLog
	c := controller.Manage(r.manager, "keeper", owners, func(ctx context.Context, owner T) (controller.Result, error) {
		if _, exists := maps.Get(key{Namespace: "web", Name: owner.GetName()}); exists {
			return controller.Done, nil
		}
		m := newMap(owner.GetName())
		m.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)}
		_, err := maps.Create(ctx, m)
		return controller.Done, err
	}, controller.Settings[T]{Deleted: func(_ context.Context, k key) error { deleted.add(k.String()); return nil }})
	controller.Owns(c, maps, nil)
	orphan := newMap("orphan")
	orphan.OwnerReferences = []metav1.OwnerReference{{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: "gone", UID: "u", Controller: new(true)}}
	r.run()
	r.waitIdle()
	create("one")
	for range 2 {
		r.waitIdle()
		_ = r.get("one")
		require.Empty(t, deleted.take())
		require.NoError(t, r.maps.Delete(t.Context(), key{Namespace: "web", Name: "one"}, metav1.DeleteOptions{}))
	}
	r.waitIdle()
	_ = r.get("one")
	r.create(orphan)
	r.waitIdle()
	require.Equal(t, []string{key{Namespace: ownersNamespace(owners), Name: "gone"}.String()}, deleted.take())
}

func ownersNamespace[T metav1.Object](owners *controller.Client[T]) string {
	for k := range owners.Cache().All() {
		return k.Namespace
	}
	return ""
}

// If an owned object is deleted, the controller of a cluster-scoped owner recreates it as well. The
// owner's kind may be built-in or custom. Deleted is not called for a key that never existed.
func TestClusterScopedOwnersRestoreOwnedObjects(t *testing.T) {
	t.Run("a Node", func(t *testing.T) {
		play(t, controller.Options{}, func(t *testing.T, r *rig) {
			nodes := controller.For[*corev1.Node](r.manager, rest.ResourceOptions{})
			requireOwnedIsRestored(t, r, nodes, corev1.SchemeGroupVersion.WithKind("Node"), func(name string) {
				_, err := r.server.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
				require.NoError(t, err)
			})
		})
	})
	for _, clusterScoped := range []bool{true, false} {
		t.Run(map[bool]string{true: "a custom resource without namespaces", false: "a custom resource with them"}[clusterScoped], func(t *testing.T) {
			play(t, controller.Options{}, func(t *testing.T, r *rig) {
				require.NoError(t, r.server.AddResource(apitest.Resource{Group: zones.Group, Version: zones.Version, Plural: zones.Resource, Kind: "Zone", ClusterScoped: clusterScoped}))
				owners := controller.For[*unstructured.Unstructured](r.manager, rest.ResourceOptions{Resource: zones, Kind: "Zone"})
				requireOwnedIsRestored(t, r, owners, zones.GroupVersion().WithKind("Zone"), func(name string) {
					zone := newZone(name)
					if !clusterScoped {
						zone.SetNamespace("web")
					}
					_, err := r.server.Create(zone)
					require.NoError(t, err)
				})
			})
		})
	}
}

func newZone(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Zone", "metadata": map[string]any{"name": name}}}
}

// A cluster-scoped custom resource is selected whole in a manager with Namespaces if its Selection
// says so. If the Selection does not say so, the error explains what to set.
func TestClusterScopedCustomResourceInANamespacedManager(t *testing.T) {
	for name, namespaces := range map[string][]string{"all": {""}, "the manager's": nil} {
		t.Run(name, func(t *testing.T) {
			play(t, controller.Options{Namespaces: []string{"a", "b"}}, func(t *testing.T, r *rig) {
				require.NoError(t, r.server.AddResource(apitest.Resource{Group: zones.Group, Version: zones.Version, Plural: zones.Resource, Kind: "Zone", ClusterScoped: true}))
				_, err := r.server.Create(newZone("one"))
				require.NoError(t, err)
				all := controller.Select(r.manager, controller.Selection[*unstructured.Unstructured]{
					ResourceOptions: rest.ResourceOptions{Resource: zones, Kind: "Zone"}, Namespaces: namespaces,
				})
				r.run()
				r.waitIdle()
				_, exists := all.Get(key{Name: "one"})
				if namespaces == nil {
					require.False(t, exists)
					require.ErrorContains(t, r.manager.Ready(), `If the objects have no namespaces, select all namespaces: in package controller by Selection.Namespaces []string{""}`)
					return
				}
				require.True(t, exists)
				require.NoError(t, r.manager.Ready())
			})
		})
	}
}

// An owned object maps to its owner even if the cache has no owner yet. Either the list of owners
// takes longer than the list of owned objects, or the first owner is created after them.
func TestOwnedObjectsBeforeTheirOwnersEnqueueTheOwners(t *testing.T) {
	for _, clusterScoped := range []bool{true, false} {
		for _, late := range []string{"the list", "the owner"} {
			t.Run(map[bool]string{true: "without namespaces", false: "with them"}[clusterScoped]+", "+late, func(t *testing.T) {
				play(t, controller.Options{}, func(t *testing.T, r *rig) {
					require.NoError(t, r.server.AddResource(apitest.Resource{Group: zones.Group, Version: zones.Version, Plural: zones.Resource, Kind: "Zone", ClusterScoped: clusterScoped}))
					owners := controller.For[*unstructured.Unstructured](r.manager, rest.ResourceOptions{Resource: zones, Kind: "Zone"})
					maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
					var reconciles nameLog
					c := controller.Manage(r.manager, "keeper", owners, func(_ context.Context, owner *unstructured.Unstructured) (controller.Result, error) {
						reconciles.add(owner.GetName())
						return controller.Done, nil
					}, controller.Settings[*unstructured.Unstructured]{When: func(informer.Event[*unstructured.Unstructured]) bool { return false }})
					controller.Owns(c, maps, nil)
					zone := newZone("one")
					if !clusterScoped {
						zone.SetNamespace("web")
					}
					owned := newMap("owned")
					owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Zone", Name: "one", UID: "u", Controller: new(true)}}
					r.create(owned)
					if late == "the list" {
						r.server.Inject(apitest.Fault{Verb: "list", Resource: zones.Resource, Action: apitest.Delay(10 * time.Second)})
						_, err := r.server.Create(zone)
						require.NoError(t, err)
					}
					r.run()
					r.waitIdle()
					if late == "the owner" {
						require.Empty(t, reconciles.take())
						_, err := r.server.Create(zone)
						require.NoError(t, err)
						r.waitIdle()
					}
					require.Equal(t, []string{"one"}, reconciles.take())
				})
			})
		}
	}
}

// A user who may create objects may name any number of owners that never exist. The controller
// bounds the keys that it keeps.
func TestKeysOfOwnersThatNeverExistAreBounded(t *testing.T) { // G11
	t.Parallel()
	require.Equal(t, 10, controller.OwnerBacklogAdds(10))
	require.Equal(t, controller.MaxOwnerBacklog, controller.OwnerBacklogAdds(controller.MaxOwnerBacklog+10))
}
