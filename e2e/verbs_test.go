package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
)

func inTheNamespace(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name}
}

func TestBuiltinTypesMatchTheServers(t *testing.T) {
	resources, err := discovery.Resources(t.Context(), newClient(t, kube.Config()))
	require.NoError(t, err)
	compared := 0
	for _, r := range resources {
		if isCustom(r.Group) {
			continue
		}
		gvr, namespaced, ok := rest.Builtin(r.GVK())
		require.True(t, ok, "%s: %s", r, r.GVK())
		require.Equal(t, r.GVR(), gvr)
		require.Equal(t, r.Namespaced, namespaced, "%s", r)
		compared++
	}
	require.Greater(t, compared, 60)
	t.Logf("%d resources compared", compared)
}

// isCustom reports whether a group belongs to a CustomResourceDefinition. The names of the server's
// own groups have no dot, or end in k8s.io. The list of CustomResourceDefinitions is not
// sufficient, because discovery shows the group of a deleted one for some time.
func isCustom(group string) bool {
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

func TestServerSideApply(t *testing.T) {
	ctx := t.Context()
	for i, encoding := range encodings {
		maps := rest.Must(rest.For[*corev1.ConfigMap](newClient(t, kube.Config()), inNamespace(encoding)))
		wanted := &corev1.ConfigMap{ObjectMeta: inTheNamespace(fmt.Sprint("applied-", i)), Data: map[string]string{"a": "1", "b": "1"}}
		_, err := maps.ServerSideApply(ctx, wanted, metav1.ApplyOptions{FieldManager: "one", DryRun: []string{metav1.DryRunAll}})
		require.NoError(t, err)
		_, err = maps.Get(ctx, keyOf(wanted), metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)

		created, err := maps.ServerSideApply(ctx, wanted, metav1.ApplyOptions{FieldManager: "one"})
		require.NoError(t, err)
		require.Equal(t, wanted.Data, created.Data)
		delete(wanted.Data, "b")
		less, err := maps.ServerSideApply(ctx, wanted, metav1.ApplyOptions{FieldManager: "one"})
		require.NoError(t, err)
		require.Equal(t, wanted.Data, less.Data, "an apply must remove fields that the manager no longer sends")

		wanted.Data["a"] = "2"
		_, err = maps.ServerSideApply(ctx, wanted, metav1.ApplyOptions{FieldManager: "two"})
		require.True(t, apierrors.IsConflict(err), "%v", err)
		require.ErrorContains(t, err, `conflict with "one"`)
		forced, err := maps.ServerSideApply(ctx, wanted, metav1.ApplyOptions{FieldManager: "two", Force: true})
		require.NoError(t, err)
		require.Equal(t, wanted.Data, forced.Data)
		again, err := maps.ServerSideApply(ctx, forced, metav1.ApplyOptions{FieldManager: "two"})
		require.NoError(t, err, "a stored object must be applicable, even with managedFields")
		require.Equal(t, forced.ResourceVersion, again.ResourceVersion, "an apply of the stored object must change nothing")
	}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{ObjectMeta: inTheNamespace(name), Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "example.com/app"}}},
		},
	}}
}

func TestScaleAndStatusSubresources(t *testing.T) {
	ctx := t.Context()
	deployments := rest.Must(rest.For[*appsv1.Deployment](newClient(t, kube.Config()), rest.ResourceOptions{}))
	d, err := deployments.ServerSideApply(ctx, deployment("scaled"), metav1.ApplyOptions{FieldManager: "e2e"})
	require.NoError(t, err, "a typed object with empty fields must be applicable")

	scales := rest.Must(rest.NewSubresource[*autoscalingv1.Scale](deployments, "scale"))
	scale, err := scales.Get(ctx, keyOf(d), metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1, scale.Spec.Replicas)
	scale, err = scales.Update(ctx, keyOf(d), &autoscalingv1.Scale{ObjectMeta: scale.ObjectMeta, Spec: autoscalingv1.ScaleSpec{Replicas: 3}}, metav1.UpdateOptions{})
	require.NoError(t, err, "a scale without kind and apiVersion must be accepted")
	require.EqualValues(t, 3, scale.Spec.Replicas)
	_, err = scales.Patch(ctx, keyOf(d), types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	_, err = scales.Patch(ctx, keyOf(d), types.MergePatchType, []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	d, err = deployments.Get(ctx, keyOf(d), metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 5, *d.Spec.Replicas)

	status := deployment("scaled")
	status.Spec, status.Status = appsv1.DeploymentSpec{}, appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2}
	d, err = deployments.ServerSideApply(ctx, status, metav1.ApplyOptions{FieldManager: "status", Force: true}, "status")
	require.NoError(t, err)
	require.EqualValues(t, 2, d.Status.Replicas)
	require.EqualValues(t, 5, *d.Spec.Replicas)
	background := metav1.DeletePropagationBackground
	require.NoError(t, deployments.Delete(ctx, keyOf(d), metav1.DeleteOptions{PropagationPolicy: &background}))
}

func TestSubresourcesThatAreActions(t *testing.T) {
	ctx := t.Context()
	client := newClient(t, kube.Config())
	pods := rest.Must(rest.For[*corev1.Pod](client, rest.ResourceOptions{}))
	pod, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: inTheNamespace("acted-on"),
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "example.com/app"}}}}, metav1.CreateOptions{})
	require.NoError(t, err)

	binding := &corev1.Binding{ObjectMeta: inTheNamespace(pod.Name), Target: corev1.ObjectReference{Kind: "Node", Name: "node-1"}}
	_, err = rest.Must(rest.NewSubresource[*corev1.Binding](pods, "binding")).Create(ctx, keyOf(pod), binding, metav1.CreateOptions{})
	require.NoError(t, err)
	pod, err = pods.Get(ctx, keyOf(pod), metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "node-1", pod.Spec.NodeName)

	zero := int64(0)
	eviction := &policyv1.Eviction{ObjectMeta: inTheNamespace(pod.Name), DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: &zero}}
	evictions := rest.Must(rest.NewSubresource[*policyv1.Eviction](pods, "eviction"))
	_, err = evictions.Create(ctx, keyOf(pod), eviction, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	_, err = pods.Get(ctx, keyOf(pod), metav1.GetOptions{})
	require.NoError(t, err)
	_, err = evictions.Create(ctx, keyOf(pod), eviction, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = pods.Get(ctx, keyOf(pod), metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)

	accounts := rest.Must(rest.For[*corev1.ServiceAccount](client, rest.ResourceOptions{}))
	account, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: inTheNamespace("verbs")}, metav1.CreateOptions{})
	require.NoError(t, err)
	token, err := rest.Must(rest.NewSubresource[*authenticationv1.TokenRequest](accounts, "token")).Create(ctx, keyOf(account), &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, token.Status.Token)
	require.NoError(t, accounts.Delete(ctx, keyOf(account), metav1.DeleteOptions{}))
}

