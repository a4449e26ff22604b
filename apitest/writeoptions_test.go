package apitest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
)

// TestOptionsOfAWriteAreChecked: a request with a misspelled dryRun must not write.
func TestOptionsOfAWriteAreChecked(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	c.do(t, http.StatusCreated, "POST", mapsPath, `{"metadata":{"name":"m"}}`)
	for query, want := range map[string]string{
		"dryRun=true": `dryRun: Unsupported value: ["true"]`,
		"fieldManager=" + strings.Repeat("x", 129): `fieldManager: Too long`,
		"fieldManager=%07":                         `fieldManager: Invalid value`,
		"fieldValidation=strict":                   `fieldValidation: Unsupported value: "strict"`,
	} {
		for method, path := range map[string]string{"POST": mapsPath, "PUT": mapsPath + "/m", "PATCH": mapsPath + "/m", "DELETE": mapsPath + "/m"} {
			if method == "DELETE" && !strings.HasPrefix(query, "dryRun") {
				continue
			}
			status := c.fails(t, http.StatusUnprocessableEntity, method, path+"?"+query, "", "Content-Type", map[bool]string{true: mergePatch, false: jsonType}[method == "PATCH"])
			require.Contains(t, strings.ReplaceAll(status.Message, `"dryRun": `, ""), want, "%s %s", method, query)
		}
	}
	c.do(t, http.StatusOK, "GET", mapsPath+"/m", "")
}

func TestBodiesInYAML(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{CheckSchemas: true})
	c.do(t, http.StatusCreated, "POST", mapsPath, "metadata:\n  name: m # which it is called\ndata: {x: '1'}\n", "Content-Type", "application/yaml")
	c.do(t, http.StatusOK, "PUT", mapsPath+"/m", "metadata: {name: m}\ndata:\n  x: '2'\n", "Content-Type", "application/yaml")
	require.Equal(t, map[string]string{"x": "2"}, get[corev1.ConfigMap](t, c, mapsPath+"/m").Data)
	c.do(t, http.StatusCreated, "POST", definitionsPath, checked)
	c.do(t, http.StatusCreated, "POST", gadgetsPath, "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g}\nspec: {name: ab, size: 4}\n", "Content-Type", "application/yaml")
	c.fails(t, http.StatusBadRequest, "POST", mapsPath, "a: [", "Content-Type", "application/yaml")
}

// A dry run of a create may have a resourceVersion, as on the real server. The dry-run client of
// controller-runtime sends one in its own tests.
func TestDryRunOfACreateMayHaveAResourceVersion(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	const path, body = "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"again","resourceVersion":"7"}}`
	c.fails(t, http.StatusInternalServerError, "POST", path, body)
	c.do(t, http.StatusCreated, "POST", path+"?dryRun=All", body)
	require.Equal(t, "1", srv.ResourceVersion(), "a dry run must not write")
}
