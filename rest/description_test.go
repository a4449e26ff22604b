package rest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// describeServer is a resource with a server whose responses determine its description.
type describeServer struct {
	server *apitest.Server
	client *rest.Client
}

func startDescribed(t *testing.T) describeServer {
	server, client := newServer(t, apitest.Options{})
	_, err := server.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}})
	require.NoError(t, err)
	return describeServer{server, client}
}

// review makes the server respond to a SelfSubjectReview by action.
func (d describeServer) review(action apitest.Action) *apitest.InjectedFault {
	return d.server.Inject(apitest.Fault{Action: action, Match: func(r apitest.Request) bool {
		return r.HTTP.Method == http.MethodPost && r.HTTP.URL.Path == "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	}})
}

func user(name, uid string) apitest.Action {
	info, _ := json.Marshal(map[string]string{"username": name, "uid": uid})
	return apitest.Body(http.StatusCreated, "application/json", `{"kind":"SelfSubjectReview","status":{"userInfo":`+string(info)+`}}`)
}

func TestDescribeIdentifiesTheSource(t *testing.T) {
	t.Parallel()
	d := startDescribed(t)
	namespace, err := d.server.Get(corev1.SchemeGroupVersion.WithResource("namespaces"), types.NamespacedName{Name: "kube-system"})
	require.NoError(t, err)
	review := d.review(user("anna", "7"))
	about, err := rest.Must(rest.NewResource[*corev1.Pod](d.client, podsGVR, rest.ResourceOptions{})).Describe(t.Context())
	require.NoError(t, err)
	identity := about["user"]
	require.Len(t, identity, 64)
	require.Equal(t, map[string]string{
		"server": d.server.URL(), "cluster": string(namespace.GetUID()), "user": identity, "resource": "/v1/pods",
		"namespace": "", "labelSelector": "", "fieldSelector": "", "projection": "",
	}, about)

	about, err = rest.Must(rest.NewJSONResource[*metav1.PartialObjectMetadata](d.client, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, rest.ResourceOptions{
		Namespace: "shop", LabelSelector: "app=web", FieldSelector: "metadata.name=x", Project: rest.Omit{ManagedFields: true},
	})).Describe(t.Context())
	require.NoError(t, err)
	require.Contains(t, about["projection"], "ManagedFields:true")
	delete(about, "projection")
	require.Equal(t, map[string]string{
		"server": d.server.URL(), "cluster": string(namespace.GetUID()), "user": identity, "resource": "apps/v1/deployments",
		"namespace": "shop", "labelSelector": "app=web", "fieldSelector": "metadata.name=x",
	}, about)

	// Another name, and another user of the same name, have another hash.
	hashes := map[string]bool{identity: true}
	for _, other := range []apitest.Action{user("anna", "8"), user("boris", "7"), user("anna7", "")} {
		review.Remove()
		review = d.review(other)
		about, err = rest.Must(rest.NewResource[*corev1.Pod](d.client, podsGVR, rest.ResourceOptions{})).Describe(t.Context())
		require.NoError(t, err)
		hashes[about["user"]] = true
	}
	require.Len(t, hashes, 4)
}

// If the server does not have a fact, the fact is "" in the description. If the request for the
// fact fails in another way, Describe returns an error.
func TestDescribeOmitsUnavailableFacts(t *testing.T) {
	t.Parallel()
	d := startDescribed(t)
	resource := rest.Must(rest.NewResource[*corev1.Pod](d.client, podsGVR, rest.ResourceOptions{}))
	older := d.review(apitest.Code(http.StatusNotFound, 0))
	about, err := resource.Describe(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, about["cluster"])
	require.Empty(t, about["user"], "user must be empty if the server does not support SelfSubjectReview")
	older.Remove()

	d.review(user("anna", ""))
	for _, code := range []int{403, 404, 405} {
		hidden := d.server.Inject(apitest.Fault{Resource: "namespaces", Action: apitest.Code(code, 0)})
		about, err := resource.Describe(t.Context())
		require.NoError(t, err)
		require.Empty(t, about["cluster"])
		require.NotEmpty(t, about["user"])
		hidden.Remove()
	}
	for _, code := range []int{400, 401, 410} {
		refused := d.server.Inject(apitest.Fault{Resource: "namespaces", Action: apitest.Code(code, 0)})
		_, err := resource.Describe(t.Context())
		require.Error(t, err, code)
		refused.Remove()
	}
	for _, page := range []string{"<html>", `{"metadata":{"uid":7}}`, "null null", strings.Repeat("[", 100_000)} {
		nonsense := d.server.Inject(apitest.Fault{Resource: "namespaces", Action: apitest.Body(200, "application/json", page)})
		_, err := resource.Describe(t.Context())
		require.Error(t, err, page[:6])
		nonsense.Remove()
	}
}
