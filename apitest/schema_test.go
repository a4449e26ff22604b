package apitest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kinform/kinform/apitest"
)

const checked = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"gadgets.example.com"},
	"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"gadgets","kind":"Gadget"},"versions":[{"name":"v1","served":true,"storage":true,
	"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","required":["spec"],"properties":{
	"spec":{"type":"object","required":["name"],"properties":{
		"name":{"type":"string","pattern":"^[a-z]+$","minLength":2,"maxLength":5},
		"color":{"type":"string","enum":["red","blue"],"default":"red"},
		"size":{"type":"integer","minimum":1,"maximum":10,"default":3},
		"half":{"type":"number","exclusiveMinimum":true,"minimum":0,"multipleOf":0.5},
		"on":{"type":"boolean"},"none":{"type":"string","nullable":true},
		"port":{"x-kubernetes-int-or-string":true},
		"since":{"type":"string","format":"date-time"},
		"tags":{"type":"array","maxItems":2,"minItems":1,"x-kubernetes-list-type":"set","items":{"type":"string"}},
		"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],"items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"n":{"type":"integer","default":1}}}},
		"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
		"labels":{"type":"object","maxProperties":2,"additionalProperties":{"type":"string"}},
		"one":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]},
		"template":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}
	}},"status":{"type":"object","properties":{"phase":{"type":"string"}}}}}}}]}}`

func gadgetWith(spec string) string {
	return `{"kind":"Gadget","apiVersion":"example.com/v1","metadata":{"name":"g"},"spec":` + spec + `}`
}

func TestSchemasAreChecked(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{CheckSchemas: true})
	c.do(t, http.StatusCreated, "POST", definitionsPath, checked)
	for spec, want := range map[string]string{
		`{}`:                                               `spec.name: Required value`,
		`{"name":7}`:                                       `spec.name: Invalid value: "integer": spec.name in body must be of type string: "integer"`,
		`{"name":"AB"}`:                                    `spec.name: Invalid value: "AB": spec.name in body should match '^[a-z]+$'`,
		`{"name":"a"}`:                                     `spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long`,
		`{"name":"abcdef"}`:                                `spec.name: Too long: may not be more than 5 bytes`,
		`{"name":"ab","color":"x"}`:                        `spec.color: Unsupported value: "x": supported values: "red", "blue"`,
		`{"name":"ab","size":0}`:                           `spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1`,
		`{"name":"ab","size":11}`:                          `spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10`,
		`{"name":"ab","size":1.5}`:                         `spec.size: Invalid value: "number": spec.size in body must be of type integer: "number"`,
		`{"name":"ab","half":0}`:                           `spec.half: Invalid value: 0: spec.half in body should be greater than 0`,
		`{"name":"ab","half":0.7}`:                         `spec.half: Invalid value: 0.7: spec.half in body should be a multiple of 0.5`,
		`{"name":"ab","on":"yes"}`:                         `spec.on: Invalid value: "string": spec.on in body must be of type boolean: "string"`,
		`{"name":"ab","since":"now"}`:                      `spec.since: Invalid value: "now": spec.since in body must be of type date-time: "now"`,
		`{"name":"ab","tags":["a","b","c"]}`:               `spec.tags: Too many: 3: must have at most 2 items`,
		`{"name":"ab","tags":[]}`:                          `spec.tags: Invalid value: 0: spec.tags in body should have at least 1 items`,
		`{"name":"ab","tags":["a","a"]}`:                   `spec.tags[1]: Duplicate value: "a"`,
		`{"name":"ab","parts":[{"id":"a"},{"id":"a"}]}`:    `spec.parts[1]: Duplicate value: {"id":"a"}`,
		`{"name":"ab","parts":[{}]}`:                       `spec.parts[0].id: Required value`,
		`{"name":"ab","labels":{"a":"1","b":"2","c":"3"}}`: `spec.labels: Too many: 3: must have at most 2 items`,
		`{"name":"ab","labels":{"a":1}}`:                   `spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"`,
		`{"name":"ab","port":true}`:                        `spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"`,
		`{"name":"ab","one":{}}`:                           `"spec.one" must validate one and only one schema (oneOf). Found none valid`,
		`{"name":"ab","one":{"a":"","b":""}}`:              `"spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives`,
		`[]`:                                               `spec: Invalid value: "array": spec in body must be of type object: "array"`,
	} {
		status := c.fails(t, http.StatusUnprocessableEntity, "POST", gadgetsPath, gadgetWith(spec))
		require.Contains(t, status.Message, `Gadget.example.com "g" is invalid: `)
		require.Contains(t, status.Message, want, spec)
	}
	c.do(t, http.StatusCreated, "POST", gadgetsPath, gadgetWith(`{"name":"ab"}`))
	c.fails(t, http.StatusUnprocessableEntity, "PATCH", gadgetsPath+"/g", `{"spec":{"size":99}}`, "Content-Type", mergePatch)
	c.fails(t, http.StatusUnprocessableEntity, "PATCH", gadgetsPath+"/g/status", `{"status":{"phase":1}}`, "Content-Type", mergePatch)
	c.do(t, http.StatusOK, "PATCH", gadgetsPath+"/g", `{"spec":{"size":9}}`, "Content-Type", mergePatch)

	other := func(schema string) string {
		return strings.ReplaceAll(strings.ReplaceAll(`{"metadata":{"name":"gadgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"gadgets","kind":"Gadget"},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":`+schema+`}]}}`, "gadgets", "others"), "Gadget", "Other")
	}
	for schema, want := range map[string]string{
		`{"type":"string"}`: `schema.openAPIV3Schema.type must be "object"`,
		`{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}`: "schema.openAPIV3Schema.properties.a.pattern",
		`7`: "cannot unmarshal number",
		`{"type":"object","properties":{"a":null}}`:                                      "schema.openAPIV3Schema.properties.a must not be null",
		`{"type":"object","properties":{"a":{"allOf":[{},null]}}}`:                       "schema.openAPIV3Schema.properties.a.allOf[1] must not be null",
		`{"type":"object","properties":{"a":{"type":"array","items":[]}}}`:               "cannot unmarshal array",
		`{"type":"object","properties":{"a":{"additionalProperties":{"anyOf":[null]}}}}`: "schema.openAPIV3Schema.properties.a.additionalProperties.anyOf[0] must not be null",
	} {
		status := c.fails(t, http.StatusUnprocessableEntity, "POST", definitionsPath, other(`{"openAPIV3Schema":`+schema+`}`))
		require.Contains(t, status.Message, want, schema)
	}
	require.Contains(t, c.fails(t, http.StatusUnprocessableEntity, "POST", definitionsPath, other(`{}`)).Message, "schemas are required")
	c.do(t, http.StatusCreated, "POST", definitionsPath, other(`{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"array","items":null,"default":null,"enum":null,"additionalProperties":null}}}}`))
	c.do(t, http.StatusCreated, "POST", "/apis/example.com/v1/namespaces/a/others", `{"kind":"Other","apiVersion":"example.com/v1","metadata":{"name":"o"},"a":[1]}`)
}

