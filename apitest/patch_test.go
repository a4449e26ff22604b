package apitest_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
)

const (
	jsonPatch      = "application/json-patch+json"
	mergePatch     = "application/merge-patch+json"
	strategicPatch = "application/strategic-merge-patch+json"
)

func TestPatches(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p", "app", "web"))
	patch := func(contentType, body string) corev1.Pod {
		return decode[corev1.Pod](t, c.do(t, http.StatusOK, "PATCH", podsPath+"/p", body, "Content-Type", contentType))
	}
	p := patch(mergePatch, `{"metadata":{"labels":{"app":null,"tier":"front"}},"status":{"phase":"Failed"}}`)
	require.Equal(t, map[string]string{"tier": "front"}, p.Labels)
	require.Equal(t, "3", p.ResourceVersion)
	require.Empty(t, p.Status.Phase, "a patch of the main resource must not change the status")

	p = patch(jsonPatch, `[{"op":"test","path":"/metadata/labels/tier","value":"front"},{"op":"add","path":"/spec/nodeName","value":"n"}]`)
	require.Equal(t, "n", p.Spec.NodeName)
	require.EqualValues(t, 2, p.Generation)

	p = decode[corev1.Pod](t, c.do(t, http.StatusOK, "PATCH", podsPath+"/p/status", `{"status":{"phase":"Running"},"spec":{"nodeName":"m"}}`, "Content-Type", mergePatch))
	require.Equal(t, "n Running", p.Spec.NodeName+" "+string(p.Status.Phase))

	require.Equal(t, p, patch(mergePatch, `{"metadata":{"resourceVersion":"5"}}`), "a patch with only the current version must change nothing")
	for _, test := range []struct {
		code              int
		contentType, body string
	}{
		{409, mergePatch, `{"metadata":{"resourceVersion":"4","labels":{"x":"y"}}}`},
		{409, mergePatch, `{"metadata":{"uid":"other"}}`},
		{422, jsonPatch, `[{"op":"test","path":"/metadata/labels/tier","value":"back"}]`},
		{422, jsonPatch, `[{"op":"remove","path":"/metadata/nothing"}]`},
		{400, jsonPatch, `{}`},
		{400, mergePatch, `[`},
		{400, mergePatch, `{"metadata":{"name":"q"}}`},
		{400, mergePatch, `{"metadata":{"labels":7}}`},
		{400, strategicPatch, `7`},
		{422, "application/apply-patch+yaml", `{}`},
		{415, jsonType, `{}`},
	} {
		c.fails(t, test.code, "PATCH", podsPath+"/p", test.body, "Content-Type", test.contentType)
	}
	require.Equal(t, metav1.StatusReasonNotFound, c.fails(t, 404, "PATCH", podsPath+"/q", `{}`, "Content-Type", mergePatch).Reason)
	require.Equal(t, "5", srv.ResourceVersion())
}

func TestPatchOfACustomResource(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	create(t, srv, widget("a", "w", "red"))
	const path = "/apis/example.com/v1/namespaces/a/widgets/w"
	w := decode[map[string]any](t, c.do(t, http.StatusOK, "PATCH", path, `{"spec":{"size":3}}`, "Content-Type", mergePatch))
	require.Equal(t, map[string]any{"color": "red", "size": float64(3)}, w["spec"])
	c.fails(t, http.StatusUnsupportedMediaType, "PATCH", path, `{}`, "Content-Type", strategicPatch)
}

