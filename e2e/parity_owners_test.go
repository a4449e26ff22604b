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
	"k8s.io/apimachinery/pkg/util/rand"
	clientrest "k8s.io/client-go/rest"

	"github.com/kinform/kinform/apitest"
)

const (
	applyPatch     = "application/apply-patch+yaml"
	mergePatch     = "application/merge-patch+json"
	strategicPatch = "application/strategic-merge-patch+json"
	plainJSON      = "application/json"
)

// ownersRequest is a request. The test compares the owners in its response.
type ownersRequest struct {
	method, path, contentType, body string
	headers                         []string // names and values, alternating
}

// requireSameOwners sends requests to both servers, and requires that their responses have the same
// errors and the same owners. It compares the entries of the managed fields, except the entries of
// "creator" and of the manager that created the namespace. {ns} stands for a namespace of the test.
func requireSameOwners(t *testing.T, opts apitest.Options, requests ...ownersRequest) {
	namespace := "parity-" + rand.String(6)
	var first []string
	opts.ManagedFields = true
	eachSideWith(t, opts, func(t *testing.T, s side) {
		a := newRequester(t, s, namespace)
		var responses []string
		for _, r := range requests {
			responses = append(responses, fmt.Sprintf("%s %s %s\n\t%s", r.method, r.path, r.body, a.sendForOwners(r)))
		}
		if first == nil {
			first = responses
			return
		}
		require.Equal(t, strings.Join(first, "\n"), strings.Join(responses, "\n"))
	})
}

