package apitest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/apitest/fielddocs"
)

const aggregated = jsonType + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

func TestDiscoveryByGroupVersion(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	require.Equal(t, []string{"v1"}, get[metav1.APIVersions](t, c, "/api").Versions)

	groups := get[metav1.APIGroupList](t, c, "/apis").Groups
	at := slices.IndexFunc(groups, func(g metav1.APIGroup) bool { return g.Name == "autoscaling" })
	require.Len(t, groups[at].Versions, 2)
	require.Equal(t, "autoscaling/v2", groups[at].PreferredVersion.GroupVersion)
	require.Equal(t, groups[at].Versions, get[metav1.APIGroup](t, c, "/apis/autoscaling").Versions)

	core := get[metav1.APIResourceList](t, c, "/api/v1")
	require.Equal(t, "v1", core.GroupVersion)
	find := func(list metav1.APIResourceList, name string) metav1.APIResource {
		i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == name })
		require.GreaterOrEqual(t, i, 0, name)
		return list.APIResources[i]
	}
	require.Equal(t, metav1.APIResource{
		Name: "pods", SingularName: "pod", Namespaced: true, Kind: "Pod", ShortNames: []string{"po"}, Categories: []string{"all"},
		Verbs: metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
	}, find(core, "pods"))
	require.Equal(t, metav1.Verbs{"get", "patch", "update"}, find(core, "pods/status").Verbs)
	require.False(t, find(core, "nodes").Namespaced)
	require.Equal(t, "wd", find(get[metav1.APIResourceList](t, c, "/apis/example.com/v1"), "widgets").ShortNames[0])

	for _, path := range []string{"/apis/none", "/apis/none/v1", "/api/v2", "/", "/metrics", "/apis/none/v1/things"} {
		require.Equal(t, "404 page not found\n", string(c.do(t, http.StatusNotFound, "GET", path, "")), path)
	}
	c.fails(t, http.StatusMethodNotAllowed, "POST", "/api", "")
	c.fails(t, http.StatusNotFound, "GET", "/api/v1/nothings", "")
}

func TestAggregatedDiscovery(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	accept := []string{"Accept", aggregated + "," + jsonType}
	require.Equal(t, aggregated, c.send(t, "GET", "/apis", "", accept...).Header.Get("Content-Type"))
	core := get[apidiscoveryv2.APIGroupDiscoveryList](t, c, "/api", accept...)
	require.Equal(t, "APIGroupDiscoveryList", core.Kind)
	require.Len(t, core.Items, 1)
	require.Empty(t, core.Items[0].Name)
	groups := get[apidiscoveryv2.APIGroupDiscoveryList](t, c, "/apis", accept...)
	require.Equal(t, "example.com", groups.Items[len(groups.Items)-1].Name)
	w := groups.Items[len(groups.Items)-1].Versions[0].Resources[0]
	require.Equal(t, apidiscoveryv2.ScopeNamespace, w.Scope)
	require.Equal(t, "Widget", w.ResponseKind.Kind)
	require.Equal(t, "status", w.Subresources[0].Subresource)

	_, old := start(t, apitest.Options{NoAggregatedDiscovery: true})
	require.Equal(t, "APIGroupList", get[metav1.APIGroupList](t, old, "/apis", accept...).Kind)
}

// Every built-in type can be created, read in both encodings, and deleted.
func TestEveryBuiltInTypeIsServed(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	groups := get[apidiscoveryv2.APIGroupDiscoveryList](t, c, "/apis", "Accept", aggregated)
	groups.Items = append(groups.Items, get[apidiscoveryv2.APIGroupDiscoveryList](t, c, "/api", "Accept", aggregated).Items...)
	kinds := 0
	for _, group := range groups.Items {
		for _, v := range group.Versions {
			base := "/apis/" + group.Name + "/" + v.Version
			if group.Name == "" {
				base = "/api/" + v.Version
			}
			for _, r := range v.Resources {
				if kind := r.ResponseKind.Kind; kind == "CustomResourceDefinition" || kind == "APIService" || !slices.Contains(r.Verbs, "get") {
					continue // k8s.io/api lacks the type, or the resource accepts only a POST
				}
				path := base + "/" + r.Resource
				if r.Scope == apidiscoveryv2.ScopeNamespace {
					path = base + "/namespaces/a/" + r.Resource
				}
				name := "x"
				if r.Resource == "ipaddresses" {
					name = "192.0.2.1"
				}
				body := `{"kind":"` + r.ResponseKind.Kind + `","apiVersion":"` + strings.TrimPrefix(group.Name+"/"+v.Version, "/") + `","metadata":{"name":"` + name + `"}}`
				c.do(t, http.StatusCreated, "POST", path, body)
				require.Equal(t, name, get[metav1.PartialObjectMetadata](t, c, path+"/"+name).Name)
				_, kind, raw := envelope(t, c.do(t, http.StatusOK, "GET", path, "", "Accept", protoType))
				require.Equal(t, r.ResponseKind.Kind+"List", kind)
				var list metav1.PartialObjectMetadataList
				require.NoError(t, list.Unmarshal(raw))
				require.Equal(t, name, list.Items[0].Name)
				if slices.ContainsFunc(r.Subresources, func(s apidiscoveryv2.APISubresourceDiscovery) bool { return s.Subresource == "status" }) {
					c.do(t, http.StatusOK, "PUT", path+"/"+name+"/status", body)
				}
				c.do(t, http.StatusOK, "DELETE", path+"/"+name, "")
				kinds++
			}
		}
	}
	require.Greater(t, kinds, 60)
	require.NotEqual(t, "1", srv.ResourceVersion())
}

