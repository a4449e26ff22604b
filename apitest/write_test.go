package apitest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest"
)

const podsPath = "/api/v1/namespaces/a/pods"

// jsonPod returns a pod in the JSON that clients send.
func jsonPod(meta, rest string) string {
	return `{"kind":"Pod","apiVersion":"v1","metadata":{` + meta + `}` + rest + `}`
}

// protoPod returns a pod in the protobuf that clients send.
func protoPod(t *testing.T, p *corev1.Pod) string {
	t.Helper()
	raw, err := p.Marshal()
	require.NoError(t, err)
	body, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: raw}).Marshal()
	require.NoError(t, err)
	return "k8s\x00" + string(body)
}

func TestCreateSetsWhatTheServerSets(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	made := decode[corev1.Pod](t, c.do(t, http.StatusCreated, "POST", podsPath,
		jsonPod(`"name":"p","uid":"mine","deletionTimestamp":"2020-01-01T00:00:00Z"`, `,"spec":{"nodeName":"n"},"status":{"podIP":"1.2.3.4"}`)))
	require.Equal(t, "Pod", made.Kind)
	require.Equal(t, "a", made.Namespace)
	require.Equal(t, "2", made.ResourceVersion)
	require.EqualValues(t, 1, made.Generation)
	require.Len(t, made.UID, 36)
	require.WithinDuration(t, time.Now(), made.CreationTimestamp.Time, time.Minute)
	require.Nil(t, made.DeletionTimestamp)
	require.Equal(t, "n", made.Spec.NodeName)
	require.Equal(t, corev1.PodStatus{Phase: corev1.PodPending}, made.Status, "a create must ignore the client's status")

	stored, err := srv.Get(pods, key("a", "p"))
	require.NoError(t, err)
	stored.GetObjectKind().SetGroupVersionKind(made.GroupVersionKind())
	require.Equal(t, &made, stored)
	require.Equal(t, made, get[corev1.Pod](t, c, podsPath+"/p"))
}

func TestCreateInProtobuf(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	_, kind, raw := envelope(t, c.do(t, http.StatusCreated, "POST", podsPath, protoPod(t, pod("", "p", "app", "web")),
		"Content-Type", protoType, "Accept", protoType))
	require.Equal(t, "Pod", kind)
	var made corev1.Pod
	require.NoError(t, made.Unmarshal(raw))
	require.Equal(t, "web", made.Labels["app"])
	require.Equal(t, "a", made.Namespace)

	c.fails(t, http.StatusBadRequest, "POST", podsPath, `{"kind":"Pod"}`, "Content-Type", protoType)
	c.fails(t, http.StatusBadRequest, "POST", podsPath, "k8s\x00\xff\xff", "Content-Type", protoType)
	c.fails(t, http.StatusBadRequest, "POST", "/api/v1/nodes", protoPod(t, pod("", "p")), "Content-Type", protoType)
}