// sendForOwners sends a request, and returns the status of the response and its owners.
func (a *requester) sendForOwners(r ownersRequest) string {
	a.t.Helper()
	fill := strings.NewReplacer("{ns}", a.namespace).Replace
	req, err := http.NewRequestWithContext(a.t.Context(), r.method, a.host+fill(r.path), strings.NewReader(fill(r.body)))
	require.NoError(a.t, err)
	req.Header.Set("Content-Type", r.contentType)
	for i := 0; i < len(r.headers); i += 2 {
		req.Header.Add(r.headers[i], r.headers[i+1])
	}
	resp, err := a.client.Do(req)
	require.NoError(a.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(a.t, err)
	return a.normalize(fmt.Sprintf("%d %s", resp.StatusCode, ownersIn(body)))
}

// ownersIn returns the owners in a response.
func ownersIn(body []byte) string {
	var doc struct {
		Kind     string
		Message  string
		Status   any
		Metadata struct {
			Finalizers    []string
			ManagedFields []struct {
				Manager, Operation, APIVersion, Subresource string
				FieldsV1                                    any
			}
		}
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return string(body)
	}
	switch doc.Kind {
	case "Status":
		return doc.Message
	case "SelfSubjectReview":
		text, _ := json.Marshal(doc.Status)
		return string(text)
	}
	owners := []string{fmt.Sprint(doc.Kind, doc.Metadata.Finalizers)}
	for _, e := range doc.Metadata.ManagedFields {
		if e.Manager != "creator" && e.Manager != "Go-http-client" {
			fields, _ := json.Marshal(e.FieldsV1)
			owners = append(owners, strings.Join([]string{e.Manager, e.Operation, e.APIVersion, e.Subresource, string(fields)}, " "))
		}
	}
	slices.Sort(owners)
	return strings.Join(owners, "\n\t\t")
}

// TestParityOfManagedFieldsThatAreSent compares requests that send managed fields, such as resets,
// and fields that have no owner.
func TestParityOfManagedFieldsThatAreSent(t *testing.T) {
	const maps, at = "/api/v1/namespaces/{ns}/configmaps", "/api/v1/namespaces/{ns}/configmaps/m?fieldManager="
	object := func(more string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"` + more
	}
	const bad = `,"managedFields":[{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"x":1}}]`
	var many []ownersRequest
	for i := range 13 {
		many = append(many, ownersRequest{"PATCH", fmt.Sprintf("/api/v1/namespaces/{ns}/configmaps/many?fieldManager=m%02d", i), mergePatch, fmt.Sprintf(`{"data":{"k%02d":"1"}}`, i), nil})
	}
	requireSameOwners(t, apitest.Options{}, append([]ownersRequest{
		{"POST", maps + "?fieldManager=a", plainJSON, object(`}}`), nil},
		{"PUT", at + "b", plainJSON, object(`},"data":{"x":"1"}}`), nil},
		{"PATCH", at + "c", applyPatch, object(`},"data":{"y":"1"}}`), nil},
		{"PUT", at + "b", plainJSON, object(`,"managedFields":[]},"data":{"x":"1","y":"1"}}`), nil},
		{"PATCH", at + "b", mergePatch, `{"data":{"x":"2"}}`, nil},
		{"PATCH", at + "c", applyPatch, object(`},"data":{"y":"2"}}`), nil},
		{"PATCH", at + "c&force=true", applyPatch, object(`},"data":{"y":"2"}}`), nil},
		{"PATCH", at + "d", mergePatch, `{"metadata":{"managedFields":[{}]},"data":{"x":"3"}}`, nil},
		{"PATCH", at + "c", applyPatch, object(`},"data":{"z":"1"}}`), nil},
		{"PATCH", at + "d", mergePatch, `{"metadata":{"managedFields":[]},"data":{"x":"4"}}`, nil},
		{"PATCH", at + "c", applyPatch, object(`},"data":{"z":"1"}}`), nil},
		{"PUT", at + "d", plainJSON, object(bad + `},"data":{"z":"1"}}`), nil},
		{"PATCH", at + "d", mergePatch, `{"metadata":{"managedFields":null},"data":{"z":"3"}}`, nil},
		{"POST", maps + "?fieldManager=e", plainJSON, strings.Replace(object(bad+`},"data":{"x":"1"}}`), `"m"`, `"bad"`, 1), nil},
		{"POST", maps + "?fieldManager=e", plainJSON, strings.Replace(object(`,"managedFields":[{}]},"data":{"x":"1"}}`), `"m"`, `"reset"`, 1), nil},
		{"PATCH", strings.TrimSuffix(at, "?fieldManager="), mergePatch, `{"data":{"agent":"1"}}`, []string{"User-Agent", "program\u00e9/v1 (linux)"}},
		{"PATCH", strings.TrimSuffix(at, "?fieldManager="), mergePatch, `{"data":{"agent":"2"}}`, []string{"User-Agent", strings.Repeat("x", 140)}},
		{"PATCH", strings.TrimSuffix(at, "?fieldManager="), mergePatch, `{"data":{"agent":"3"}}`, []string{"User-Agent", "/"}},
		{"POST", maps + "?fieldManager=creator", plainJSON, strings.Replace(object(`}}`), `"m"`, `"many"`, 1), nil},
		{"PATCH", "/api/v1/namespaces/{ns}/configmaps/many?fieldManager=first", applyPatch, strings.Replace(object(`},"data":{"first":"1"}}`), `"m"`, `"many"`, 1), nil},
	}, many...)...)
}

// TestParityOfApplyInYAML compares applies of manifests as people write them.
func TestParityOfApplyInYAML(t *testing.T) {
	const at = "/api/v1/namespaces/{ns}/configmaps/m?fieldManager=a"
	var requests []ownersRequest
	for _, body := range []string{
		"# comment\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\n  labels: &l {a: b}\n  annotations: *l\ndata:\n  text: |\n    two\n    lines\n",
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {x: 'true'}\n",
		"apiVersion: v1\nkind: ConfigMap\ndata: {x: '1'}\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {x: 1}\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: other}\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, resourceVersion: '1'}\ndata: {x: '2'}\n",
	} {
		requests = append(requests, ownersRequest{"PATCH", at, applyPatch, body, nil})
	}
	requests = append(requests,
		ownersRequest{"PATCH", strings.Replace(at, "/m?", "/n?", 1), applyPatch, "apiVersion: v1\nkind: ConfigMap\ndata: {x: '2'}\n", nil},
		ownersRequest{"POST", "/api/v1/namespaces/{ns}/configmaps?fieldManager=a", "application/yaml", "metadata: {name: y}\ndata: {x: '2'}\n", nil},
		ownersRequest{"PUT", "/api/v1/namespaces/{ns}/configmaps/y?fieldManager=b", "application/yaml", "metadata: {name: y}\ndata: {x: '3'}\n", nil})
	requireSameOwners(t, apitest.Options{}, requests...)
}

// TestParityOfMediaTypesAndOptions compares refused requests and their messages.
func TestParityOfMediaTypesAndOptions(t *testing.T) {
	const maps, at = "/api/v1/namespaces/{ns}/configmaps", "/api/v1/namespaces/{ns}/configmaps/m"
	requests := []ownersRequest{
		{"POST", maps, plainJSON, `{"metadata":{"name":"m"}}`, nil},
		{"POST", maps, "text/plain", `{"metadata":{"name":"m"}}`, nil},
		{"PUT", at, "text/plain", `{"metadata":{"name":"m"}}`, nil},
		{"DELETE", at + "x", "text/plain", `{}`, nil},
	}
	for _, options := range []string{"dryRun=true", "dryRun=All&dryRun=none", "fieldValidation=strict", "fieldManager=%07x", "fieldManager=" + strings.Repeat("x", 129), "fieldManager=" + strings.Repeat("x", 128)} {
		for _, r := range []ownersRequest{
			{"POST", maps, plainJSON, `{"metadata":{"name":"n"}}`, nil}, {"PUT", at, plainJSON, `{"metadata":{"name":"m"}}`, nil},
			{"PATCH", at, mergePatch, `{}`, nil}, {"PATCH", at, applyPatch, `{"apiVersion":"v1","kind":"ConfigMap"}`, nil}, {"DELETE", at + "x", plainJSON, ``, nil},
		} {
			r.path += "?" + options
			requests = append(requests, r)
		}
	}
	requireSameOwners(t, apitest.Options{}, requests...)
}

// TestParityOfOwnersBySubresource compares the owners after requests to scale, status, resize and
// ephemeral containers.
func TestParityOfOwnersBySubresource(t *testing.T) {
	const deployments = "/apis/apps/v1/namespaces/{ns}/deployments"
	const template = `"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}`
	deployment := func(replicas string) string {
		return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{` + replicas + template + `}}`
	}
	scale := func(n string) string {
		return `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"},"spec":{"replicas":` + n + `}}`
	}
	const at = deployments + "/d"
	get := ownersRequest{"GET", at, plainJSON, "", nil}
	const pod = podsAt + "/p"
	// A request may send fields that a subresource does not store. The real server records the
	// manager of these fields, and apitest does not.
	const status = `"status":{"phase":"Running","conditions":[{"type":"x/y","status":"True"}]}`
	const resized = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]},` + status + `}`
	const debugged = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"ephemeralContainers":[{"name":"d","image":"example.com/d",
		"imagePullPolicy":"Always","terminationMessagePath":"/x","terminationMessagePolicy":"File"}]},` + status + `}`
	requireSameOwners(t, apitest.Options{},
		ownersRequest{"PATCH", at + "?fieldManager=a", applyPatch, deployment(`"replicas":1,`), nil},
		ownersRequest{"PATCH", at + "/scale?fieldManager=k", mergePatch, `{"spec":{"replicas":2}}`, nil},
		get,
		ownersRequest{"PATCH", at + "?fieldManager=a", applyPatch, deployment(`"replicas":1,`), nil},
		ownersRequest{"PATCH", at + "?fieldManager=a", applyPatch, deployment(``), nil},
		ownersRequest{"PUT", at + "/scale?fieldManager=l", plainJSON, `{"metadata":{"name":"d"},"spec":{"replicas":3}}`, nil},
		get,
		ownersRequest{"PATCH", at + "/scale?fieldManager=b", applyPatch, scale("4"), nil},
		ownersRequest{"PATCH", at + "/scale?fieldManager=b&force=true", applyPatch, scale("4"), nil},
		get,
		ownersRequest{"PATCH", at + "/scale?fieldManager=b", applyPatch, deployment(``), nil},
		ownersRequest{"PATCH", at + "/scale?fieldManager=b", applyPatch, scale("-1"), nil},
		ownersRequest{"PATCH", at + "x/scale?fieldManager=b", applyPatch, strings.Replace(scale("4"), `"d"`, `"dx"`, 1), nil},
		ownersRequest{"PATCH", at + "/scale?fieldManager=b", applyPatch, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"}}`, nil},
		get,
		ownersRequest{"PUT", at + "/status?fieldManager=s", plainJSON, strings.Replace(deployment(`"replicas":7,`), `"metadata":{`, `"status":{"replicas":1},"metadata":{"managedFields":[{}],"labels":{"a":"b"},`, 1), nil},
		ownersRequest{"POST", podsAt + "?fieldManager=creator", plainJSON, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"example.com/c","resources":{"requests":{"cpu":"1"}}}]}}`, nil},
		ownersRequest{"PATCH", pod + "/status?fieldManager=s", strategicPatch, "{" + status + "}", nil},
		ownersRequest{"PATCH", pod + "/resize?fieldManager=r", strategicPatch, resized, nil},
		ownersRequest{"PATCH", pod + "/resize?fieldManager=r", applyPatch, resized, nil},
		ownersRequest{"PATCH", pod + "/ephemeralcontainers?fieldManager=e", strategicPatch, debugged, nil},
		ownersRequest{"PATCH", pod + "/ephemeralcontainers?fieldManager=e", applyPatch, debugged, nil},
	)
}

// TestParityOfOwnersOfCustomResources compares lists that are maps or sets, the status, two
// versions, and null.
func TestParityOfOwnersOfCustomResources(t *testing.T) {
	const definition = `{"metadata":{"name":"owneds.parity.example.com"},"spec":{"group":"parity.example.com","scope":"Namespaced",
		"names":{"plural":"owneds","singular":"owned","kind":"Owned"},"versions":[VERSION,VERSION]}}`
	const version = `{"name":"NAME","served":true,"storage":STORED,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
		"spec":{"type":"object","properties":{"color":{"type":"string"},"size":{"type":"integer","default":3},"none":{"type":"string","nullable":true},
			"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],"items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"n":{"type":"integer"},"m":{"type":"integer"}}}},
			"tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},"list":{"type":"array","items":{"type":"string"}},
			"whole":{"type":"object","x-kubernetes-map-type":"atomic","additionalProperties":{"type":"string"}}}},
		"status":{"type":"object","properties":{"phase":{"type":"string"},"n":{"type":"integer"}}}}}}}`
	second := strings.NewReplacer("NAME", "v2", "STORED", "true").Replace(version)
	defined := strings.Replace(strings.Replace(definition, "VERSION", strings.NewReplacer("NAME", "v1", "STORED", "false").Replace(version), 1), "VERSION", second, 1)
	at := func(version, more string) string {
		return "/apis/parity.example.com/" + version + "/namespaces/{ns}/owneds/o" + more
	}
	object := func(version, more string) string {
		return `{"apiVersion":"parity.example.com/` + version + `","kind":"Owned","metadata":{"name":"o"},` + more + `}`
	}
	requests := []ownersRequest{
		{"PATCH", at("v1", "?fieldManager=a"), applyPatch, object("v1", `"spec":{"color":"red","parts":[{"id":"x","n":1}],"tags":["s"],"list":["l"],"whole":{"a":"b"}},"status":{"phase":"A"}`), nil},
		{"PATCH", at("v1", "?fieldManager=b"), applyPatch, object("v1", `"spec":{"parts":[{"id":"x","m":1},{"id":"y"}],"tags":["t"]}`), nil},
		{"PATCH", at("v1", "?fieldManager=b"), applyPatch, object("v1", `"spec":{"parts":[{"id":"x","n":2}],"list":["l","m"],"whole":{"c":"d"}}`), nil},
		{"PATCH", at("v2", "?fieldManager=b"), applyPatch, object("v2", `"spec":{"parts":[{"id":"x","m":1}],"size":4}`), nil},
		{"PATCH", at("v1", "/status?fieldManager=s"), applyPatch, object("v1", `"status":{"phase":"B"},"spec":{"color":"blue"}`), nil},
		{"PATCH", at("v1", "/status?fieldManager=t"), applyPatch, object("v1", `"status":{"phase":"C"}`), nil},
		{"PATCH", at("v1", "/status?fieldManager=t&force=true"), applyPatch, object("v1", `"status":{"phase":"C"}`), nil},
		{"PATCH", at("v1", "/status?fieldManager=u"), mergePatch, `{"metadata":{"labels":{"a":"b"}},"status":{"n":1},"spec":{"color":"green"}}`, nil},
		{"PATCH", at("v1", "?fieldManager=u"), mergePatch, `{"spec":{"color":"green","none":null,"list":null},"status":{"phase":"D"}}`, nil},
		{"PATCH", at("v1", "?fieldManager=a"), applyPatch, object("v1", `"spec":{"color":"red","parts":[{"id":"x","n":1},{"id":"x"}]}`), nil},
		{"PATCH", at("v1", "?fieldManager=a"), applyPatch, object("v1", `"spec":{"color":7}`), nil},
		{"PATCH", at("v1", "?fieldManager=a&force=true"), applyPatch, object("v1", `"spec":{}`), nil},
	}
	var first []string
	namespace := "parity-" + rand.String(6)
	eachSideWith(t, apitest.Options{ManagedFields: true, CheckSchemas: true}, func(t *testing.T, s side) {
		a := newRequester(t, s, namespace)
		a.send(parityRequest{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", defined, ""})
		a.eventually(parityRequest{"POST", "/apis/parity.example.com/v1/namespaces/{ns}/owneds", strings.Replace(object("v1", `"spec":{}`), `"o"`, `"first"`, 1), ""})
		a.eventually(parityRequest{"POST", "/apis/parity.example.com/v2/namespaces/{ns}/owneds", strings.Replace(object("v2", `"spec":{}`), `"o"`, `"second"`, 1), ""})
		var responses []string
		for _, r := range requests {
			responses = append(responses, fmt.Sprintf("%s %s %s\n\t%s", r.method, r.path, r.body, a.sendForOwners(r)))
		}
		responses = append(responses,
			a.send(parityRequest{"GET", at("v1", ""), "", "spec status metadata.labels"}),
			a.send(parityRequest{"POST", "/apis/parity.example.com/v1/namespaces/{ns}/owneds", strings.Replace(object("v1", `"spec":{"color":null,"size":null,"none":null,"parts":[{"id":"x","n":null}],"whole":{"a":null}}`), `"o"`, `"null"`, 1), "spec"}),
			a.send(parityRequest{"PATCH", "/apis/parity.example.com/v1/namespaces/{ns}/owneds/null", `{"metadata":{"unheard":"of"}}`, "metadata.unheard"}),
			a.send(parityRequest{"PATCH", "/apis/parity.example.com/v1/namespaces/{ns}/owneds/null?fieldValidation=strict", `{"spec":{"color":"red"}}`, "spec"}))
		a.send(parityRequest{"DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/owneds.parity.example.com", "", ""})
		if first == nil {
			first = responses
			return
		}
		require.Equal(t, strings.Join(first, "\n"), strings.Join(responses, "\n"))
	})
}

// TestParityOfApplyOfAGoType applies deployments in which a Go program has set only the replicas.
// The JSON of such a deployment also has other fields, and the test applies it with them and
// without them.
func TestParityOfApplyOfAGoType(t *testing.T) {
	const at = "/apis/apps/v1/namespaces/{ns}/deployments/d?fieldManager="
	object := func(spec string) string {
		return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":` + spec + `}`
	}
	requireSameOwners(t, apitest.Options{},
		ownersRequest{"PATCH", at + "creator", applyPatch, object(`{"selector":{"matchLabels":{"app":"d"}},"strategy":{"type":"Recreate"},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}}`), nil},
		ownersRequest{"PATCH", at + "a&force=true", applyPatch, object(`{"replicas":3,"strategy":{},"template":{"metadata":{},"spec":{}}}`), nil},
		ownersRequest{"PATCH", at + "a&force=true", applyPatch, object(`{"replicas":3}`), nil},
	)
}

