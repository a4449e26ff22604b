package apitest_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kinform/kinform/apitest"
)

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	gadgetsPath     = "/apis/example.com/v1/namespaces/a/gadgets"
	gadgets         = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"gadgets.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"gadgets","singular":"gadget","kind":"Gadget","shortNames":["gd"]},
		"versions":[{"name":"v1beta1","served":true,"storage":false},{"name":"v1","served":true,"storage":true,
		"subresources":{"status":{}},"selectableFields":[{"jsonPath":".spec.color"}]}]}}`
	gadget = `{"kind":"Gadget","apiVersion":"example.com/v1","metadata":{"name":"g"},"spec":{"color":"red"}}`
)

func TestCustomResourceDefinitionTakesEffectAndEnds(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	c.do(t, http.StatusNotFound, "GET", gadgetsPath, "")

	made := decode[unstructured.Unstructured](t, c.do(t, http.StatusCreated, "POST", definitionsPath, gadgets))
	conditions, _, err := unstructured.NestedSlice(made.Object, "status", "conditions")
	require.NoError(t, err)
	require.Equal(t, "Established", conditions[1].(map[string]any)["type"])
	c.fails(t, http.StatusConflict, "POST", definitionsPath, gadgets)

	c.do(t, http.StatusCreated, "POST", gadgetsPath, gadget)
	c.do(t, http.StatusOK, "PATCH", gadgetsPath+"/g/status", `{"status":{"ready":true}}`, "Content-Type", mergePatch)
	red := "/apis/example.com/v1/gadgets?fieldSelector=spec.color%3Dred"
	require.Len(t, get[metav1.PartialObjectMetadataList](t, c, red).Items, 1)
	require.Equal(t, "gd", get[metav1.APIResourceList](t, c, "/apis/example.com/v1").APIResources[0].ShortNames[0])

	w := c.watch(t, "/apis/example.com/v1/gadgets", jsonType)
	w.expect("ADDED a/g")
	c.do(t, http.StatusOK, "DELETE", definitionsPath+"/gadgets.example.com", "")
	w.expect("DELETED a/g")
	w.ends()
	c.do(t, http.StatusNotFound, "GET", gadgetsPath, "")

	// Again, it begins empty, and nothing of its past is seen.
	version := srv.ResourceVersion()
	c.do(t, http.StatusCreated, "POST", definitionsPath, gadgets)
	require.Empty(t, get[metav1.PartialObjectMetadataList](t, c, gadgetsPath).Items)
	c.do(t, http.StatusCreated, "POST", gadgetsPath, gadget)
	c.watch(t, gadgetsPath, jsonType, "resourceVersion", version).expect("ADDED a/g")
}

func TestCustomResourceDefinitionIsCreatedOnceByManyAtOnce(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	const writers, rounds = 8, 50
	var mu sync.Mutex // guards following
	codes := map[string]int{}

	request := func(method, path, body string) {
		resp := c.send(t, method, path, body)
		_ = resp.Body.Close()
		mu.Lock()
		defer mu.Unlock()
		codes[method+" "+resp.Status]++
	}
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range rounds {
				request("POST", definitionsPath, gadgets)
				request("DELETE", definitionsPath+"/gadgets.example.com", "")
			}
		})
	}
	group.Wait()
	require.Equal(t, codes["POST 201 Created"], codes["DELETE 200 OK"])
	require.Equal(t, writers*rounds, codes["POST 201 Created"]+codes["POST 409 Conflict"], "%v", codes)
	require.Equal(t, writers*rounds, codes["DELETE 200 OK"]+codes["DELETE 404 Not Found"], "%v", codes)
	c.do(t, http.StatusCreated, "POST", definitionsPath, gadgets)
	c.do(t, http.StatusCreated, "POST", gadgetsPath, gadget)
}

func TestCustomResourceDefinitionInProcess(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	definition := &unstructured.Unstructured{}
	require.NoError(t, definition.UnmarshalJSON([]byte(gadgets)))
	create(t, srv, definition)
	g := &unstructured.Unstructured{}
	require.NoError(t, g.UnmarshalJSON([]byte(gadget)))
	g.SetNamespace("a")
	create(t, srv, g)
	c.do(t, http.StatusOK, "GET", gadgetsPath+"/g", "")
}

func TestCustomResourceDefinitionThatMakesNoSense(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	const head = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"widgets.example.com"},"spec":`
	for _, spec := range []string{
		`{}`,
		`7`,
		`{"group":"example.com","names":{"plural":"widgets"},"versions":[{"name":"v1","storage":true}]}`,
		`{"group":"example.com","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v2"}]}`,
		`{"group":"example.com","names":{"plural":"widgets","kind":"Other"},"versions":[{"name":"v1","storage":true}]}`,
		`{"group":"example.com","names":{"plural":"others","kind":"Other"},"versions":[{"name":"v1","storage":true}]}`,
	} {
		c.fails(t, http.StatusUnprocessableEntity, "POST", definitionsPath, head+spec+`}`)
	}
	require.Equal(t, "1", srv.ResourceVersion())
	require.Error(t, srv.AddResource(widgets), "served already")
	require.Error(t, srv.AddResource(apitest.Resource{Group: "example.com"}), "incomplete")
}
