package controller_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/rest"
)

// owners returns the field managers of an object, and the operation of each.
func owners(object metav1.Object) map[string]string {
	all := map[string]string{}
	for _, e := range object.GetManagedFields() {
		all[e.Manager+" "+string(e.Operation)+" "+e.Subresource] = e.FieldsV1.GetRawString()
	}
	return all
}

func TestApplyOwnsTheFieldsThatItSets(t *testing.T) {
	act(t, newMap("a", "user", "1"), func(ctx context.Context, r *rig, maps *controller.Client[*configMap], m *configMap) error {
		applied, err := maps.Apply(ctx, newMap("a", "mine", "1", "old", "1"))
		require.NoError(t, err)
		require.Equal(t, map[string]string{"user": "1", "mine": "1", "old": "1"}, applied.Data)
		require.Equal(t, `{"f:data":{"f:mine":{},"f:old":{}}}`, owners(applied)["tester Apply "])

		other := r.get("a")
		other.Data["mine"] = "2"
		_, err = r.maps.Update(ctx, other, metav1.UpdateOptions{FieldManager: "user"})
		require.NoError(t, err)
		_, err = maps.Patch(ctx, keyOf(m), types.ApplyPatchType, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"mine":"1"}}`))
		require.True(t, apierrors.IsConflict(err), "an apply patch does not take over fields of other managers: %v", err)
		require.ErrorContains(t, err, `conflict with "user" using v1: .data.mine`)
		dry, err := maps.Server().ServerSideApply(ctx, newMap("a", "mine", "3"), metav1.ApplyOptions{FieldManager: "tester", Force: true, DryRun: []string{metav1.DryRunAll}})
		require.NoError(t, err)
		require.Equal(t, map[string]string{"user": "1", "mine": "3"}, dry.Data)
		require.Equal(t, "2", r.get("a").Data["mine"], "a dry run writes nothing")

		applied, err = maps.Apply(ctx, newMap("a", "mine", "1"))
		require.NoError(t, err)
		require.Equal(t, map[string]string{"user": "1", "mine": "1"}, applied.Data, "Apply takes over mine, and removes old, which it no longer sets")
		again, err := maps.Apply(ctx, newMap("a", "mine", "1"))
		require.NoError(t, err)
		require.Equal(t, applied, again, "an equal Apply writes nothing")

		created, err := maps.Apply(ctx, newMap("new", "mine", "1"))
		require.NoError(t, err)
		require.Equal(t, created, r.get("new"))
		return nil
	})
}

// An object from the cache can be copied, changed and applied: fields that only the server writes
// are not sent. The manager then owns all fields. An outdated resourceVersion can cause a conflict.
func TestApplyOfACopyOfACachedObject(t *testing.T) {
	act(t, newMap("a", "user", "1"), func(ctx context.Context, r *rig, maps *controller.Client[*configMap], m *configMap) error {
		_, err := r.maps.ServerSideApply(ctx, newMap("a", "user", "1"), metav1.ApplyOptions{FieldManager: "user", Force: true})
		require.NoError(t, err)
		cached := r.get("a")
		require.NotEmpty(t, cached.ManagedFields)
		cached.Data["mine"] = "1"
		applied, err := maps.Apply(ctx, cached)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"user": "1", "mine": "1"}, applied.Data)
		require.Len(t, owners(applied), 3, "the managers are before-first-apply, user and tester")
		_, err = maps.Apply(ctx, m.DeepCopy())
		require.True(t, apierrors.IsConflict(err), "the object has an old version: %v", err)
		successor := m.DeepCopy()
		successor.ResourceVersion, successor.UID = "", "other"
		_, err = maps.Apply(ctx, successor)
		require.True(t, apierrors.IsConflict(err), "the object has another UID: %v", err)
		return nil
	})
}

func TestApplyStatusWritesOnlyTheStatus(t *testing.T) {
	act(t, newMap("a"), func(ctx context.Context, r *rig, maps *controller.Client[*configMap], m *configMap) error {
		deployments := rest.Must(rest.For[*appsv1.Deployment](r.client, rest.ResourceOptions{}))
		mine := controller.For[*appsv1.Deployment](r.manager, rest.ResourceOptions{})
		made, err := r.server.Create(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "d", Labels: map[string]string{"user": "1"}}, Spec: appsv1.DeploymentSpec{Replicas: new(int32(3))}})
		require.NoError(t, err)
		with := func(kind string, replicas int32) *appsv1.Deployment {
			return &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "d", Labels: map[string]string{"not": "applied"}},
				Spec:       appsv1.DeploymentSpec{Replicas: new(int32(7))},
				Status:     appsv1.DeploymentStatus{Replicas: replicas, Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentConditionType(kind), Status: corev1.ConditionTrue}}},
			}
		}
		_, err = deployments.ServerSideApply(ctx, with("Theirs", 0), metav1.ApplyOptions{FieldManager: "they"}, "status")
		require.NoError(t, err)
		applied, err := mine.ApplyStatus(ctx, with("Mine", 2))
		require.NoError(t, err)
		require.EqualValues(t, 3, *applied.Spec.Replicas)
		require.Equal(t, map[string]string{"user": "1"}, applied.Labels)
		require.Equal(t, made.GetGeneration(), applied.Generation)
		require.EqualValues(t, 2, applied.Status.Replicas)
		require.Len(t, applied.Status.Conditions, 2, "conditions are merged by type")
		fields := owners(applied)["tester Apply status"]
		require.Contains(t, fields, `"f:replicas":{}`)
		for _, unwritten := range []string{"f:spec", "f:metadata", "Theirs"} {
			require.NotContains(t, fields, unwritten)
		}

		applied, err = mine.Apply(ctx, with("Main", 9))
		require.NoError(t, err)
		require.EqualValues(t, 7, *applied.Spec.Replicas)
		require.EqualValues(t, 2, applied.Status.Replicas, "Apply does not change the status")
		require.NotContains(t, owners(applied)["tester Apply "], "f:status")

		missing := with("Mine", 1)
		missing.Name = "none"
		_, err = mine.ApplyStatus(ctx, missing)
		require.True(t, apierrors.IsNotFound(err), err)
		_, err = maps.ApplyStatus(ctx, newMap("a"))
		require.True(t, apierrors.IsNotFound(err), "config maps have no status: %v", err)
		return nil
	})
}

// Owner references are a map by uid: an apply of one reference does not change the others.
func TestApplyWithOwners(t *testing.T) {
	act(t, newMap("a"), func(ctx context.Context, r *rig, maps *controller.Client[*configMap], m *configMap) error {
		other := r.create(newMap("other"))
		child := func(owner *configMap, isController bool) *configMap {
			c := newMap("child", owner.Name, "1")
			ref := metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			ref.Controller = &isController
			c.OwnerReferences = []metav1.OwnerReference{*ref}
			return c
		}
		_, err := maps.Apply(ctx, child(m, true))
		require.NoError(t, err)
		both, err := r.maps.ServerSideApply(ctx, child(other, false), metav1.ApplyOptions{FieldManager: "they"})
		require.NoError(t, err)
		require.Len(t, both.OwnerReferences, 2)
		require.True(t, metav1.IsControlledBy(both, m))
		_, err = r.maps.ServerSideApply(ctx, child(other, true), metav1.ApplyOptions{FieldManager: "they"})
		require.True(t, apierrors.IsInvalid(err), "only one owner may be the controller: %v", err)
		left, err := maps.Apply(ctx, newMap("child", "a", "1"))
		require.NoError(t, err)
		require.Len(t, left.OwnerReferences, 1)
		require.Equal(t, other.UID, left.OwnerReferences[0].UID)
		return nil
	})
}

// site is a program's own struct, whose fields are always in its JSON.
type site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Host string `json:"host"`
	} `json:"spec"`
	Status struct {
		Ready bool `json:"ready"`
	} `json:"status"`
}

func TestApplyOfACustomStruct(t *testing.T) {
	act(t, newMap("a"), func(ctx context.Context, r *rig, _ *controller.Client[*configMap], _ *configMap) error {
		resource := apitest.Resource{Group: "example.com", Version: "v1", Plural: "sites", Kind: "Site", Status: true}
		require.NoError(t, r.server.AddResource(resource))
		sites := controller.For[*site](r.manager, rest.ResourceOptions{Resource: resource.GroupVersionResource(), Kind: "Site"})
		s := &site{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "shop"}}
		s.Spec.Host = "shop.example.com"
		applied, err := sites.Apply(ctx, s)
		require.NoError(t, err)
		require.Equal(t, "shop.example.com", applied.Spec.Host)
		status := &site{ObjectMeta: s.ObjectMeta}
		status.Status.Ready = true
		applied, err = sites.ApplyStatus(ctx, status)
		require.NoError(t, err)
		require.True(t, applied.Status.Ready)
		require.Equal(t, "shop.example.com", applied.Spec.Host)
		applied, err = sites.Apply(ctx, s)
		require.NoError(t, err)
		require.True(t, applied.Status.Ready, "Apply does not change the status, although the struct has one")
		require.Equal(t, map[string]string{"tester Apply ": `{"f:spec":{".":{},"f:host":{}}}`, "tester Apply status": `{"f:status":{".":{},"f:ready":{}}}`}, owners(applied))
		return nil
	})
}

// A Go type writes null for unset fields: a selector, a list of containers. Apply must not take
// ownership of these fields.
func TestApplyKeepsFieldsThatTheGoTypeLacks(t *testing.T) {
	act(t, newMap("a"), func(ctx context.Context, r *rig, _ *controller.Client[*configMap], _ *configMap) error {
		deployments := controller.For[*appsv1.Deployment](r.manager, rest.ResourceOptions{})
		labels := map[string]string{"app": "shop"}
		_, err := r.server.Create(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "d"}, Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "shop"}}}},
		}})
		require.NoError(t, err)
		for range 2 {
			applied, err := deployments.Apply(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "d"}, Spec: appsv1.DeploymentSpec{Replicas: new(int32(3))}})
			require.NoError(t, err)
			require.EqualValues(t, 3, *applied.Spec.Replicas)
			require.NotNil(t, applied.Spec.Selector)
			require.Equal(t, labels, applied.Spec.Selector.MatchLabels)
			require.Len(t, applied.Spec.Template.Spec.Containers, 1)
			require.Equal(t, labels, applied.Spec.Template.Labels)
			require.Equal(t, appsv1.RecreateDeploymentStrategyType, applied.Spec.Strategy.Type)
			t.Log(owners(applied))
		}
		return nil
	})
}
