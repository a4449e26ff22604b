package apitest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
)

func TestScale(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	const path = "/apis/apps/v1/namespaces/a/deployments"
	c.do(t, http.StatusCreated, "POST", path, `{"metadata":{"name":"d"},"spec":{"replicas":2}}`)
	scale := get[autoscalingv1.Scale](t, c, path+"/d/scale")
	require.Equal(t, "Scale", scale.Kind)
	require.EqualValues(t, 2, scale.Spec.Replicas)
	require.NotEmpty(t, scale.ResourceVersion)

	put := `{"metadata":{"name":"d","resourceVersion":"` + scale.ResourceVersion + `"},"spec":{"replicas":5}}`
	require.EqualValues(t, 5, decode[autoscalingv1.Scale](t, c.do(t, http.StatusOK, "PUT", path+"/d/scale", put)).Spec.Replicas)
	require.Equal(t, metav1.StatusReasonConflict, c.fails(t, http.StatusConflict, "PUT", path+"/d/scale", put).Reason)
	c.do(t, http.StatusOK, "PATCH", path+"/d/scale", `{"spec":{"replicas":7}}`, "Content-Type", mergePatch)
	c.do(t, http.StatusOK, "PATCH", path+"/d/scale?dryRun=All", `{"spec":{"replicas":9}}`, "Content-Type", mergePatch)
	require.EqualValues(t, 7, get[autoscalingv1.Scale](t, c, path+"/d/scale").Spec.Replicas)

	c.fails(t, http.StatusNotFound, "GET", path+"/x/scale", "")
	c.fails(t, http.StatusNotFound, "PUT", path+"/x/scale", put)
	c.fails(t, http.StatusBadRequest, "PUT", path+"/d/scale", `{"metadata":{"name":"e"}}`)
	c.fails(t, http.StatusBadRequest, "PUT", path+"/d/scale", `[]`)
	c.fails(t, http.StatusMethodNotAllowed, "DELETE", path+"/d/scale", "")
	c.fails(t, http.StatusNotFound, "GET", "/api/v1/namespaces/a/configmaps/d/scale", "")
}

func TestEvictionDeletesThePod(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"p"}}`)
	c.fails(t, http.StatusMethodNotAllowed, "GET", podsPath+"/p/eviction", "")
	c.fails(t, http.StatusBadRequest, "POST", podsPath+"/p/eviction", "x")
	c.fails(t, http.StatusConflict, "POST", podsPath+"/p/eviction", `{"metadata":{"name":"p"},"deleteOptions":{"preconditions":{"uid":"other"}}}`)
	c.do(t, http.StatusCreated, "POST", podsPath+"/p/eviction?dryRun=All", `{"metadata":{"name":"p"}}`)
	c.do(t, http.StatusOK, "GET", podsPath+"/p", "")
	status := decode[metav1.Status](t, c.do(t, http.StatusCreated, "POST", podsPath+"/p/eviction", `{"metadata":{"name":"p"}}`))
	require.Equal(t, metav1.StatusSuccess, status.Status)
	c.fails(t, http.StatusNotFound, "POST", podsPath+"/p/eviction", `{"metadata":{"name":"p"}}`)
}

func TestDiscoveryListsSubresources(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	for _, r := range get[metav1.APIResourceList](t, c, "/apis/apps/v1").APIResources {
		if r.Name == "deployments/scale" {
			require.Equal(t, "autoscaling/v1 Scale", r.Group+"/"+r.Version+" "+r.Kind)
			return
		}
	}
	require.Fail(t, "discovery must list deployments/scale")
}
