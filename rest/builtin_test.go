package rest_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
)

func TestBuiltinResourceIsKnown(t *testing.T) {
	t.Parallel()
	_, c := newServer(t, apitest.Options{})
	all := rest.ResourceOptions{}
	for want, r := range map[string]interface{ String() string }{
		"/api/v1/pods":  rest.Must(rest.For[*corev1.Pod](c, all)),
		"/api/v1/nodes": rest.Must(rest.For[*corev1.Node](c, all)),
		//lint:ignore SA1019 Deprecated or not, a server has it.
		"/api/v1/endpoints":                                                   rest.Must(rest.For[*corev1.Endpoints](c, all)),
		"/apis/apps/v1/namespaces/n/deployments":                              rest.Must(rest.For[*appsv1.Deployment](c, rest.ResourceOptions{Namespace: "n"})),
		"/apis/rbac.authorization.k8s.io/v1/clusterroles":                     rest.Must(rest.For[*rbacv1.ClusterRole](c, all)),
		"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas":                   rest.Must(rest.For[*flowcontrolv1.FlowSchema](c, all)),
		"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies":   rest.Must(rest.For[*admissionv1.ValidatingAdmissionPolicy](c, all)),
		"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations": rest.Must(rest.For[*admissionv1.MutatingWebhookConfiguration](c, all)),
	} {
		require.True(t, strings.HasSuffix(r.String(), want), "%s %s", r, want)
	}
}

func TestBuiltinResourceScopeIsKnown(t *testing.T) { // RS-4
	t.Parallel()
	server, c := newServer(t, apitest.Options{})
	ctx, opts := t.Context(), metav1.CreateOptions{}
	_, err := rest.Must(rest.For[*corev1.Node](c, rest.ResourceOptions{})).Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, opts)
	require.NoError(t, err)
	before := server.ResourceVersion()
	_, err = rest.For[*corev1.Node](c, rest.ResourceOptions{Namespace: "n"})
	require.ErrorContains(t, err, "nodes have no namespace")
	_, err = rest.Must(rest.For[*corev1.Pod](c, rest.ResourceOptions{})).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, opts)
	require.ErrorContains(t, err, `POST pods "b": a namespace is required`)
	_, err = rest.Must(rest.For[*corev1.Pod](c, rest.ResourceOptions{})).Get(ctx, types.NamespacedName{Name: "b"}, metav1.GetOptions{})
	require.ErrorContains(t, err, "a namespace is required")
	err = rest.Must(rest.For[*corev1.Pod](c, rest.ResourceOptions{})).DeleteCollection(ctx, "", metav1.DeleteOptions{}, metav1.ListOptions{})
	require.ErrorContains(t, err, "a namespace is required")
	require.Equal(t, before, server.ResourceVersion())
}

func TestBuiltinKindIsKnown(t *testing.T) {
	t.Parallel()
	for _, of := range []reflect.Type{reflect.TypeFor[*appsv1.Deployment](), reflect.TypeFor[appsv1.Deployment]()} {
		kind, ok := rest.BuiltinKind(of)
		require.True(t, ok)
		require.Equal(t, appsv1.SchemeGroupVersion.WithKind("Deployment"), kind)
	}
	for _, of := range []reflect.Type{nil, reflect.TypeFor[int](), reflect.TypeFor[*string](), reflect.TypeFor[appsv1.DeploymentSpec](), reflect.TypeFor[**appsv1.Deployment]()} {
		_, ok := rest.BuiltinKind(of)
		require.False(t, ok, "%v", of)
	}
}

func TestBuiltinTypesMatchTheTestServer(t *testing.T) {
	t.Parallel()
	_, c := newServer(t, apitest.Options{})
	resources, err := discovery.Resources(t.Context(), c)
	require.NoError(t, err)
	require.Greater(t, len(resources), 60)
	for _, r := range resources {
		gvr, namespaced, ok := rest.Builtin(r.GVK())
		require.True(t, ok, "%s", r)
		require.Equal(t, r.GVR(), gvr)
		require.Equal(t, r.Namespaced, namespaced, "%s", r)
	}
	_, _, ok := rest.Builtin(schema.GroupVersionKind{Version: "v1", Kind: "Deployment"})
	require.False(t, ok)
	_, _, ok = rest.Builtin(schema.GroupVersionKind{Group: "apps", Version: "v1"})
	require.False(t, ok)
}