func TestInvalidCreates(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	create(t, srv, pod("a", "p"))
	version := srv.ResourceVersion()
	const strict = podsPath + "?fieldValidation=Strict"
	for _, test := range []struct {
		code               int
		reason             metav1.StatusReason
		path, body, header string
	}{
		{409, metav1.StatusReasonAlreadyExists, podsPath, jsonPod(`"name":"p"`, ""), jsonType},
		{409, metav1.StatusReasonAlreadyExists, podsPath + "?dryRun=All", jsonPod(`"name":"p"`, ""), jsonType},
		{422, metav1.StatusReasonInvalid, podsPath, jsonPod("", ""), jsonType},
		{422, metav1.StatusReasonInvalid, podsPath, jsonPod(`"name":"a/b"`, ""), jsonType},
		{400, metav1.StatusReasonBadRequest, podsPath, jsonPod(`"name":"q","namespace":"b"`, ""), jsonType},
		{400, metav1.StatusReasonBadRequest, podsPath, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"q"}}`, jsonType},
		{400, metav1.StatusReasonBadRequest, podsPath, `{"kind":`, jsonType},
		{400, metav1.StatusReasonBadRequest, podsPath, jsonPod(`"name":"q","labels":7`, ""), jsonType},
		{400, metav1.StatusReasonBadRequest, strict, jsonPod(`"name":"q"`, `,"spec":{"nodename":"n"}`), jsonType},
		{415, metav1.StatusReasonUnsupportedMediaType, podsPath, "kind: Pod", "text/plain"},
		{415, metav1.StatusReasonUnsupportedMediaType, "/apis/example.com/v1/namespaces/a/widgets", "k8s", protoType},
		{400, metav1.StatusReasonBadRequest, "/apis/example.com/v1/namespaces/a/widgets", `{"metadata":{"name":"w"}}`, jsonType},
		{400, metav1.StatusReasonBadRequest, "/apis/example.com/v1/namespaces/a/widgets", `null`, jsonType},
		{413, metav1.StatusReasonRequestEntityTooLarge, podsPath, strings.Repeat(" ", 4<<20), jsonType},
		{500, "", podsPath, jsonPod(`"name":"q","resourceVersion":"1"`, ""), jsonType},
		{405, metav1.StatusReasonMethodNotAllowed, "/api/v1/pods", jsonPod(`"name":"q"`, ""), jsonType},
	} {
		status := c.fails(t, test.code, "POST", test.path, test.body, "Content-Type", test.header)
		require.Equal(t, test.reason, status.Reason, "%+v", test)
		require.NotEmpty(t, status.Message)
	}
	require.Equal(t, version, srv.ResourceVersion(), "a refused write must not change the version")

	status := c.fails(t, 409, "POST", podsPath, jsonPod(`"name":"p"`, ""))
	require.Equal(t, `pods "p" already exists`, status.Message)
	require.Equal(t, &metav1.StatusDetails{Name: "p", Kind: "pods"}, status.Details)
}

func TestGeneratedNamesAndUIDsDependOnTheSeed(t *testing.T) {
	t.Parallel()
	make := func(seed uint64) (ids []string) {
		srv, c := start(t, apitest.Options{Seed: seed})
		for range 3 {
			p := decode[corev1.Pod](t, c.do(t, http.StatusCreated, "POST", podsPath, jsonPod(`"generateName":"web-"`, "")))
			require.Regexp(t, "^web-[a-z0-9]{5}$", p.Name)
			require.Regexp(t, "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", string(p.UID))
			ids = append(ids, p.Name, string(p.UID))
		}
		require.Equal(t, "4", srv.ResourceVersion())
		return ids
	}
	require.Equal(t, make(1), make(1))
	require.NotEqual(t, make(1), make(2))
}

func TestUpdateIsOptimistic(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p"))
	put := func(meta string) corev1.Pod {
		return decode[corev1.Pod](t, c.do(t, http.StatusOK, "PUT", podsPath+"/p", jsonPod(`"name":"p",`+meta, `,"spec":{"nodeName":"n"}`)))
	}
	updated := put(`"resourceVersion":"2","labels":{"n":"1"}`)
	require.Equal(t, "3", updated.ResourceVersion)
	require.EqualValues(t, 2, updated.Generation, "a new spec must increase the generation")

	status := c.fails(t, http.StatusConflict, "PUT", podsPath+"/p", jsonPod(`"name":"p","resourceVersion":"2"`, ""))
	require.Equal(t, metav1.StatusReasonConflict, status.Reason)
	require.Equal(t, `Operation cannot be fulfilled on pods "p": the object has been modified; please apply your changes to the latest version and try again`, status.Message)

	again := put(`"labels":{"n":"2"}`)
	require.Equal(t, "4", again.ResourceVersion, "an update without a version must be unconditional")
	require.EqualValues(t, 2, again.Generation, "labels must not change the generation")
	require.Equal(t, updated.UID, again.UID)
	require.Equal(t, updated.CreationTimestamp, again.CreationTimestamp)

	require.Equal(t, "4", put(`"labels":{"n":"2"}`).ResourceVersion, "an update without changes must not write")

	c.fails(t, http.StatusConflict, "PUT", podsPath+"/p", jsonPod(`"name":"p","uid":"other"`, ""))
	c.fails(t, http.StatusBadRequest, "PUT", podsPath+"/p", jsonPod(`"name":"q"`, ""))
	status = c.fails(t, http.StatusNotFound, "PUT", podsPath+"/q", jsonPod(`"name":"q"`, ""))
	require.Equal(t, &metav1.StatusDetails{Name: "q", Kind: "pods"}, status.Details)
	require.Equal(t, `pods "q" not found`, status.Message)
}

func TestStatusAndSpecAreWrittenSeparately(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets, {Group: "example.com", Version: "v1", Plural: "plains", Kind: "Plain"}}})
	p := pod("a", "p")
	p.Status.Phase = corev1.PodRunning
	create(t, srv, p, widget("a", "w", "red"))

	const both = `,"spec":{"nodeName":"n","color":"blue"},"status":{"phase":"Failed"}`
	got := decode[corev1.Pod](t, c.do(t, http.StatusOK, "PUT", podsPath+"/p", jsonPod(`"name":"p"`, both)))
	require.Equal(t, "n Running", got.Spec.NodeName+" "+string(got.Status.Phase))
	got = decode[corev1.Pod](t, c.do(t, http.StatusOK, "PUT", podsPath+"/p/status", jsonPod(`"name":"p","labels":{"x":"y"}`, `,"status":{"phase":"Failed"}`)))
	require.Equal(t, "n Failed", got.Spec.NodeName+" "+string(got.Status.Phase))
	require.Empty(t, got.Labels)
	require.EqualValues(t, 2, got.Generation, "the status must not change the generation")
	require.Equal(t, got, get[corev1.Pod](t, c, podsPath+"/p/status"))
	c.fails(t, http.StatusConflict, "PUT", podsPath+"/p/status", jsonPod(`"name":"p","resourceVersion":"2"`, ""))

	type object = map[string]any
	const widgetsPath = "/apis/example.com/v1/namespaces/a/widgets"
	custom := func(path, kind string) object {
		meta := `"metadata":{"name":"w","resourceVersion":"` + get[metav1.PartialObjectMetadata](t, c, widgetsPath+"/w").ResourceVersion + `"}`
		return decode[object](t, c.do(t, http.StatusOK, "PUT", widgetsPath+path, `{"kind":"`+kind+`","apiVersion":"example.com/v1",`+meta+both+`}`))
	}
	// without a version
	c.fails(t, http.StatusUnprocessableEntity, "PUT", widgetsPath+"/w", `{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"w"}}`)
	w := custom("/w", "Widget")
	require.Equal(t, "blue", w["spec"].(object)["color"])
	require.NotContains(t, w, "status")
	w = custom("/w/status", "Widget")
	require.Equal(t, object{"phase": "Failed"}, w["status"])
	require.EqualValues(t, 2, w["metadata"].(object)["generation"])

	c.fails(t, http.StatusNotFound, "GET", "/apis/example.com/v1/namespaces/a/plains/w/status", "")
	c.fails(t, http.StatusNotFound, "GET", podsPath+"/p/log", "")
	c.fails(t, http.StatusMethodNotAllowed, "POST", podsPath+"/p", "")
	c.fails(t, http.StatusMethodNotAllowed, "PUT", podsPath, "")
	c.fails(t, http.StatusMethodNotAllowed, "DELETE", podsPath+"/p/status", "")
}

func TestDryRunWritesNothing(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p"))
	c.do(t, http.StatusCreated, "POST", podsPath+"?dryRun=All", jsonPod(`"name":"q"`, ""))
	c.do(t, http.StatusOK, "PUT", podsPath+"/p?dryRun=All", jsonPod(`"name":"p","labels":{"a":"b"}`, ""))
	c.do(t, http.StatusOK, "PATCH", podsPath+"/p?dryRun=All", `{"metadata":{"labels":{"a":"b"}}}`, "Content-Type", mergePatch)
	c.do(t, http.StatusOK, "DELETE", podsPath+"/p?dryRun=All", "")
	c.do(t, http.StatusOK, "DELETE", podsPath+"/p", `{"dryRun":["All"]}`)
	c.do(t, http.StatusOK, "DELETE", podsPath+"?dryRun=All", "")
	require.Equal(t, "2", srv.ResourceVersion())
}

// An update creates a missing object only if the real server has AllowCreateOnUpdate for the type.
func TestPutCreatesWhatTheRealServerCreates(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	creates := []string{"endpoints", "events", "limitranges", "services", "leases.coordination.k8s.io", "leasecandidates.coordination.k8s.io", "events.events.k8s.io",
		"runtimeclasses.node.k8s.io", "roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io", "clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io"}
	var created []string
	versions := []string{"/api/v1"}
	for _, group := range get[metav1.APIGroupList](t, c, "/apis").Groups {
		for _, version := range group.Versions {
			versions = append(versions, "/apis/"+version.GroupVersion)
		}
	}
	for n, version := range versions {
		for _, r := range get[metav1.APIResourceList](t, c, version).APIResources {
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "update") {
				continue
			}
			gv, path := strings.TrimPrefix(strings.TrimPrefix(version, "/apis/"), "/api/"), version
			if r.Namespaced {
				path += "/namespaces/default"
			}
			name := fmt.Sprint("missing-", n)
			resp := c.send(t, "PUT", path+"/"+r.Name+"/"+name, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"resourceVersion":"1"}}`, gv, r.Kind, name))
			group, _, named := strings.Cut(gv, "/")
			if !named {
				group = ""
			}
			switch resource := (schema.GroupResource{Group: group, Resource: r.Name}).String(); resp.StatusCode {
			case http.StatusCreated:
				created = append(created, resource)
			default:
				require.Equal(t, http.StatusNotFound, resp.StatusCode, resource)
			}
		}
	}
	require.ElementsMatch(t, creates, created)
}

