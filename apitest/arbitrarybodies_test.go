package apitest_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
)

var everyVariant = flag.Bool("apitest.every-variant", false, "play all variants of bodies, not one in thirty (half a minute)")

// variants returns many variants of a JSON document. In each variant, one value is replaced by one
// of several others.
func variants(t *testing.T, document string) (all []string) {
	t.Helper()
	var doc any
	require.NoError(t, json.Unmarshal([]byte(document), &doc))
	note := func() {
		text, err := json.Marshal(doc)
		require.NoError(t, err)
		all = append(all, string(text))
	}
	values := []any{nil, 7, "x", []any{}, map[string]any{}, []any{nil}, map[string]any{"x": nil}}
	var walk func(part any)
	walk = func(part any) {
		switch part := part.(type) {
		case map[string]any:
			for name, was := range part {
				for _, v := range values {
					part[name] = v
					note()
				}
				part[name] = was
				walk(was)
			}
		case []any:
			for i, was := range part {
				for _, v := range values {
					part[i] = v
					note()
				}
				part[i] = was
				walk(was)
			}
		}
	}
	walk(doc)
	return all
}

// TestArbitraryValuesInRequestBodies: a response has a code of 500 or above only if the real
// server's response has one. All stored objects can be listed in every format.
func TestArbitraryValuesInRequestBodies(t *testing.T) {
	t.Parallel()
	const spec = `{"name":"ab","parts":[{"id":"a"}],"tags":["x"],"labels":{"a":"b"},"free":{"x":[1]},"one":{"a":"b"}}`
	const meta = `"metadata":{"name":"g","labels":{"a":"b"},"finalizers":["x.y/z"],"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}]`
	own := `{"kind":"Gadget","apiVersion":"example.com/v1",` + meta + `},"spec":` + spec + `,"status":{"phase":"x"}}`
	sent := strings.Replace(own, meta, meta+`,"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","time":"2020-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:color":{}}}}]`, 1)
	deployment := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"a":"b"}},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"spec":{"containers":[{"name":"c","ports":[{"containerPort":1}]}]}}}}`
	const by = "?fieldManager=me&force=true"
	for name, test := range map[string]struct{ method, path, contentType, body string }{
		"definition":         {"POST", definitionsPath, jsonType, strings.ReplaceAll(strings.ReplaceAll(fuzzed, "gadgets", "others"), "Gadget", "Other")},
		"definition, update": {"PATCH", definitionsPath + "/gadgets.example.com", mergePatch, fuzzed},
		"create":             {"POST", gadgetsPath, jsonType, strings.ReplaceAll(sent, `"name":"g"`, `"name":"new"`)},
		"merge patch":        {"PATCH", gadgetsPath + "/g", mergePatch, sent},
		"apply":              {"PATCH", gadgetsPath + "/g" + by, applyPatch, own},
		"apply of status":    {"PATCH", gadgetsPath + "/g/status" + by, applyPatch, own},
		"scale":              {"PUT", gadgetsPath + "/g/scale", jsonType, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"g"},"spec":{"replicas":3},"status":{"replicas":1}}`},
		"apply of scale":     {"PATCH", gadgetsPath + "/g/scale" + by, applyPatch, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"g"},"spec":{"replicas":3}}`},
		"apply, built in":    {"PATCH", deploymentsPath + "/d" + by, applyPatch, deployment},
		"strategic patch":    {"PATCH", deploymentsPath + "/d", strategicPatch, deployment},
		"delete":             {"DELETE", gadgetsPath + "/g", jsonType, `{"kind":"DeleteOptions","gracePeriodSeconds":1,"preconditions":{"uid":"x","resourceVersion":"1"},"propagationPolicy":"Orphan","dryRun":["All"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, body := range variants(t, test.body) { // The order is not fixed.
				if !*everyVariant && i%30 > 0 {
					continue
				}
				srv := apitest.New(apitest.Options{CheckSchemas: true, ManagedFields: true})
				send := func(method, path, contentType, body, accept string) *httptest.ResponseRecorder {
					req := httptest.NewRequest(method, path, strings.NewReader(body))
					req.Header.Set("Content-Type", contentType)
					req.Header.Set("Accept", accept)
					rec := httptest.NewRecorder()
					srv.ServeHTTP(rec, req)
					return rec
				}
				require.Equal(t, http.StatusCreated, send("POST", definitionsPath, jsonType, fuzzed, jsonType).Code)
				require.Equal(t, http.StatusCreated, send("POST", gadgetsPath, jsonType, gadgetWith(`{"name":"ab"}`), jsonType).Code)
				create(t, srv, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "d"}})
				answer := send(test.method, test.path, test.contentType, body, jsonType)
				if answer.Code == http.StatusInternalServerError {
					// as on the real server
					require.Contains(t, answer.Body.String(), "typed", "%s of %s", name, body)
				}
				for _, plural := range []string{"gadgets", "others"} {
					at := "/apis/example.com/v1/namespaces/a/" + plural
					send("PATCH", at+"/g"+by, applyPatch, strings.ReplaceAll(gadgetWith(`{"name":"cd"}`), "Gadget", map[string]string{"gadgets": "Gadget", "others": "Other"}[plural]), jsonType)
					send("GET", at+"/g/scale", "", "", jsonType)
					send("GET", at, "", "", asTable)
					send("GET", at, "", "", metadataOnly)
				}
				require.Equal(t, http.StatusOK, send("GET", "/apis/apps/v1/deployments", "", "", protoType).Code)
				if test.path == definitionsPath {
					require.Equal(t, http.StatusOK, send("GET", "/openapi/v3/apis/example.com/v1", "", "", jsonType).Code)
				}
				srv.Close()
			}
		})
	}
}
