package v1_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"
)

// object returns an object of which the manager "m" owns fields.
func object(t *testing.T, operation, subresource, fields string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Foo","metadata":{"name":"n","namespace":"ns","uid":"u","labels":{"l":"m","o":"p"},
"managedFields":[{"manager":"m","operation":%q,"apiVersion":"v1","fieldsType":"FieldsV1","subresource":%q,"fieldsV1":%s}]},
"data":{"a":"1","b":"2"},"status":{"a":"x"},"list":[{"k":"1","v":"2","w":{"deep":[1]}},{"k":"2"}]}`, operation, subresource, fields), &u.Object))
	return u
}

const fields = `{"f:metadata":{"f:labels":{"f:l":{}}},"f:data":{"f:a":{}},"f:list":{"k:{\"k\":\"1\"}":{".":{},"f:k":{},"f:v":{}}},"f:status":{"f:a":{}}}`

func TestExtractReturnsFieldsOfTheManagerFromUnstructured(t *testing.T) {
	// each result is client-go's result
	extractor, err := metav1.NewUnstructuredExtractor(nil)
	require.NoError(t, err)
	const whole = `{"apiVersion":"v1","data":{"a":"1"},"kind":"Foo","list":[{"k":"1","v":"2"}],"metadata":{"labels":{"l":"m"},"name":"n","namespace":"ns"},"status":{"a":"x"}}`
	const nothing = `{"apiVersion":"v1","kind":"Foo","metadata":{"name":"n","namespace":"ns"}}`
	for _, c := range []struct {
		operation, subresource, manager string
		main, status                    string
	}{
		{"Apply", "", "m", whole, nothing},
		{"Apply", "status", "m", nothing, whole},
		{"Update", "", "m", nothing, nothing},
		{"Apply", "", "other", nothing, nothing},
	} {
		u := object(t, c.operation, c.subresource, fields)
		before := u.DeepCopy()
		main, err := extractor.Extract(u, c.manager)
		require.NoError(t, err)
		status, err := extractor.ExtractStatus(u, c.manager)
		require.NoError(t, err)
		for want, got := range map[string]*unstructured.Unstructured{c.main: main, c.status: status} {
			if c.main == c.status {
				want = c.main
			}
			text, err := json.Marshal(got.Object)
			require.NoError(t, err)
			require.JSONEq(t, want, string(text), "%+v", c)
		}
		require.Equal(t, before, u)
	}
}

// TestExtractOfAnEmptyMapOmitsFieldsOfOtherManagers: if other managers own parts of a map, the path
// of the map does not include these parts. If no manager owns a part, the map is replaced as a
// whole.
func TestExtractOfAnEmptyMapOmitsFieldsOfOtherManagers(t *testing.T) {
	extractor, err := metav1.NewUnstructuredExtractor(nil)
	require.NoError(t, err)
	u := object(t, "Apply", "", `{"f:metadata":{"f:labels":{}},"f:data":{},"f:list":{"k:{\"k\":\"1\"}":{".":{}},"k:{\"k\":\"2\"}":{".":{},"f:k":{}}}}`)
	others := u.GetManagedFields()[0].DeepCopy()
	others.Manager, others.Operation = "other", "Update"
	others.FieldsV1.SetRawBytes([]byte(`{"f:metadata":{"f:labels":{"f:l":{},"f:o":{}}},"f:list":{"k:{\"k\":\"1\"}":{"f:v":{}}}}`))
	u.SetManagedFields(append(u.GetManagedFields(), *others))
	part, err := extractor.Extract(u, "m")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"apiVersion": "v1", "kind": "Foo", "data": map[string]any{"a": "1", "b": "2"},
		"list":     []any{map[string]any{"k": "1"}, map[string]any{"k": "2"}},
		"metadata": map[string]any{"name": "n", "namespace": "ns", "labels": map[string]any{}}}, part.Object)
}

func TestExtractReturnsADeepCopy(t *testing.T) {
	extractor, _ := metav1.NewUnstructuredExtractor(nil)
	u := object(t, "Apply", "", `{"f:list":{"k:{\"k\":\"1\"}":{"f:w":{}}}}`)
	before := u.DeepCopy()
	part, err := extractor.Extract(u, "m")
	require.NoError(t, err)
	part.Object["list"].([]any)[0].(map[string]any)["w"].(map[string]any)["deep"] = "other"
	require.Equal(t, before, u)
}

func TestExtractOfInvalidManagedFieldsIsAnError(t *testing.T) {
	extractor, _ := metav1.NewUnstructuredExtractor(nil)
	_, err := extractor.Extract(object(t, "Apply", "", `[1]`), "m")
	require.ErrorContains(t, err, "managed fields of m")
}
