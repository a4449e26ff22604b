package rest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
)

// newServer starts a server, and a client for it.
func newServer(t *testing.T, opts apitest.Options) (*apitest.Server, *rest.Client) {
	t.Helper()
	server := apitest.New(opts)
	t.Cleanup(server.Close)
	require.NoError(t, server.ListenMemory())
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return server, client
}

var (
	podsOf        = corev1.SchemeGroupVersion.WithResource("pods")
	deploymentsOf = appsv1.SchemeGroupVersion.WithResource("deployments")
)

func TestScaleOfADeployment(t *testing.T) {
	t.Parallel()
	server, client := newServer(t, apitest.Options{})
	replicas := int32(2)
	_, err := server.Create(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "d"}, Spec: appsv1.DeploymentSpec{Replicas: &replicas}})
	require.NoError(t, err)

	ctx, key := t.Context(), types.NamespacedName{Namespace: "n", Name: "d"}
	deployments := rest.Must(rest.NewResource[*appsv1.Deployment](client, deploymentsOf, rest.ResourceOptions{}))
	scales := rest.Must(rest.NewSubresource[*autoscalingv1.Scale](deployments, "scale"))
	scale, err := scales.Get(ctx, key, metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 2, scale.Spec.Replicas)

	scale.Spec.Replicas = 5
	_, err = scales.Update(ctx, key, scale, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	updated, err := scales.Update(ctx, key, scale, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 5, updated.Spec.Replicas)
	_, err = scales.Update(ctx, key, scale, metav1.UpdateOptions{})
	require.True(t, apierrors.IsConflict(err), "%v", err)

	patched, err := scales.Patch(ctx, key, types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Zero(t, patched.Spec.Replicas)
	d, err := deployments.Get(ctx, key, metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 0, *d.Spec.Replicas)

	key.Name = "missing"
	_, err = scales.Get(ctx, key, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	require.ErrorContains(t, err, "/apis/apps/v1/namespaces/n/deployments/missing/scale")
}

func TestEvictionOfAPod(t *testing.T) {
	t.Parallel()
	server, client := newServer(t, apitest.Options{})
	_, err := server.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p"}})
	require.NoError(t, err)
	ctx, key := t.Context(), types.NamespacedName{Namespace: "n", Name: "p"}
	pods := rest.Must(rest.NewResource[*corev1.Pod](client, podsOf, rest.ResourceOptions{Namespace: "n"}))
	evictions := rest.Must(rest.NewSubresource[*policyv1.Eviction](pods, "eviction"))
	sent := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p"}}
	got, err := evictions.Create(ctx, key, sent, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Same(t, sent, got, "Create must return its argument if the response is only a Status of success")
	_, err = pods.Get(ctx, key, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
	_, err = evictions.Create(ctx, key, sent, metav1.CreateOptions{})
	require.True(t, apierrors.IsNotFound(err))
	_, err = evictions.Create(ctx, key, nil, metav1.CreateOptions{})
	require.ErrorContains(t, err, "is nil")
	_, err = rest.NewSubresource[*policyv1.Eviction](pods, "")
	require.ErrorContains(t, err, "needs a name")
	_, err = rest.NewSubresource[*policyv1.Eviction](pods, "eviction/..")
	require.ErrorContains(t, err, "cannot be part of a path")
	_, err = rest.NewSubresource[*policyv1.Eviction]((*rest.Resource[*corev1.Pod])(nil), "eviction")
	require.ErrorContains(t, err, "needs a Resource")
	_, err = evictions.Create(ctx, types.NamespacedName{Namespace: "n"}, sent, metav1.CreateOptions{})
	require.ErrorContains(t, err, "a name is required")
}

func TestDeleteCollectionCombinesSelectors(t *testing.T) {
	t.Parallel()
	server, client := newServer(t, apitest.Options{})
	for _, name := range []string{"n/a", "n/b", "n/c", "m/a"} {
		_, err := server.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: name[:1], Name: name[2:], Labels: map[string]string{"app": "web", "name": name[2:]},
		}})
		require.NoError(t, err)
	}
	left := func() (names []string) {
		objects, _, err := server.List(podsOf, "")
		require.NoError(t, err)
		for _, o := range objects {
			names = append(names, o.GetNamespace()+"/"+o.GetName())
		}
		return names
	}
	ctx := t.Context()
	web := rest.Must(rest.NewResource[*corev1.Pod](client, podsOf, rest.ResourceOptions{LabelSelector: "app=web"}))
	other := rest.Must(rest.NewResource[*corev1.Pod](client, podsOf, rest.ResourceOptions{LabelSelector: "app!=web"}))
	none := metav1.DeleteOptions{}
	nobody := types.UID("nobody")

	require.NoError(t, other.DeleteCollection(ctx, "n", none, metav1.ListOptions{LabelSelector: "name=a"}))
	require.NoError(t, web.DeleteCollection(ctx, "n", none, metav1.ListOptions{LabelSelector: "name=x"}))
	require.NoError(t, web.DeleteCollection(ctx, "n", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}, metav1.ListOptions{}))
	err := web.DeleteCollection(ctx, "n", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &nobody}}, metav1.ListOptions{})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	require.Equal(t, []string{"m/a", "n/a", "n/b", "n/c"}, left())

	require.NoError(t, web.DeleteCollection(ctx, "n", none, metav1.ListOptions{LabelSelector: "name=a"}))
	require.NoError(t, web.DeleteCollection(ctx, "n", none, metav1.ListOptions{FieldSelector: "metadata.name=b"}))
	require.Equal(t, []string{"m/a", "n/c"}, left())
	err = web.DeleteCollection(ctx, "", none, metav1.ListOptions{})
	require.True(t, apierrors.IsMethodNotSupported(err), "%v", err)
	inN := rest.Must(rest.NewResource[*corev1.Pod](client, podsOf, rest.ResourceOptions{Namespace: "n"}))
	require.ErrorContains(t, inN.DeleteCollection(ctx, "m", none, metav1.ListOptions{}), `for namespace "n"`)
	require.Error(t, web.DeleteCollection(ctx, "..", none, metav1.ListOptions{}))
	require.NoError(t, inN.DeleteCollection(ctx, "", none, metav1.ListOptions{}))
	require.Equal(t, []string{"m/a"}, left())
}
