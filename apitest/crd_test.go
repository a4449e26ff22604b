package apitest_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
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

func TestCustomResourceDefinitionStartsAndStopsServing(t *testing.T) {
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

	// The resource was defined again, so it is empty. A watch gets no events from before that.
	version := srv.ResourceVersion()
	c.do(t, http.StatusCreated, "POST", definitionsPath, gadgets)
	require.Empty(t, get[metav1.PartialObjectMetadataList](t, c, gadgetsPath).Items)
	c.do(t, http.StatusCreated, "POST", gadgetsPath, gadget)
	c.watch(t, gadgetsPath, jsonType, "resourceVersion", version).expect("ADDED a/g")
}

func TestConcurrentCreatesOfACustomResourceDefinition(t *testing.T) {
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

const versioned = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"gadgets.example.com"},
	"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"gadgets","singular":"gadget","kind":"Gadget"},"versions":[
	{"name":"v1beta1","served":true,"storage":false},{"name":"v1","served":true,"storage":true,"selectableFields":[{"jsonPath":".spec.color"}],
	"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"}}}]}}`

// TestCustomResourceInSeveralVersions: each version serves the same objects under its own
// apiVersion. This is true for lists, pages, watches and writes, even after the CRD has changed.
func TestCustomResourceInSeveralVersions(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	c.do(t, http.StatusCreated, "POST", definitionsPath, versioned)
	group := get[metav1.APIGroup](t, c, "/apis/example.com")
	require.Equal(t, "v1", group.PreferredVersion.Version)
	require.Len(t, group.Versions, 2)

	const old = "/apis/example.com/v1beta1/namespaces/a/gadgets"
	beta := c.watch(t, old, jsonType)
	made := decode[unstructured.Unstructured](t, c.do(t, http.StatusCreated, "POST", gadgetsPath, gadget))
	require.Equal(t, "example.com/v1", made.GetAPIVersion())
	beta.expect("ADDED a/g")
	got := get[unstructured.Unstructured](t, c, old+"/g")
	require.Equal(t, "example.com/v1beta1", got.GetAPIVersion())
	require.Equal(t, made.GetUID(), got.GetUID())
	require.Equal(t, made.GetResourceVersion(), got.GetResourceVersion())
	got.Object["spec"].(map[string]any)["color"] = "blue"
	body, err := got.MarshalJSON()
	require.NoError(t, err)
	put := decode[unstructured.Unstructured](t, c.do(t, http.StatusOK, "PUT", old+"/g", string(body)))
	require.Equal(t, "example.com/v1beta1", put.GetAPIVersion())
	beta.expect("MODIFIED a/g")
	require.Equal(t, metav1.StatusReasonConflict, c.fails(t, http.StatusConflict, "PUT", old+"/g", string(body)).Reason)
	require.Equal(t, metav1.StatusReasonAlreadyExists, c.fails(t, http.StatusConflict, "POST", gadgetsPath, gadget).Reason)
	c.fails(t, http.StatusBadRequest, "POST", old, gadget)

	// Only one version has this field as a selectable field.
	require.Len(t, get[unstructured.UnstructuredList](t, c, gadgetsPath+"?fieldSelector=spec.color%3Dblue").Items, 1)
	require.Empty(t, get[unstructured.UnstructuredList](t, c, gadgetsPath+"?fieldSelector=spec.color%3Dred").Items)
	c.fails(t, http.StatusBadRequest, "GET", old+"?fieldSelector=spec.color%3Dblue", "")
	blue := c.watch(t, gadgetsPath, jsonType, "fieldSelector", "spec.color=blue")
	blue.expect("ADDED a/g")
	c.do(t, http.StatusOK, "PATCH", old+"/g", `{"spec":{"color":"red"}}`, "Content-Type", mergePatch)
	blue.expect("DELETED a/g")
	beta.expect("MODIFIED a/g")

	// The set of served versions changes. The watch of a version that stays the same continues.
	crd := get[unstructured.Unstructured](t, c, definitionsPath+"/gadgets.example.com")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	versions[1].(map[string]any)["storage"] = false
	versions[1].(map[string]any)["served"] = false
	versions = append(versions, map[string]any{"name": "v2", "served": true, "storage": true})
	require.NoError(t, unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"))
	body, err = crd.MarshalJSON()
	require.NoError(t, err)
	crd = decode[unstructured.Unstructured](t, c.do(t, http.StatusOK, "PUT", definitionsPath+"/gadgets.example.com", string(body)))
	stored, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions")
	require.Equal(t, []string{"v1", "v2"}, stored)
	blue.ends()
	c.do(t, http.StatusNotFound, "GET", gadgetsPath+"/g", "")
	two := get[unstructured.Unstructured](t, c, "/apis/example.com/v2/namespaces/a/gadgets/g")
	require.Equal(t, "example.com/v2", two.GetAPIVersion())
	require.Equal(t, made.GetUID(), two.GetUID())
	c.do(t, http.StatusOK, "DELETE", "/apis/example.com/v2/namespaces/a/gadgets/g", "")
	beta.expect("DELETED a/g")

	// The scope cannot change, but the status can.
	c.do(t, http.StatusUnprocessableEntity, "PATCH", definitionsPath+"/gadgets.example.com", `{"spec":{"scope":"Cluster"}}`, "Content-Type", mergePatch)
	c.do(t, http.StatusOK, "PATCH", definitionsPath+"/gadgets.example.com/status", `{"status":{"storedVersions":["v2"]}}`, "Content-Type", mergePatch)
	crd = get[unstructured.Unstructured](t, c, definitionsPath+"/gadgets.example.com")
	stored, _, _ = unstructured.NestedStringSlice(crd.Object, "status", "storedVersions")
	require.Equal(t, []string{"v2"}, stored)
	c.do(t, http.StatusOK, "DELETE", definitionsPath+"/gadgets.example.com", "")
	beta.ends()
}

// A dry run of a CRD makes all checks and serves nothing.
func TestDryRunOfADefinitionIsChecked(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}, CheckSchemas: true})
	const dry = "?dryRun=All"
	definition := func(name, group, plural, kind, versions string) string {
		return `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"` + name + `"},"spec":{"group":"` + group +
			`","scope":"Namespaced","names":{"plural":"` + plural + `","kind":"` + kind + `"},"versions":[` + versions + `]}}`
	}
	const v1 = `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}`
	before := srv.ResourceVersion()
	for what, body := range map[string]string{
		"another name":      definition("x", "e.com", "things", "Thing", v1),
		"no storage":        definition("things.e.com", "e.com", "things", "Thing", strings.ReplaceAll(v1, `"storage":true,`, "")),
		"no schema":         definition("things.e.com", "e.com", "things", "Thing", `{"name":"v1","served":true,"storage":true}`),
		"a schema of sorts": definition("things.e.com", "e.com", "things", "Thing", strings.ReplaceAll(v1, `"object"`, `"objects"`)),
		"served already":    definition("widgets.example.com", "example.com", "widgets", "Widget", v1),
	} {
		for _, path := range []string{definitionsPath + dry, definitionsPath} {
			status := c.fails(t, http.StatusUnprocessableEntity, "POST", path, body)
			require.Equal(t, metav1.StatusReasonInvalid, status.Reason, what)
		}
		name, _, _ := strings.Cut(strings.SplitN(body, `"name":"`, 2)[1], `"`)
		c.fails(t, http.StatusUnprocessableEntity, "PATCH", definitionsPath+"/"+name+dry+"&fieldManager=m", body, "Content-Type", applyPatch)
	}
	good := definition("things.e.com", "e.com", "things", "Thing", v1)
	made := decode[unstructured.Unstructured](t, c.do(t, http.StatusCreated, "POST", definitionsPath+dry, good))
	plural, _, _ := unstructured.NestedString(made.Object, "spec", "names", "listKind")
	require.Equal(t, "ThingList", plural, "the response must contain the fields that the server sets")
	require.Equal(t, before, srv.ResourceVersion())
	c.do(t, http.StatusNotFound, "GET", "/apis/e.com/v1/things", "")
	c.fails(t, http.StatusNotFound, "GET", definitionsPath+"/things.e.com", "")

	c.do(t, http.StatusCreated, "POST", definitionsPath, good)
	c.fails(t, http.StatusConflict, "POST", definitionsPath+dry, good)
	for _, change := range []string{`{"spec":{"scope":"Cluster"}}`, `{"spec":{"versions":[]}}`} {
		c.fails(t, http.StatusUnprocessableEntity, "PATCH", definitionsPath+"/things.e.com"+dry, change, "Content-Type", mergePatch)
	}
	c.do(t, http.StatusOK, "PATCH", definitionsPath+"/things.e.com"+dry, `{"spec":{"versions":[`+strings.ReplaceAll(v1, "v1", "v2")+`]}}`, "Content-Type", mergePatch)
	c.do(t, http.StatusOK, "GET", "/apis/e.com/v1/things", "")
	c.do(t, http.StatusNotFound, "GET", "/apis/e.com/v2/things", "")
	c.do(t, http.StatusOK, "PATCH", definitionsPath+"/things.e.com"+dry, `{"metadata":{"labels":{"a":"b"}}}`, "Content-Type", mergePatch)
	stored := get[unstructured.Unstructured](t, c, definitionsPath+"/things.e.com")
	require.Empty(t, stored.GetLabels())
}

