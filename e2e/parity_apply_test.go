package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	clientrest "k8s.io/client-go/rest"
)

// applyStep is one request about an object, from one field manager.
type applyStep struct {
	verb, path, contentType, body string
}

// TestParityOfServerSideApply compares the owners of fields. It also compares what an apply
// removes, what it takes over, and with what it conflicts.
func TestParityOfServerSideApply(t *testing.T) {
	const (
		apply = "application/apply-patch+yaml"
		merge = "application/merge-patch+json"
		plain = "application/json"
		maps  = "/api/v1/namespaces/default/configmaps"
		by    = "/api/v1/namespaces/default/configmaps/applied?fieldManager="
	)
	config := func(data string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":` + data + `}`
	}
	cases := map[string][]applyStep{
		"creates, and removes what it does not send any more": {
			{"PATCH", by + "a", apply, config(`{"x":"1","y":"2"}`)},
			{"PATCH", by + "a", apply, config(`{"x":"1"}`)},
			{"PATCH", by + "a", apply, config(`{"x":"1"}`)},
		},
		"two managers": {
			{"PATCH", by + "a", apply, config(`{"x":"1"}`)},
			{"PATCH", by + "b", apply, config(`{"y":"2"}`)},
			{"PATCH", by + "b", apply, config(`{"x":"1","y":"2"}`)},
			{"PATCH", by + "a", apply, config(`{}`)},
			{"PATCH", by + "b", apply, config(`{}`)},
		},
		"conflicts": {
			{"PATCH", by + "a", apply, config(`{"x":"1","y":"1"}`)},
			{"PATCH", by + "b", apply, config(`{"x":"2"}`)},
			{"PATCH", by + "b", apply, config(`{"x":"2","y":"2"}`)},
			{"PATCH", by + "c", merge, `{"data":{"z":"3"}}`},
			{"PATCH", by + "b", apply, config(`{"x":"2","z":"2"}`)},
			{"PATCH", by + "b&force=true", apply, config(`{"x":"2","z":"2"}`)},
			{"PATCH", by + "a", apply, config(`{"y":"1"}`)},
		},
		"updates take over": {
			{"POST", maps + "?fieldManager=c", plain, config(`{"x":"1","y":"1"}`)},
			{"PATCH", by + "a", apply, config(`{"x":"1"}`)},
			{"PUT", by + "d", plain, config(`{"x":"2","y":"1"}`)},
			{"PATCH", by + "a", apply, config(`{"x":"1"}`)},
			{"PATCH", by + "a", apply, config(`{"x":"2"}`)},
			{"PATCH", by + "d", merge, `{"metadata":{"labels":{"l":"1"},"finalizers":["example.com/a"]}}`},
			{"PATCH", by + "a", apply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied","finalizers":["example.com/b"]}}`},
			{"PATCH", by + "a", apply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"}}`},
			{"PATCH", by + "d", merge, `{"metadata":{"finalizers":null}}`},
		},
		"nobody any more": {
			{"PATCH", by + "a", apply, config(`{"x":"1"}`)},
			{"PATCH", by + "d", merge, `{"metadata":{"managedFields":[{}]}}`},
			{"PATCH", by + "b", apply, config(`{"x":"2"}`)},
			{"PATCH", by + "b&force=true", apply, config(`{"x":"2"}`)},
		},
		"bad requests": {
			{"PATCH", strings.TrimSuffix(by, "?fieldManager="), apply, config(`{"x":"1"}`)},
			{"PATCH", by + "a&force=true", merge, `{}`},
			{"PATCH", by + "a", apply, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"applied"}}`},
			{"PATCH", by + "a", apply, `{"metadata":{"name":"applied"}}`},
			{"PATCH", by + "a", apply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other"}}`},
			{"PATCH", by + "a", apply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied","managedFields":[{}]}}`},
			{"PATCH", by + "a", apply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"dat":{}}`},
			{"PATCH", by + "a", apply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied","uid":"x"}}`},
			{"PATCH", by + "a", apply, `nothing`},
			{"PATCH", by + "a&dryRun=All", apply, config(`{"x":"1"}`)},
			{"GET", by + "a", "", ""},
		},
	}
	for name, steps := range cases {
		t.Run(name, func(t *testing.T) { requireSameSteps(t, steps, maps+"/applied") })
	}
}