func TestHealthVersionAndOpenAPI(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{BearerToken: "secret"})
	for _, path := range []string{"/healthz", "/readyz", "/livez"} {
		require.Equal(t, "ok", string(c.do(t, http.StatusOK, "GET", path, "")))
	}
	srv.SetBearerToken("")
	require.Equal(t, "1", get[version.Info](t, c, "/version").Major)

	index := get[struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}](t, c, "/openapi/v3")
	require.Contains(t, index.Paths, "apis/apps/v1")
	doc := get[struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name string }
		}
	}](t, c, index.Paths["api/v1"].ServerRelativeURL)
	require.Equal(t, "fieldValidation", doc.Paths["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"].Parameters[0].Name)
	c.do(t, http.StatusNotFound, "GET", "/openapi/v3/apis/none/v1", "")

	require.NoError(t, srv.AddResource(widgets))
	again := get[struct{ Paths map[string]any }](t, c, "/openapi/v3")
	require.Contains(t, again.Paths, "apis/example.com/v1")
}

func TestOpenAPIExplainsFields(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{FieldDocs: fielddocs.Of})
	type schema struct {
		Description, Type, Format string
		Ref                       string `json:"$ref"`
		Required                  []string
		Properties                map[string]schema
		AllOf                     []schema
		Items                     *schema
		Strategy                  string                    `json:"x-kubernetes-patch-strategy"`
		Key                       string                    `json:"x-kubernetes-patch-merge-key"`
		Kinds                     []metav1.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
	}
	const podSpec = "io.k8s.api.core.v1.PodSpec"
	check := func(schemas map[string]schema, refs string) {
		t.Helper()
		spec := schemas[podSpec]
		require.Equal(t, "PodSpec is a description of a pod.", spec.Description)
		require.Contains(t, spec.Required, "containers")
		require.NotContains(t, spec.Required, "nodeName")
		containers := spec.Properties["containers"]
		require.Equal(t, "array merge name", containers.Type+" "+containers.Strategy+" "+containers.Key)
		ref := containers.Items.Ref
		if refs == "#/components/schemas/" {
			ref = containers.Items.AllOf[0].Ref
		}
		require.Equal(t, refs+"io.k8s.api.core.v1.Container", ref)
		require.Equal(t, "date-time", schemas["io.k8s.apimachinery.pkg.apis.meta.v1.Time"].Format)
		require.Equal(t, []metav1.GroupVersionKind{{Version: "v1", Kind: "Pod"}}, schemas["io.k8s.api.core.v1.Pod"].Kinds)
		require.Contains(t, schemas, "io.k8s.api.core.v1.PodList")
	}
	three := get[struct {
		Components struct{ Schemas map[string]schema }
	}](t, c, "/openapi/v3/api/v1")
	check(three.Components.Schemas, "#/components/schemas/")
	two := get[struct{ Definitions map[string]schema }](t, c, "/openapi/v2")
	check(two.Definitions, "#/definitions/")
	proto := c.send(t, "GET", "/openapi/v2", "", "Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
	require.Equal(t, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", proto.Header.Get("Content-Type"))

	// The schema of a CRD is part of the document, and the index has a new hash.
	index := func() string {
		return get[struct {
			Paths map[string]struct{ ServerRelativeURL string }
		}](t, c, "/openapi/v3").Paths["apis/example.com/v1"].ServerRelativeURL
	}
	require.Empty(t, index())
	c.do(t, http.StatusCreated, "POST", definitionsPath, checked)
	before := index()
	custom := get[struct {
		Components struct{ Schemas map[string]schema }
	}](t, c, before).Components.Schemas["com.example.v1.Gadget"]
	require.Equal(t, "string", custom.Properties["spec"].Properties["color"].Type)
	require.NotEmpty(t, custom.Properties["metadata"])
	c.do(t, http.StatusOK, "PATCH", definitionsPath+"/gadgets.example.com", `[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/new","value":{"type":"string"}}]`, "Content-Type", "application/json-patch+json")
	require.NotEqual(t, before, index())
	custom = get[struct {
		Components struct{ Schemas map[string]schema }
	}](t, c, before).Components.Schemas["com.example.v1.Gadget"]
	require.Equal(t, "string", custom.Properties["spec"].Properties["new"].Type)
}