func TestScaleOfACustomResource(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	c.do(t, http.StatusCreated, "POST", definitionsPath, versioned)
	c.do(t, http.StatusCreated, "POST", gadgetsPath, `{"kind":"Gadget","apiVersion":"example.com/v1","metadata":{"name":"g"},"spec":{"replicas":2}}`)
	c.do(t, http.StatusOK, "PATCH", gadgetsPath+"/g/status", `{"status":{"replicas":1,"selector":"app=g"}}`, "Content-Type", mergePatch)
	scale := get[autoscalingv1.Scale](t, c, gadgetsPath+"/g/scale")
	require.EqualValues(t, 2, scale.Spec.Replicas)
	require.EqualValues(t, 1, scale.Status.Replicas)
	require.Equal(t, "app=g", scale.Status.Selector)
	scaled := decode[autoscalingv1.Scale](t, c.do(t, http.StatusOK, "PATCH", gadgetsPath+"/g/scale", `{"spec":{"replicas":5}}`, "Content-Type", mergePatch))
	require.EqualValues(t, 5, scaled.Spec.Replicas)
	g := get[unstructured.Unstructured](t, c, gadgetsPath+"/g")
	replicas, _, _ := unstructured.NestedInt64(g.Object, "spec", "replicas")
	require.EqualValues(t, 5, replicas)
	c.do(t, http.StatusNotFound, "GET", "/apis/example.com/v1beta1/namespaces/a/gadgets/g/scale", "")
	names := []string{}
	for _, r := range get[metav1.APIResourceList](t, c, "/apis/example.com/v1").APIResources {
		names = append(names, r.Name)
	}
	require.Equal(t, []string{"gadgets", "gadgets/status", "gadgets/scale"}, names)
}

