package scale_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var deployments = schema.GroupResource{Group: "apps", Resource: "deployments"}

// scalesOf returns a client of a server. It makes the client as programs do.
func scalesOf(t *testing.T, url string) scale.ScalesGetter {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	config := &rest.Config{Host: url, Transport: transport, QPS: -1}
	client := discovery.NewDiscoveryClientForConfigOrDie(config)
	groups, err := restmapper.GetAPIGroupResources(client)
	require.NoError(t, err)
	scales, err := scale.NewForConfig(config, restmapper.NewDiscoveryRESTMapper(groups), dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client))
	require.NoError(t, err)
	require.Nil(t, config.GroupVersion, "the caller's configuration is unchanged")
	return scales
}

func TestAResolverWithoutAPathMeansTheCoreGroup(t *testing.T) {
	path := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.Path
		http.Error(w, "no", http.StatusNotFound)
	}))
	defer s.Close()
	scales, err := scale.NewForConfig(&rest.Config{Host: s.URL}, v1Mapper{}, func(schema.GroupVersionKind) string { return "" }, nil)
	require.NoError(t, err)
	_, err = scales.Scales("ns").Get(t.Context(), schema.GroupResource{Resource: "replicationcontrollers"}, "r", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), err)
	require.Equal(t, "/api/v1/namespaces/ns/replicationcontrollers/r/scale", path)
}

// v1Mapper is a mapper that maps every resource to version v1.
type v1Mapper struct{}

func (v1Mapper) ResourceFor(r schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	r.Version = "v1"
	return r, nil
}

func TestADeploymentIsScaled(t *testing.T) {
	server := apitest.Start(t, apitest.Options{})
	replicas := int32(3)
	_, err := server.Create(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "ns"}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
	}})
	require.NoError(t, err)
	scales := scalesOf(t, server.URL()).Scales("ns")
	is, err := scales.Get(t.Context(), deployments, "d", metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 3, is.Spec.Replicas)
	require.Equal(t, "a=b", is.Status.Selector)
	is.Spec.Replicas = 5
	is, err = scales.Update(t.Context(), deployments, is, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 5, is.Spec.Replicas)
	is, err = scales.Patch(t.Context(), deployments.WithVersion("v1"), "d", types.MergePatchType, []byte(`{"spec":{"replicas":7}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 7, is.Spec.Replicas)
	stored, err := server.Get(deployments.WithVersion("v1"), types.NamespacedName{Namespace: "ns", Name: "d"})
	require.NoError(t, err)
	require.Equal(t, "d", stored.GetName())

	_, err = scales.Get(t.Context(), deployments, "none", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
	_, err = scales.Get(t.Context(), deployments, "", metav1.GetOptions{})
	require.ErrorContains(t, err, "name may not be empty")
	_, err = scales.Get(t.Context(), deployments, "../x", metav1.GetOptions{})
	require.ErrorContains(t, err, "invalid resource name")
	_, err = scales.Get(t.Context(), schema.GroupResource{Group: "none", Resource: "none"}, "d", metav1.GetOptions{})
	require.ErrorContains(t, err, "no matches")
	_, err = scales.Update(t.Context(), schema.GroupResource{Resource: "configmaps"}, is, metav1.UpdateOptions{})
	require.ErrorContains(t, err, "could not find scale subresource")
	_, err = scales.Update(t.Context(), deployments, nil, metav1.UpdateOptions{})
	require.Error(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = scales.Get(ctx, deployments, "d", metav1.GetOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

// fixedMapper is a mapper and a resolver with fixed results.
type fixedMapper struct {
	version string
	kind    schema.GroupVersionKind
}

func (f fixedMapper) ResourceFor(r schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return r.GroupResource().WithVersion(f.version), nil
}

func (f fixedMapper) ScaleForResource(schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return f.kind, nil
}

// The client sends the old version of Scale to a server with an old version. It converts the
// server's response to autoscaling/v1.
func TestOldVersionsAreConverted(t *testing.T) {
	var path, sent, contentType string
	response := `{"kind":"Scale","apiVersion":"extensions/v1beta1","metadata":{"name":"d"},"spec":{"replicas":3},"status":{"replicas":2,"selector":{"a":"b"}}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 1000)
		n, _ := r.Body.Read(body)
		path, sent, contentType = r.URL.Path, string(body[:n]), r.Header.Get("Content-Type")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(response))
	}))
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	with := fixedMapper{"v1beta1", schema.GroupVersionKind{Group: "extensions", Version: "v1beta1", Kind: "Scale"}}
	scales, err := scale.NewForConfig(&rest.Config{Host: server.URL, Transport: transport}, with, dynamic.LegacyAPIPathResolverFunc, with)
	require.NoError(t, err)
	resource := schema.GroupResource{Group: "extensions", Resource: "deployments"}
	is, err := scales.Scales("ns").Update(t.Context(), resource, &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: autoscalingv1.ScaleSpec{Replicas: 7}, Status: autoscalingv1.ScaleStatus{Selector: "a=b"},
	}, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, "/apis/extensions/v1beta1/namespaces/ns/deployments/d/scale", path)
	require.Equal(t, "application/json", contentType)
	require.JSONEq(t, `{"kind":"Scale","apiVersion":"extensions/v1beta1","metadata":{"name":"d"},"spec":{"replicas":7},"status":{"replicas":0,"selector":{"a":"b"},"targetSelector":"a=b"}}`, sent)
	require.Equal(t, "autoscaling/v1", is.APIVersion)
	require.Equal(t, "a=b", is.Status.Selector)
	require.EqualValues(t, 3, is.Spec.Replicas)

	for _, response = range []string{`{`, `{"kind":"Pod","apiVersion":"v1"}`, `{"kind":"Status","apiVersion":"v1","status":"Success"}`, `{"kind":"Scale","apiVersion":"autoscaling/v1","status":{"selector":"("}}`} {
		_, err = scales.Scales("").Get(t.Context(), resource, "d", metav1.GetOptions{})
		require.Error(t, err, response)
		require.Equal(t, "/apis/extensions/v1beta1/deployments/d/scale", path)
	}
}