// TestParityOfImpersonation compares the identity of a user who impersonates another user.
func TestParityOfImpersonation(t *testing.T) {
	const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	var requests []ownersRequest
	for _, headers := range [][]string{
		{"Impersonate-User", "eve"},
		{"Impersonate-User", "eve", "Impersonate-Group", "dev", "Impersonate-Group", "ops"},
		{"Impersonate-User", "eve", "Impersonate-Group", "system:authenticated"},
		{"Impersonate-User", "system:serviceaccount:a:robot"},
		{"Impersonate-User", "system:serviceaccount:a:robot", "Impersonate-Group", "dev"},
		{"Impersonate-User", "system:serviceaccount:A:robot"},
		{"Impersonate-User", "system:serviceaccount:a:b:c"},
		{"Impersonate-User", "system:serviceaccount:a"},
		{"Impersonate-User", "eve", "Impersonate-Uid", "7", "Impersonate-Extra-Example.com%2fScope", "all", "Impersonate-Extra-x", "y", "Impersonate-Extra-x", "z"},
	} {
		requests = append(requests, ownersRequest{"POST", reviews, plainJSON, `{}`, headers})
	}
	requireSameOwners(t, apitest.Options{}, requests...)

	client := func(s side) *http.Client {
		client, err := clientrest.HTTPClientFor(s.config)
		require.NoError(t, err)
		t.Cleanup(client.CloseIdleConnections)
		return client
	}
	eachSide(t, func(t *testing.T, s side) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.config.Host+reviews, strings.NewReader(`{}`))
		require.NoError(t, err)
		req.Header.Set("Impersonate-Group", "dev")
		resp, err := client(s).Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 400, resp.StatusCode)
	})
}