func TestInvalidCustomResourceDefinition(t *testing.T) {
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
	require.Error(t, srv.AddResource(widgets), "a resource that is already served must be refused")
	require.Error(t, srv.AddResource(apitest.Resource{Group: "example.com"}), "an incomplete resource must be refused")
}

func TestAPIServicesFollowWhatIsServed(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	const path = "/apis/apiregistration.k8s.io/v1/apiservices"
	require.Equal(t, "1", srv.ResourceVersion(), "the initial APIServices must not count as writes")
	services := func() []string {
		return names[metav1.PartialObjectMetadata](get[metav1.PartialObjectMetadataList](t, c, path).Items)
	}
	require.Subset(t, services(), []string{"/v1.", "/v1.apps", "/v2.autoscaling", "/v1.example.com", "/v1.apiregistration.k8s.io"})
	w := c.watch(t, path, jsonType, "resourceVersion", srv.ResourceVersion())
	c.do(t, http.StatusCreated, "POST", definitionsPath, versioned)
	w.expect("ADDED /v1beta1.example.com")
	c.do(t, http.StatusOK, "DELETE", definitionsPath+"/gadgets.example.com", "")
	w.expect("DELETED /v1beta1.example.com")
	require.NoError(t, srv.AddResource(apitest.Resource{Group: "other.example", Version: "v1", Plural: "others", Kind: "Other"}))
	w.expect("ADDED /v1.other.example")
	require.Equal(t, "Name|Service|Available|Age", tableOf(t, c, path)[0])
	require.Regexp(t, `^v1.apps\|Local\|True\|\d+s$`, tableOf(t, c, path+"/v1.apps")[1])
}
