package main

import (
	"errors"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"

	"k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi/openapitest"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/testing"
)

func tryFakes() {
	lists := []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods"}}},
		{GroupVersion: "v2", APIResources: []metav1.APIResource{{Name: "pods"}}},
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "more"}}},
	}
	refuse := func(testing.Action) (bool, runtime.Object, error) { return true, nil, errors.New("refused") }
	for _, name := range []string{"none", "get group", "get resource", "get version"} {
		for kind, resources := range map[string][]*metav1.APIResourceList{"no lists": nil, "lists": lists, "a list of nothing": {{GroupVersion: "a/b/c"}}} {
			block("fake, refused: "+name+", "+kind, func() {
				c := &fake.FakeDiscovery{Fake: &testing.Fake{Resources: resources}}
				if verb, about, ok := strings.Cut(name, " "); ok {
					c.PrependReactor(verb, about, refuse)
				}
				asked := func() {
					for _, action := range c.Actions() {
						line(action.GetVerb(), action.GetResource(), action.GetSubresource(), action.GetNamespace())
					}
					c.ClearActions()
				}
				groups, err := c.ServerGroups()
				line(text(groups), kindOf(err))
				asked()
				all, found, err := c.ServerGroupsAndResources()
				line(text(all), text(found), kindOf(err))
				asked()
				for _, gv := range []string{"v1", "v9", ""} {
					list, err := c.ServerResourcesForGroupVersion(gv)
					line(text(list), kindOf(err), text(err))
				}
				found, err = c.ServerPreferredResources()
				line(text(found), kindOf(err))
				found, err = c.ServerPreferredNamespacedResources()
				line(text(found), kindOf(err))
				c.FakedServerVersion = &version.Info{Minor: "9"}
				v, err := c.ServerVersion()
				line(v, kindOf(err))
				document, err := c.OpenAPISchema()
				line(text(document), kindOf(err), c.RESTClient() == nil)
				asked()
			})
		}
	}
	tryDocuments()
}

func tryDocuments() {
	for _, forced := range []error{nil, errors.New("forced")} {
		block("documents of a fake, "+kindOf(forced), func() {
			c := openapitest.NewFakeClient()
			c.ForcedErr = forced
			c.PathsMap = map[string]openapi.GroupVersion{
				"apis/apps/v1": openapitest.FakeGroupVersion{GVSpec: []byte(`{"openapi":"3.0.0","info":{"title":"t"},"paths":{"/x":{"get":{"operationId":"o"}}},"components":{"schemas":{"A":{"type":"object"}}}}`)},
				"apis/b/v10":   openapitest.FakeGroupVersion{GVSpec: []byte(`{`)}, "apis/b/v2": openapitest.FakeGroupVersion{}, "api/v1": openapitest.FakeGroupVersion{ForcedErr: errors.New("one")},
			}
			for _, path := range []string{"version", "apis", "apis/c", "", ".well-known/x", "/api/v7"} {
				c.PathsMap[path] = openapitest.FakeGroupVersion{}
			}
			for _, kind := range []string{"application/json", openapi.ContentTypeOpenAPIV3PB} {
				body, err := c.PathsMap["apis/apps/v1"].Schema(kind)
				line(string(body), kindOf(err))
			}
			root := openapi3.NewRoot(c)
			gvs, err := root.GroupVersions()
			line(gvs, kindOf(err))
			for _, gv := range slices.Concat(gvs, gvs[:min(1, len(gvs))]) {
				document, err := root.GVSpec(gv)
				if err != nil {
					document = nil
				}
				line(gv, text(document), kindOf(err))
				asMap, err := root.GVSpecAsMap(gv)
				line(gv, text(asMap), kindOf(err))
			}
		})
	}
}