// The expected results are the results of strategicpatch in k8s.io/apimachinery v0.37.2 for the
// same patches, plus the fields that the Go types always have.
func TestStrategicMergePatch(t *testing.T) {
	t.Parallel()
	const before = `{"containers":[{"name":"a","image":"1","args":["x"],"env":[{"name":"K","value":"v"}],"resources":{}},{"name":"b","image":"2","resources":{}}],` +
		`"nodeSelector":{"k":"v"},"volumes":[{"name":"v","emptyDir":{}}]}`
	for name, test := range map[string]struct{ patch, want string }{
		"lists are merged by key": {
			`{"containers":[{"name":"b","image":"3"},{"name":"c","image":"4"}]}`,
			`{"containers":[{"name":"a","image":"1","args":["x"],"env":[{"name":"K","value":"v"}],"resources":{}},{"name":"b","image":"3","resources":{}},{"name":"c","image":"4","resources":{}}],` +
				`"nodeSelector":{"k":"v"},"volumes":[{"name":"v","emptyDir":{}}]}`,
		},
		"deep lists too, others are replaced, null deletes": {
			`{"containers":[{"name":"a","args":["y"],"env":[{"name":"L","value":"w"}]}],"nodeSelector":null}`,
			`{"containers":[{"name":"a","image":"1","args":["y"],"env":[{"name":"L","value":"w"},{"name":"K","value":"v"}],"resources":{}},{"name":"b","image":"2","resources":{}}],` +
				`"volumes":[{"name":"v","emptyDir":{}}]}`,
		},
		"elements are deleted, and put in order": {
			`{"$setElementOrder/containers":[{"name":"c"},{"name":"b"}],"containers":[{"name":"c","image":"4"},{"name":"a","$patch":"delete"}]}`,
			`{"containers":[{"name":"c","image":"4","resources":{}},{"name":"b","image":"2","resources":{}}],"nodeSelector":{"k":"v"},"volumes":[{"name":"v","emptyDir":{}}]}`,
		},
		"elements outside of the order keep their places": {
			`{"$setElementOrder/containers":[{"name":"c"},{"name":"b"}],"containers":[{"name":"c","image":"4"}]}`,
			`{"containers":[{"name":"c","image":"4","resources":{}},{"name":"a","image":"1","args":["x"],"env":[{"name":"K","value":"v"}],"resources":{}},{"name":"b","image":"2","resources":{}}],` +
				`"nodeSelector":{"k":"v"},"volumes":[{"name":"v","emptyDir":{}}]}`,
		},
		"the order alone changes": {
			`{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}`,
			`{"containers":[{"name":"b","image":"2","resources":{}},{"name":"a","image":"1","args":["x"],"env":[{"name":"K","value":"v"}],"resources":{}}],` +
				`"nodeSelector":{"k":"v"},"volumes":[{"name":"v","emptyDir":{}}]}`,
		},
		"maps and lists are replaced": {
			`{"nodeSelector":{"$patch":"replace","x":"y"},"containers":[{"name":"z"},{"$patch":"replace"}]}`,
			`{"containers":[{"name":"z","resources":{}}],"nodeSelector":{"x":"y"},"volumes":[{"name":"v","emptyDir":{}}]}`,
		},
		"only some keys are retained": {
			`{"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/"}}]}`,
			`{"containers":[{"name":"a","image":"1","args":["x"],"env":[{"name":"K","value":"v"}],"resources":{}},{"name":"b","image":"2","resources":{}}],` +
				`"nodeSelector":{"k":"v"},"volumes":[{"name":"v","hostPath":{"path":"/"}}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, c := start(t, apitest.Options{})
			p := pod("a", "p")
			require.NoError(t, json.Unmarshal([]byte(before), &p.Spec))
			create(t, srv, p)
			got := decode[corev1.Pod](t, c.do(t, http.StatusOK, "PATCH", podsPath+"/p", `{"spec":`+test.patch+`}`, "Content-Type", strategicPatch))
			spec, err := json.Marshal(got.Spec)
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(spec))
		})
	}
	srv, c := start(t, apitest.Options{})
	p := pod("a", "p")
	p.Finalizers = []string{"x/1", "x/2"}
	create(t, srv, p)
	got := decode[corev1.Pod](t, c.do(t, http.StatusOK, "PATCH", podsPath+"/p",
		`{"metadata":{"finalizers":["x/3"],"$deleteFromPrimitiveList/finalizers":["x/1"]}}`, "Content-Type", strategicPatch))
	require.Equal(t, []string{"x/3", "x/2"}, got.Finalizers)
	got = decode[corev1.Pod](t, c.do(t, http.StatusOK, "PATCH", podsPath+"/p",
		`{"metadata":{"$deleteFromPrimitiveList/finalizers":["x/3"]}}`, "Content-Type", strategicPatch))
	require.Equal(t, []string{"x/2"}, got.Finalizers)
	for _, bad := range []string{`{"spec":{"containers":[7]}}`, `{"spec":{"containers":[{"image":"x"}]}}`, `{"spec":{"$patch":"what"}}`, `{"metadata":{"finalizers":[{"a":1},{"a":1}]}}`} {
		c.fails(t, http.StatusBadRequest, "PATCH", podsPath+"/p", bad, "Content-Type", strategicPatch)
	}
}
