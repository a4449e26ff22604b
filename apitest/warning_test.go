package apitest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/apitest"
)

// warned sends a write, requires that it succeeds, and returns the warnings of the response.
func warned(t *testing.T, c *client, method, path, body string, headers ...string) []string {
	t.Helper()
	resp := c.send(t, method, path, body, headers...)
	require.NoError(t, resp.Body.Close())
	require.Less(t, resp.StatusCode, http.StatusMultipleChoices)
	return resp.Header.Values("Warning")
}

func TestIgnoredPartsOfAWriteGetAWarning(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	const (
		hooks       = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
		definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		spec        = `{"metadata":{"name":"xs.web.example"},"spec":{"group":"web.example","scope":"Namespaced","names":{"plural":"xs","kind":"X"},`
		version     = `"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"`
	)
	admission := []string{`299 - "ValidatingWebhookConfiguration is stored and has no effect: kinform's API server has no admission"`}
	require.Equal(t, admission, warned(t, c, "POST", hooks, `{"metadata":{"name":"hook"}}`))
	require.Equal(t, admission, warned(t, c, "PUT", hooks+"/hook", `{"metadata":{"name":"hook","labels":{"a":"b"}}}`))
	require.Equal(t, admission, warned(t, c, "PATCH", hooks+"/hook", `{"metadata":{"labels":{"a":"c"}}}`, "Content-Type", "application/merge-patch+json"))
	require.Equal(t, admission, warned(t, c, "PATCH", hooks+"/hook?fieldManager=me&force=true",
		`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"hook"}}`, "Content-Type", "application/apply-patch+yaml"))
	require.Empty(t, warned(t, c, "GET", hooks+"/hook", ""))
	require.Empty(t, warned(t, c, "DELETE", hooks+"/hook", ""))

	require.Empty(t, warned(t, c, "POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"plain"},"data":{"x":"x-kubernetes-validations"}}`))
	require.Equal(t, []string{
		`299 - "spec.conversion.webhook is not called: kinform's API server only changes the apiVersion between versions"`,
		`299 - "x-kubernetes-validations are not evaluated: kinform's API server has no CEL"`,
	}, warned(t, c, "POST", definitions, spec+`"conversion":{"strategy":"Webhook"},`+version+`,"x-kubernetes-validations":[{"rule":"true"}]}}}]}}`))
	require.Empty(t, warned(t, c, "DELETE", definitions+"/xs.web.example", ""))
	require.Empty(t, warned(t, c, "POST", definitions, spec+version+`}}}]}}`))
}
