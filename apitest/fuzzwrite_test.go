package apitest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
)

// fuzzed is a CRD with a schema, columns and scale.
var fuzzed = strings.Replace(checked, `"subresources":{"status":{}},`, `"subresources":{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size","labelSelectorPath":".spec.name"}},
	"selectableFields":[{"jsonPath":".spec.color"}],"additionalPrinterColumns":[{"name":"A","type":"string","jsonPath":".spec.parts[0].id"},{"name":"B","type":"integer","jsonPath":".spec.half"},
	{"name":"C","type":"date","jsonPath":".spec.since"},{"name":"D","type":"string","jsonPath":".spec.free"},{"name":"E","type":"string","jsonPath":".spec.parts[?(@.n==1)].id"}],`, 1)

// FuzzWrite sends two requests, one after the other, to a server that checks schemas, collects
// garbage and runs pods. For any input, the server keeps working, and all stored objects can be
// listed in every format.
func FuzzWrite(f *testing.F) {
	const by = "?fieldManager=me"
	for _, seed := range [][4]string{
		{"PATCH", gadgetsPath + "/g" + by, gadgetWith(`{"name":"ab","parts":[{"id":"a"}],"tags":["x"],"labels":{"a":"b"},"free":{"x":[1,{"y":null}]},"half":0.5}`), applyPatch},
		{"PATCH", gadgetsPath + "/g" + by + "&force=1", gadgetWith(`{"parts":[{"id":"a","n":null}],"size":null}`), applyPatch},
		{"PATCH", gadgetsPath + "/g/status" + by, strings.Replace(gadgetWith("{}"), `"spec":{}`, `"status":{"phase":"x","size":7}`, 1), applyPatch},
		{"PATCH", gadgetsPath + "/g/scale" + by, `{"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":3}}`, applyPatch},
		{"PUT", gadgetsPath + "/g/scale", `{"metadata":{"name":"g"},"spec":{"replicas":1}}`, jsonType},
		{"PATCH", gadgetsPath + "/g", `{"metadata":{"managedFields":[{"manager":"x","operation":"Apply","fieldsV1":{"f:spec":{}}}],"ownerReferences":[{}]},"spec":{"one":{"a":1},"since":"2020-01-01T00:00:00Z"}}`, mergePatch},
		{"PATCH", deploymentsPath + "/d" + by, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, labels: {a: b}, finalizers: [x.y/z]}\nspec: {replicas: 2, template: {spec: {containers: [{name: c, ports: [{containerPort: 1}]}]}}}\n", applyPatch},
		{"PATCH", deploymentsPath + "/d/scale" + by, `{"spec":{"replicas":9}}`, mergePatch},
		{"PATCH", deploymentsPath + "/d/status" + by, `{"status":{"conditions":[{"type":"x"}]}}`, strategicPatch},
		{"POST", podsPath, `{"metadata":{"name":"q","annotations":{"a":"b"}},"spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"c","env":[{"name":"a"}]}],"readinessGates":[{"conditionType":"x"}]}}`, jsonType},
		{"PATCH", podsPath + "/p/ephemeralcontainers" + by, `{"apiVersion":"v1","kind":"Pod","spec":{"ephemeralContainers":[{"name":"d"}]}}`, applyPatch},
		{"PATCH", podsPath + "/p/status", `{"status":{"containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":1}}}],"podIPs":[{}],"phase":"x"}}`, strategicPatch},
		{"PUT", podsPath + "/p", "metadata: {name: p, managedFields: []}\nspec: {containers: []}\n", "application/yaml"},
		{"DELETE", podsPath + "/p", "gracePeriodSeconds: 3\n", "application/yaml"},
		{"PATCH", definitionsPath + "/gadgets.example.com", `[{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec","value":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}]`, jsonPatch},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], "PATCH", gadgetsPath+"/g"+by, gadgetWith(`{"name":"cd","color":"blue"}`), applyPatch)
		f.Add("PATCH", deploymentsPath+"/d"+by, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"}}`, applyPatch, seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, method1, target1, body1, type1, method2, target2, body2, type2 string) {
		srv := apitest.New(apitest.Options{CheckSchemas: true, ManagedFields: true})
		defer srv.Close()
		send := func(method, target, body, contentType, accept string) *httptest.ResponseRecorder {
			at, err := url.ParseRequestURI(target)
			if err != nil || !strings.HasPrefix(target, "/") {
				t.Skip("nothing that a client could send")
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // so that a watch ends at once
			req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)).WithContext(ctx)
			req.Method, req.URL = method, at
			req.Header.Set("Content-Type", contentType)
			req.Header.Set("Accept", accept)
			rec := httptest.NewRecorder()
			srv.ServeHTTP(rec, req)
			return rec
		}
		require.Equal(t, http.StatusCreated, send("POST", definitionsPath, fuzzed, jsonType, jsonType).Code)
		require.Equal(t, http.StatusCreated, send("POST", gadgetsPath+"?fieldManager=you", gadgetWith(`{"name":"ab"}`), jsonType, jsonType).Code)
		create(t, srv, pod("a", "p"), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "d"}})
		send(method1, target1, body1, type1, jsonType)
		send(method2, target2, body2, type2, jsonType)
		for _, path := range []string{"/api/v1/pods", "/apis/apps/v1/deployments", "/apis/example.com/v1/gadgets"} {
			for _, accept := range []string{jsonType, protoType + "," + jsonType, metadataOnly, jsonType + ";as=Table;g=meta.k8s.io;v=v1"} {
				rec := send("GET", path, "", "", accept)
				if rec.Code != http.StatusNotFound { // The CRD may have been deleted.
					require.Equal(t, http.StatusOK, rec.Code, rec.Body)
				}
			}
		}
		for _, path := range []string{gadgetsPath + "/g/scale", deploymentsPath + "/d/scale"} {
			send("GET", path, "", "", jsonType)
		}
	})
}