func TestSchemasSetDefaultsAndPrune(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{CheckSchemas: true})
	c.do(t, http.StatusCreated, "POST", definitionsPath, checked)
	const spec = `{"name":"ab","size":null,"none":null,"on":null,"bogus":1,"port":"http","parts":[{"id":"a","extra":1}],"free":{"x":{"y":1,"z":null}},"labels":{"a":"b","c":null},
		"template":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"any":1}}`
	made := decode[unstructured.Unstructured](t, c.do(t, http.StatusCreated, "POST", gadgetsPath, gadgetWith(spec)))
	got, err := json.Marshal(made.Object["spec"])
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"ab","color":"red","size":3,"none":null,"port":"http","parts":[{"id":"a","n":1}],"free":{"x":{"y":1,"z":null}},"labels":{"a":"b"},
		"template":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"any":1}}`, string(got))
	status := c.fails(t, http.StatusBadRequest, "POST", gadgetsPath+"?fieldValidation=Strict", gadgetWith(spec))
	require.Contains(t, status.Message, `strict decoding error: unknown field "spec.bogus", unknown field "spec.parts[0].extra"`)

	inProcess := &unstructured.Unstructured{}
	require.NoError(t, inProcess.UnmarshalJSON([]byte(gadgetWith(`{"name":"toolong"}`))))
	inProcess.SetNamespace("a")
	_, err = srv.Create(inProcess)
	require.ErrorContains(t, err, "Too long")
}

func TestUnknownMetadataFieldsOfCustomResourcesAreDropped(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{ManagedFields: true, Resources: []apitest.Resource{widgets}})
	const path, body = "/apis/example.com/v1/namespaces/a/widgets", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","unheard":"of","a":null},"spec":{"unheard":"of"}}`
	status := c.fails(t, http.StatusBadRequest, "POST", path+"?fieldValidation=Strict", body)
	require.Contains(t, status.Message, `strict decoding error: unknown field "metadata.a", unknown field "metadata.unheard"`)
	made := decode[unstructured.Unstructured](t, c.do(t, http.StatusCreated, "POST", path, body))
	require.NotContains(t, made.Object["metadata"], "unheard")
	require.Len(t, made.GetManagedFields(), 1)
	require.Equal(t, map[string]any{"unheard": "of"}, made.Object["spec"])
	made.Object["metadata"].(map[string]any)["unheard"] = "of"
	stored, err := srv.Update(&made)
	require.NoError(t, err)
	require.NotContains(t, stored.(*unstructured.Unstructured).Object["metadata"], "unheard")
}