func TestEveryPatchTypeTypedAndUnstructured(t *testing.T) {
	ctx := t.Context()
	client := newClient(t, kube.Config())
	typed := rest.Must(rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{}))
	untyped := rest.Must(rest.NewJSONResource[*unstructured.Unstructured](client, configMaps.resource, rest.ResourceOptions{}))
	made, err := untyped.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": cluster.Namespace, "name": "patched"},
		"data": map[string]any{"0": "0"},
	}}, metav1.CreateOptions{FieldManager: "e2e"})
	require.NoError(t, err)
	key := types.NamespacedName{Namespace: made.GetNamespace(), Name: made.GetName()}
	want := map[string]string{"0": "0"}
	for i, patch := range []struct {
		of   types.PatchType
		data string
		opts metav1.PatchOptions
	}{
		{types.JSONPatchType, `[{"op":"add","path":"/data/%d","value":"x"}]`, metav1.PatchOptions{}},
		{types.MergePatchType, `{"data":{"%d":"x"}}`, metav1.PatchOptions{}},
		{types.StrategicMergePatchType, `{"data":{"%d":"x"}}`, metav1.PatchOptions{FieldValidation: "Strict"}},
		{types.ApplyPatchType, `{"apiVersion":"v1","kind":"ConfigMap","data":{"%d":"x"}}`, metav1.PatchOptions{FieldManager: "me"}},
	} {
		_, err := untyped.Patch(ctx, key, patch.of, fmt.Appendf(nil, patch.data, 100+i), metav1.PatchOptions{FieldManager: patch.opts.FieldManager, DryRun: []string{metav1.DryRunAll}})
		require.NoError(t, err, patch.of)
		got, err := typed.Patch(ctx, key, patch.of, fmt.Appendf(nil, patch.data, i+1), patch.opts)
		require.NoError(t, err, patch.of)
		want[fmt.Sprint(i+1)] = "x"
		require.Equal(t, want, got.Data, patch.of)
	}
	stored, err := untyped.Get(ctx, key, metav1.GetOptions{})
	require.NoError(t, err)
	other := types.UID("other")
	err = untyped.Delete(ctx, key, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	uid := stored.GetUID()
	require.NoError(t, untyped.Delete(ctx, key, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}))
}

func TestDeleteCollection(t *testing.T) {
	ctx := t.Context()
	maps := rest.Must(rest.For[*corev1.ConfigMap](newClient(t, kube.Config()), rest.ResourceOptions{LabelSelector: "collection=e2e"}))
	for i := range 20 {
		m := &corev1.ConfigMap{ObjectMeta: inTheNamespace(fmt.Sprint("collected-", i))}
		m.Labels = map[string]string{"collection": "e2e", "odd": fmt.Sprint(i%2 == 1)}
		_, err := maps.Create(ctx, m, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	left := func() (n int) {
		for i := range 20 {
			_, err := maps.Get(ctx, types.NamespacedName{Namespace: cluster.Namespace, Name: fmt.Sprint("collected-", i)}, metav1.GetOptions{})
			if err == nil {
				n++
				continue
			}
			require.True(t, apierrors.IsNotFound(err), "%v", err)
		}
		return n
	}
	odd := metav1.ListOptions{LabelSelector: "odd=true"}
	require.NoError(t, maps.DeleteCollection(ctx, cluster.Namespace, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}, odd))
	require.Equal(t, 20, left())
	require.NoError(t, maps.DeleteCollection(ctx, cluster.Namespace, metav1.DeleteOptions{}, odd))
	require.Equal(t, 10, left())
	require.NoError(t, maps.DeleteCollection(ctx, cluster.Namespace, metav1.DeleteOptions{}, metav1.ListOptions{}))
	require.Zero(t, left())
}