func TestCreateByPut(t *testing.T) {
	t.Parallel()
	const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	srv, c := start(t, apitest.Options{ManagedFields: true})
	before := srv.ResourceVersion()
	c.do(t, http.StatusCreated, "PUT", leases+"/l?dryRun=All", `{"metadata":{"name":"l"}}`)
	require.Equal(t, before, srv.ResourceVersion())
	status := c.fails(t, http.StatusConflict, "PUT", leases+"/l", `{"metadata":{"name":"l","uid":"gone","resourceVersion":"7"}}`)
	require.Contains(t, status.Message, "UID in precondition: gone, UID in object meta: ", "the error must say that the object with this UID is gone")
	made := decode[coordinationv1.Lease](t, c.do(t, http.StatusCreated, "PUT", leases+"/l", `{"metadata":{"name":"l","resourceVersion":"7"},"spec":{"holderIdentity":"a"}}`))
	require.NotEmpty(t, made.UID)
	require.NotEmpty(t, made.CreationTimestamp)
	require.NotEqual(t, "7", made.ResourceVersion)
	require.Len(t, made.ManagedFields, 1)
	c.do(t, http.StatusOK, "PUT", leases+"/l", `{"metadata":{"name":"l"},"spec":{"holderIdentity":"b"}}`)
	c.fails(t, http.StatusBadRequest, "PUT", leases+"/m", `{"metadata":{"name":"l"}}`)
	c.fails(t, http.StatusNotFound, "PATCH", leases+"/m", `{"spec":{"holderIdentity":"b"}}`, "Content-Type", mergePatch)
	c.fails(t, http.StatusUnprocessableEntity, "PUT", leases+"/NO", `{"metadata":{"name":"NO"}}`)
	service := decode[corev1.Service](t, c.do(t, http.StatusCreated, "PUT", "/api/v1/namespaces/default/services/s", `{"metadata":{"name":"s"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`))
	require.Empty(t, service.Status, "the status must be empty, as after a create")
	c.fails(t, http.StatusNotFound, "PUT", "/api/v1/namespaces/default/services/other/status", `{"metadata":{"name":"other"}}`)
}

