// Package typed_test tests the generated clients with an API server.
package typed_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applyautoscalingv1 "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kinform/kinform/apitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// forEachEncoding runs a test in every encoding.
func forEachEncoding(t *testing.T, test func(t *testing.T, config *rest.Config)) {
	// the default of typed clients is protobuf
	for _, encoding := range []string{"", "application/json"} {
		t.Run("encoding "+encoding, func(t *testing.T) {
			server := apitest.Start(t, apitest.Options{ManagedFields: true, RunPods: true})
			test(t, &rest.Config{Host: server.URL(), QPS: -1, ContentConfig: rest.ContentConfig{ContentType: encoding}})
		})
	}
}

func deployment() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", Labels: labels},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}}}},
	}
}

func TestVerbsOfAKind(t *testing.T) {
	forEachEncoding(t, func(t *testing.T, config *rest.Config) {
		ctx := t.Context()
		apps, err := typedappsv1.NewForConfig(config)
		require.NoError(t, err)
		deployments := apps.Deployments("default")
		changes, err := deployments.Watch(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		defer changes.Stop()

		created, err := deployments.Create(ctx, deployment(), metav1.CreateOptions{})
		require.NoError(t, err)
		require.NotEmpty(t, created.UID)
		event := <-changes.ResultChan()
		require.Equal(t, watch.Added, event.Type)
		require.Equal(t, "web", event.Object.(*appsv1.Deployment).Name)

		created.Labels["more"] = "1"
		updated, err := deployments.Update(ctx, created, metav1.UpdateOptions{})
		require.NoError(t, err)
		updated.Status.Replicas = 2
		_, err = deployments.UpdateStatus(ctx, updated, metav1.UpdateOptions{})
		require.NoError(t, err)
		_, err = deployments.Update(ctx, created, metav1.UpdateOptions{})
		require.True(t, apierrors.IsConflict(err), "%v", err)
		patched, err := deployments.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"more":null}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		require.Len(t, patched.Labels, 1)
		require.EqualValues(t, 2, patched.Status.Replicas)

		list, err := deployments.List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
		require.NoError(t, err)
		require.Len(t, list.Items, 1)
		require.NotEmpty(t, list.ResourceVersion)
		require.NoError(t, deployments.Delete(ctx, "web", metav1.DeleteOptions{}))
		_, err = deployments.Get(ctx, "web", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
		_, err = deployments.Create(ctx, deployment(), metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, deployments.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
		list, err = apps.Deployments("").List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		require.Empty(t, list.Items)
	})
}

func TestApplyAndScale(t *testing.T) {
	forEachEncoding(t, func(t *testing.T, config *rest.Config) {
		ctx := t.Context()
		deployments := typedappsv1.NewForConfigOrDie(config).Deployments("default")
		_, err := deployments.Create(ctx, deployment(), metav1.CreateOptions{})
		require.NoError(t, err)
		applied, err := deployments.Apply(ctx, applyappsv1.Deployment("web", "default").WithAnnotations(map[string]string{"a": "1"}), metav1.ApplyOptions{FieldManager: "me"})
		require.NoError(t, err)
		require.Equal(t, "1", applied.Annotations["a"])
		extracted, err := applyappsv1.ExtractDeployment(applied, "me")
		require.NoError(t, err)
		require.Equal(t, map[string]string{"a": "1"}, extracted.Annotations)
		_, err = deployments.Apply(ctx, nil, metav1.ApplyOptions{FieldManager: "me"})
		require.ErrorContains(t, err, "must not be nil")
		_, err = deployments.Apply(ctx, &applyappsv1.DeploymentApplyConfiguration{}, metav1.ApplyOptions{FieldManager: "me"})
		require.ErrorContains(t, err, "Name must be provided")

		scale, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
		require.NoError(t, err)
		require.EqualValues(t, 2, scale.Spec.Replicas)
		scale.Spec.Replicas = 3
		_, err = deployments.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{})
		require.NoError(t, err)
		_, err = deployments.ApplyScale(ctx, "web", applyautoscalingv1.Scale().WithKind("Scale").WithAPIVersion("autoscaling/v1").WithSpec(applyautoscalingv1.ScaleSpec().WithReplicas(4)), metav1.ApplyOptions{FieldManager: "me", Force: true})
		require.NoError(t, err)
		got, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		require.NoError(t, err)
		require.EqualValues(t, 4, *got.Spec.Replicas)
	})
}

func TestVerbsOfSingleKinds(t *testing.T) {
	forEachEncoding(t, func(t *testing.T, config *rest.Config) {
		ctx := t.Context()
		core, err := typedcorev1.NewForConfig(config)
		require.NoError(t, err)
		_, err = core.Pods("default").Apply(ctx, applycorev1.Pod("a", "default").WithSpec(applycorev1.PodSpec().WithContainers(applycorev1.Container().WithName("a").WithImage("a"))),
			metav1.ApplyOptions{FieldManager: "me"})
		require.NoError(t, err)
		require.NoError(t, core.Pods("default").EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}}))
		node, err := core.Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = core.Nodes().PatchStatus(ctx, node.Name, []byte(`{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`))
		require.NoError(t, err)
		event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: "default"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "a", UID: "u"}}
		_, err = core.Events("").CreateWithEventNamespaceWithContext(ctx, event)
		require.NoError(t, err)
		_, err = core.Events("other").CreateWithEventNamespaceWithContext(ctx, event)
		require.ErrorContains(t, err, "can't create an event with namespace 'default' in namespace 'other'")
		selector := core.Events("").GetFieldSelector(new("a"), nil, new("Pod"), nil)
		require.True(t, selector.Matches(fields.Set{"involvedObject.kind": "Pod", "involvedObject.name": "a", "involvedObject.uid": "u"}))
		require.False(t, selector.Matches(fields.Set{"involvedObject.kind": "Pod", "involvedObject.name": "b"}))
	})
}
