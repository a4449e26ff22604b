package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	clientrest "k8s.io/client-go/rest"
)

// parityRequest is a request. If the response is an object, show names the parts of the response
// that the test compares.
type parityRequest struct {
	method, path, body string
	show               string // dotted paths in the response, separated by spaces
}

// requester sends requests to one server, in its own namespace.
type requester struct {
	t         *testing.T
	client    *http.Client
	host      string
	namespace string
}

// requireSameResponses sends requests to both servers, requires that both give equal responses, and
// returns the responses. In paths and bodies, {ns} stands for a namespace of the test.
func requireSameResponses(t *testing.T, requests ...parityRequest) (responses []string) {
	namespace := "parity-" + rand.String(6)
	requireSameResults(t, func(t *testing.T, s side) []string {
		a := newRequester(t, s, namespace)
		responses = nil
		for _, q := range requests {
			responses = append(responses, a.send(q))
		}
		return responses
	})
	return responses
}

// newRequester creates a namespace for the requests, and returns a requester.
func newRequester(t *testing.T, s side, namespace string) *requester {
	client, err := clientrest.HTTPClientFor(s.config)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	a := &requester{t, client, s.config.Host, namespace}
	a.send(parityRequest{"POST", "/api/v1/namespaces", `{"metadata":{"name":"{ns}"}}`, ""})
	return a
}

// send sends a request, and returns the request and its response as one line.
func (a *requester) send(q parityRequest) string {
	a.t.Helper()
	fill := strings.NewReplacer("{ns}", a.namespace).Replace
	req, err := http.NewRequestWithContext(a.t.Context(), q.method, a.host+fill(q.path), bytes.NewReader([]byte(fill(q.body))))
	require.NoError(a.t, err)
	req.Header.Set("Content-Type", "application/json")
	if q.method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := a.client.Do(req)
	require.NoError(a.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(a.t, err)
	response := a.normalize(fmt.Sprintf("%d %s", resp.StatusCode, summary(body, q.show)))
	return fmt.Sprintf("%s %s %s: %s", q.method, q.path, q.body, response)
}

// eventually repeats a request until the server creates the object or already has it. The server
// serves a custom resource only some time after its CustomResourceDefinition is created.
func (a *requester) eventually(q parityRequest) {
	var response string
	made := func() bool {
		response = a.send(q)
		return !strings.Contains(response, ": 404 ")
	}
	require.Eventually(a.t, made, time.Minute, 20*time.Millisecond, "%v", q)
	require.NotContains(a.t, response, ": 400 ")
	require.NotContains(a.t, response, ": 422 ")
}

// These parts of responses differ between servers and runs.
var (
	uids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	// The server adds these suffixes to generated names.
	suffixes = regexp.MustCompile(`([-_.a/%])[bcdfghjklmnpqrstvwxz2456789]{5}(["\\\\])`)
	versions = regexp.MustCompile(`(ResourceVersion in object meta:|in record) \(?\d+`)
)

func (a *requester) normalize(text string) string {
	text = strings.ReplaceAll(text, a.namespace, "{ns}")
	text = uids.ReplaceAllString(text, "{uid}") // The end of a UID can look like a suffix.
	text = suffixes.ReplaceAllString(strings.ReplaceAll(text, `\"`, `"`), `$1{generated}"`)
	text = strings.ReplaceAll(text, "253 bytes", "253 characters") // Types differ in this word.
	return versions.ReplaceAllString(text, "$1 {version}")
}

func TestNormalizeMasksEveryUID(t *testing.T) {
	a := requester{t: t, namespace: "ns-1"}
	require.Equal(t, `"uid":"{uid}"`, a.normalize(`"uid":"f6b2f42a-1aca-4346-9165-ec093bad4c7d"`), "the end looks like a suffix after a")
	require.Equal(t, `"name":"web-{generated}"`, a.normalize(`"name":"web-x7k2p"`))
}

// uniqueCauses removes repeated causes. Depending on the type, the real server validates some
// fields up to four times, and reports each time.
func uniqueCauses(causes []metav1.StatusCause) (all []metav1.StatusCause) {
	for _, c := range causes {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// summary returns the compared parts of a response.
func summary(body []byte, show string) string {
	var u unstructured.Unstructured
	if json.Unmarshal(body, &u.Object) != nil {
		return strings.TrimSpace(string(body))
	}
	if u.GetKind() == "Status" {
		var status metav1.Status
		if err := json.Unmarshal(body, &status); err != nil {
			return err.Error()
		}
		if status.Details != nil {
			status.Details.UID = ""
			status.Details.Causes = uniqueCauses(status.Details.Causes)
		}
		details, _ := json.Marshal(status.Details)
		return fmt.Sprintf("%s %q %q %d %s", status.Status, status.Reason, status.Message, status.Code, details)
	}
	out := []string{u.GetAPIVersion() + " " + u.GetKind()}
	if u.IsList() {
		list, err := u.ToList()
		if err != nil {
			return err.Error()
		}
		for _, item := range list.Items {
			out = append(out, item.GetName())
		}
	}
	for path := range strings.FieldsSeq(show) {
		value, _, err := unstructured.NestedFieldNoCopy(u.Object, strings.Split(path, ".")...)
		text, _ := json.Marshal(value)
		if err != nil {
			text = []byte(err.Error())
		}
		out = append(out, path+"="+string(text))
	}
	return strings.Join(out, " ")
}