// A repeated owner reference is stored once, and the response has a warning.
func TestDuplicateOwnerReferencesAreDropped(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	const one, two = `{"apiVersion":"v1","kind":"Pod","name":"o","uid":"1"}`, `{"apiVersion":"v1","kind":"Pod","name":"o","uid":"1","controller":true}`
	const path = "/api/v1/namespaces/default/configmaps"
	body := func(refs string) string { return `{"metadata":{"name":"c","ownerReferences":[` + refs + `]}}` }
	for _, write := range []struct{ method, path, body, when string }{
		{"POST", path, body(one + "," + one), ""},
		{"PUT", path + "/c", body(one + "," + two + "," + one + "," + one), ""},
		{"PATCH", path + "/c", body(one + "," + one), " after mutating admission happens"},
	} {
		media := jsonType
		if write.method == "PATCH" {
			media = mergePatch
		}
		answer := c.send(t, write.method, write.path, write.body, "Content-Type", media)
		var stored corev1.ConfigMap
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&stored))
		want := 1
		if strings.Contains(write.body, two) {
			want = 2 // References that differ in any field are both kept.
		}
		require.Len(t, stored.OwnerReferences, want, write.method)
		require.Contains(t, answer.Header.Get("Warning"), "contains duplicate entries"+write.when+"; API server dedups")
		require.Contains(t, answer.Header.Get("Warning"), "UID(s) observed: 1")
	}
}

func TestConcurrentUpdatesLoseNothing(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p"))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 10 {
				c.do(t, http.StatusOK, "PATCH", podsPath+"/p", fmt.Sprintf(`{"metadata":{"labels":{"l%d-%d":""}}}`, i, n), "Content-Type", mergePatch)
			}
		})
	}
	wg.Wait()
	p := get[corev1.Pod](t, c, podsPath+"/p")
	require.Len(t, p.Labels, 40)
	require.Equal(t, "42", p.ResourceVersion)
}

func TestObjectsAreCopiedInAndOut(t *testing.T) {
	t.Parallel()
	srv, _ := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	for _, obj := range []apitest.Object{pod("a", "p", "app", "web"), widget("a", "w", "red")} {
		obj.SetLabels(map[string]string{"app": "web"})
		made, err := srv.Create(obj)
		require.NoError(t, err)
		obj.GetLabels()["app"] = "changed"
		labels := made.GetLabels()
		labels["app"] = "changed"
		made.SetLabels(labels)

		gvr := pods
		if obj.GetName() == "w" {
			gvr = widgets.GroupVersionResource()
		}
		list, version, err := srv.List(gvr, "")
		require.NoError(t, err)
		require.Equal(t, srv.ResourceVersion(), version)
		require.Equal(t, map[string]string{"app": "web"}, list[0].GetLabels())
	}
	_, err := srv.Create(&metav1.PartialObjectMetadata{})
	require.ErrorContains(t, err, "no resource of kind")
	_, err = srv.Create(pod("", "p"))
	require.ErrorContains(t, err, "needs a namespace")
	_, err = srv.Get(pods.GroupVersion().WithResource("nothings"), key("a", "p"))
	require.ErrorContains(t, err, "is served")
}