// TestParityOfApplyToListsAndStatus compares applies to lists that are maps or sets, and to the
// status.
func TestParityOfApplyToListsAndStatus(t *testing.T) {
	const (
		apply = "application/apply-patch+yaml"
		by    = "/api/v1/namespaces/default/services/applied?fieldManager="
		on    = "/api/v1/namespaces/default/services/applied/status?fieldManager="
	)
	service := func(ports string) string {
		return `{"apiVersion":"v1","kind":"Service","metadata":{"name":"applied"},"spec":{"clusterIP":"None","ports":` + ports + `}}`
	}
	status := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"applied"},"status":{"conditions":[{"type":"Good","status":"True","reason":"Is","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	requireSameSteps(t, []applyStep{
		{"PATCH", by + "a", apply, service(`[{"name":"x","port":1,"protocol":"TCP"},{"name":"y","port":2,"protocol":"TCP"}]`)},
		{"PATCH", by + "b", apply, service(`[{"name":"z","port":3,"protocol":"TCP"}]`)},
		{"PATCH", by + "b", apply, service(`[{"name":"z","port":1,"protocol":"TCP"}]`)},
		{"PATCH", by + "a", apply, service(`[{"name":"y","port":2,"protocol":"TCP"}]`)},
		{"PATCH", on + "s", apply, status},
		{"PATCH", on + "t", apply, status},
		{"PATCH", on + "s", apply, `{"apiVersion":"v1","kind":"Service","metadata":{"name":"applied"}}`},
		{"PATCH", by + "a", apply, service(`[{"name":"y","port":2,"protocol":"TCP"},{"name":"w","port":2,"protocol":"TCP"}]`)},
	}, "/api/v1/namespaces/default/services/applied")
}

// requireSameSteps sends requests to both servers. It compares the responses, without the parts
// that depend on time.
func requireSameSteps(t *testing.T, steps []applyStep, remove string) {
	requireSameResults(t, func(t *testing.T, s side) (responses []string) {
		client, err := clientrest.HTTPClientFor(s.config)
		require.NoError(t, err)
		defer client.CloseIdleConnections()
		send := func(step applyStep) string {
			request, err := http.NewRequestWithContext(t.Context(), step.verb, strings.TrimSuffix(s.config.Host, "/")+step.path, strings.NewReader(step.body))
			require.NoError(t, err)
			request.Header.Set("Content-Type", step.contentType)
			response, err := client.Do(request)
			require.NoError(t, err)
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			return fmt.Sprintf("%d %s", response.StatusCode, withoutTimes(t, body))
		}
		for _, step := range steps {
			responses = append(responses, step.verb+" "+step.path+" "+step.body, send(step))
		}
		send(applyStep{verb: "DELETE", path: remove})
		return responses
	})
}

// withoutTimes returns a JSON object without the parts that depend on the server or the time.
func withoutTimes(t *testing.T, body []byte) string {
	var doc map[string]any
	require.NoError(t, json.Unmarshal(body, &doc), "%s", body)
	if meta, ok := doc["metadata"].(map[string]any); ok {
		for _, name := range []string{"uid", "resourceVersion", "creationTimestamp"} {
			delete(meta, name)
		}
		delete(meta, "generation") // The real server sets the generation for some kinds.
		entries, _ := meta["managedFields"].([]any)
		for _, e := range entries {
			delete(e.(map[string]any), "time")
		}
		// The server sorts the entries by time.
		slices.SortFunc(entries, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	if details, ok := doc["details"].(map[string]any); ok {
		causes, _ := details["causes"].([]any)
		// The order of causes is random.
		slices.SortFunc(causes, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	// Only the real server sets these fields.
	if spec, ok := doc["spec"].(map[string]any); ok {
		for _, name := range []string{"clusterIPs", "internalTrafficPolicy", "ipFamilies", "ipFamilyPolicy", "sessionAffinity", "type"} {
			delete(spec, name)
		}
		ports, _ := spec["ports"].([]any)
		for _, port := range ports {
			delete(port.(map[string]any), "targetPort")
		}
	}
	text, err := json.MarshalIndent(doc, "", " ")
	require.NoError(t, err)
	return string(text)
}