// fakeDiscovery is a discovery client that counts its calls.
type fakeDiscovery struct {
	discovery.ServerResourcesInterface
	calls int
}

func (s *fakeDiscovery) ServerResourcesForGroupVersion(gv string) (*metav1.APIResourceList, error) {
	s.calls++
	if gv == "failing/v1" {
		return nil, errors.New("failing")
	}
	return &metav1.APIResourceList{GroupVersion: gv, APIResources: []metav1.APIResource{
		{Name: "as", Kind: "A"}, {Name: "as/scale", Group: "autoscaling", Version: "v1", Kind: "Scale"}, {Name: "bs/scale", Kind: "Scale"}, {Name: "cs/scale", Group: "half", Kind: "Scale"},
	}}, nil
}

func TestKindsOfScales(t *testing.T) {
	server := &fakeDiscovery{}
	resolver := scale.NewDiscoveryScaleKindResolver(server)
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	for range 2 {
		for resource, want := range map[string]schema.GroupVersionKind{
			"as": {Group: "autoscaling", Version: "v1", Kind: "Scale"}, "bs": apps.WithKind("Scale"), "cs": apps.WithKind("Scale"),
		} {
			kind, err := resolver.ScaleForResource(apps.WithResource(resource))
			require.NoError(t, err)
			require.Equal(t, want, kind)
		}
	}
	require.Equal(t, 3, server.calls)
	for range 2 {
		_, err := resolver.ScaleForResource(apps.WithResource("none"))
		require.ErrorContains(t, err, "could not find scale subresource")
		_, err = resolver.ScaleForResource(schema.GroupVersionResource{Group: "failing", Version: "v1", Resource: "as"})
		require.ErrorContains(t, err, "failing")
	}
	require.Equal(t, 7, server.calls)
}