// TestParityOfDeletionByDefault compares what the deletion of an owner does to owned objects, for
// each type of owner and each propagation policy. The empty policy stands for the type's default.
func TestParityOfDeletionByDefault(t *testing.T) {
	const template = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Always","containers":[{"name":"c","image":"example.com/c"}]}}`
	var requests []ownersRequest
	for path, spec := range map[string]string{
		"/api/v1/namespaces/{ns}/replicationcontrollers": `{"selector":{"a":"b"},` + template + `}`,
		"/apis/apps/v1/namespaces/{ns}/replicasets":      `{"selector":{"matchLabels":{"a":"b"}},` + template + `}`,
		"/apis/apps/v1/namespaces/{ns}/deployments":      `{"selector":{"matchLabels":{"a":"b"}},` + template + `}`,
		"/apis/apps/v1/namespaces/{ns}/daemonsets":       `{"selector":{"matchLabels":{"a":"b"}},` + template + `}`,
		"/apis/apps/v1/namespaces/{ns}/statefulsets":     `{"serviceName":"s","selector":{"matchLabels":{"a":"b"}},` + template + `}`,
		"/apis/batch/v1/namespaces/{ns}/jobs":            strings.ReplaceAll(`{`+template+`}`, "Always", "Never"),
		"/apis/batch/v1/namespaces/{ns}/cronjobs":        `{"schedule":"* * * * *","jobTemplate":{"spec":` + strings.ReplaceAll(`{`+template+`}`, "Always", "Never") + `}}`,
	} {
		for _, policy := range []string{"", "Background", "Orphan", "Foreground", "None"} {
			requests = append(requests,
				ownersRequest{"POST", path + "?fieldManager=creator", plainJSON, `{"metadata":{"name":"x` + strings.ToLower(policy) + `","finalizers":["example.com/f"]},"spec":` + spec + `}`, nil},
				ownersRequest{"DELETE", path + "/x" + strings.ToLower(policy) + strings.TrimSuffix("?propagationPolicy="+policy, "?propagationPolicy="), plainJSON, "", nil})
		}
	}
	slices.SortStableFunc(requests, func(a, b ownersRequest) int { return strings.Compare(b.method, a.method) })
	requireSameOwners(t, apitest.Options{GarbageCollection: true}, requests...)
}
