package apitest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kinform/kinform/apitest"
)

func TestListIsTheSameInJSONAndProtobuf(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("b", "y", "app", "web"), pod("a", "z"), pod("b", "x"))

	fromJSON := get[corev1.PodList](t, c, "/api/v1/pods")
	require.Equal(t, "PodList", fromJSON.Kind)
	require.Equal(t, []string{"a/z", "b/x", "b/y"}, names(fromJSON.Items))
	require.Equal(t, srv.ResourceVersion(), fromJSON.ResourceVersion)
	require.Empty(t, fromJSON.Items[0].Kind, "items of typed lists must have no kind")

	apiVersion, kind, raw := envelope(t, c.do(t, http.StatusOK, "GET", "/api/v1/pods", "", "Accept", protoType+","+jsonType))
	require.Equal(t, "v1", apiVersion)
	require.Equal(t, "PodList", kind)
	var fromProto corev1.PodList
	require.NoError(t, fromProto.Unmarshal(raw))
	fromProto.TypeMeta = fromJSON.TypeMeta
	require.Equal(t, fromJSON, fromProto)
}

func TestListHasTheKeyOrderOfARealServer(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	create(t, srv, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x"}}, widget("a", "x", "red"))

	typed := string(c.do(t, http.StatusOK, "GET", "/api/v1/configmaps", ""))
	require.Regexp(t, `^\{"kind":"ConfigMapList","apiVersion":"v1","metadata":\{"resourceVersion":"3"\},"items":\[\{"metadata":.*\]\}\n$`, typed)

	custom := string(c.do(t, http.StatusOK, "GET", "/apis/example.com/v1/widgets", "", "Accept", protoType+", "+jsonType))
	require.Regexp(t, `^\{"apiVersion":"example.com/v1","items":\[\{"apiVersion":"example.com/v1","kind":"Widget",.*\],`+
		`"kind":"WidgetList","metadata":\{"continue":"","resourceVersion":"3"\}\}\n$`, custom)
	require.True(t, json.Valid([]byte(custom)))

	require.JSONEq(t, `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"3"},"items":[]}`,
		string(c.do(t, http.StatusOK, "GET", "/api/v1/nodes", "")))
}

func TestListIsNarrowedByNamespaceAndSelectors(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	onNode := pod("a", "q", "app", "db")
	onNode.Spec.NodeName = "n1"
	onNode.Status.Phase = corev1.PodRunning
	create(t, srv, pod("a", "p", "app", "web"), onNode, pod("b", "p"), widget("a", "w1", "red"), widget("b", "w2", "blue"))

	for query, want := range map[string][]string{
		"/api/v1/pods":                                                        {"a/p", "a/q", "b/p"},
		"/api/v1/pods?labelSelector=app%3Dweb":                                {"a/p"},
		"/api/v1/pods?labelSelector=app":                                      {"a/p", "a/q"},
		"/api/v1/pods?labelSelector=app+notin+(web)":                          {"a/q", "b/p"},
		"/api/v1/pods?fieldSelector=metadata.name%3Dp":                        {"a/p", "b/p"},
		"/api/v1/pods?fieldSelector=metadata.namespace%3Db":                   {"b/p"},
		"/api/v1/pods?fieldSelector=spec.nodeName%3Dn1":                       {"a/q"},
		"/api/v1/pods?fieldSelector=status.phase%3DRunning,metadata.name%3Dq": {"a/q"},
		"/api/v1/pods?fieldSelector=status.phase!%3DRunning":                  {"a/p", "b/p"},
		"/api/v1/namespaces/a/pods":                                           {"a/p", "a/q"},
		"/api/v1/namespaces/a/pods?labelSelector=app%3Ddb":                    {"a/q"},
		"/api/v1/namespaces/none/pods":                                        {},
		"/apis/example.com/v1/widgets?fieldSelector=spec.color%3Dred":         {"a/w1"},
		"/apis/example.com/v1/namespaces/b/widgets":                           {"b/w2"},
	} {
		list := get[metav1.PartialObjectMetadataList](t, c, query)
		require.Equal(t, want, names(list.Items), query)
	}
	for _, query := range []string{
		"/api/v1/pods?fieldSelector=spec.image%3Dx", "/api/v1/pods?labelSelector=%3D%3D", "/api/v1/pods?fieldSelector=a",
		"/api/v1/nodes?fieldSelector=metadata.namespace%3Dx", "/apis/example.com/v1/widgets?fieldSelector=spec.size%3D1",
	} {
		status := c.fails(t, http.StatusBadRequest, "GET", query, "")
		require.Equal(t, metav1.StatusReasonBadRequest, status.Reason)
	}
	require.Contains(t, c.fails(t, 400, "GET", "/api/v1/pods?fieldSelector=spec.image%3Dx", "").Message, "field label not supported: spec.image")
}

// pages lists all objects in pages of this size, and returns the pages. It calls the function
// between after each page.
func pages(t *testing.T, c *client, size int, between func(page int)) (all []metav1.PartialObjectMetadataList) {
	t.Helper()
	token := ""
	for page := 0; ; page++ {
		list := get[metav1.PartialObjectMetadataList](t, c, fmt.Sprintf("/api/v1/pods?limit=%d&continue=%s", size, url.QueryEscape(token)))
		all = append(all, list)
		if token = list.Continue; token == "" {
			return all
		}
		between(page)
	}
}

func TestPagesShowTheStateOfTheFirstOne(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	var want []string
	for i := range 10 {
		create(t, srv, pod("a", fmt.Sprintf("p%d", i)))
		want = append(want, fmt.Sprintf("a/p%d", i))
	}
	version := srv.ResourceVersion()
	lists := pages(t, c, 3, func(page int) {
		// Each side of the position gets a new, a deleted and a changed object.
		create(t, srv, pod("a", fmt.Sprintf("p0-new-%d", page)), pod("a", fmt.Sprintf("p9-new-%d", page)))
		require.NoError(t, srv.Delete(pods, key("a", fmt.Sprintf("p%d", 8-page))))
		_, err := srv.Update(pod("a", "p9", "page", fmt.Sprint(page)))
		require.NoError(t, err)
	})
	var got []string
	for i, list := range lists {
		require.Equal(t, version, list.ResourceVersion)
		got = append(got, names(list.Items)...)
		if i < 3 {
			require.EqualValues(t, 10-3*(i+1), *list.RemainingItemCount)
		} else {
			require.Nil(t, list.RemainingItemCount)
			require.Empty(t, list.Items[0].Labels, "the last page must have the old state of p9")
		}
	}
	require.Equal(t, want, got)
}

func TestExpiredPageIs410WithATokenForAnInconsistentList(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p1"), pod("a", "p2"), pod("a", "p3"))
	first := get[corev1.PodList](t, c, "/api/v1/pods?limit=1")
	create(t, srv, pod("a", "p4"))
	srv.Compact()

	status := c.fails(t, http.StatusGone, "GET", "/api/v1/pods?limit=2&continue="+first.Continue, "")
	require.Equal(t, metav1.StatusReasonExpired, status.Reason)
	rest := get[corev1.PodList](t, c, "/api/v1/pods?limit=2&continue="+status.Continue)
	require.Equal(t, []string{"a/p2", "a/p3"}, names(rest.Items))
	require.Equal(t, srv.ResourceVersion(), rest.ResourceVersion)
	rest = get[corev1.PodList](t, c, "/api/v1/pods?limit=2&continue="+rest.Continue)
	require.Equal(t, []string{"a/p4"}, names(rest.Items))

	c.fails(t, http.StatusBadRequest, "GET", "/api/v1/pods?continue=%21", "")
	c.fails(t, http.StatusBadRequest, "GET", "/api/v1/pods?resourceVersion=1&continue="+first.Continue, "")
}

func TestListAtAVersion(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p1"), pod("a", "p2")) // versions 2 and 3
	require.NoError(t, srv.Delete(pods, key("a", "p1")))

	for query, want := range map[string]string{
		"":                  "4 [a/p2]",
		"resourceVersion=0": "4 [a/p2]",
		"resourceVersion=2": "4 [a/p2]",
		"resourceVersion=2&resourceVersionMatch=NotOlderThan": "4 [a/p2]",
		"resourceVersion=3&resourceVersionMatch=Exact":        "3 [a/p1 a/p2]",
		"resourceVersion=2&resourceVersionMatch=Exact":        "2 [a/p1]",
		"resourceVersion=1&resourceVersionMatch=Exact":        "1 []",
		"limit=-1":                  "4 [a/p2]",
		"resourceVersion=3&limit=5": "3 [a/p1 a/p2]",
		"resourceVersion=3&limit=5&resourceVersionMatch=NotOlderThan": "4 [a/p2]",
	} {
		list := get[corev1.PodList](t, c, "/api/v1/pods?"+query)
		require.Equal(t, want, fmt.Sprint(list.ResourceVersion, " ", names(list.Items)), query)
	}

	status := c.fails(t, http.StatusGatewayTimeout, "GET", "/api/v1/pods?resourceVersion=99", "")
	require.Equal(t, metav1.StatusReasonTimeout, status.Reason)
	require.Equal(t, metav1.CauseTypeResourceVersionTooLarge, status.Details.Causes[0].Type)
	require.EqualValues(t, 1, status.Details.RetryAfterSeconds)

	for _, query := range []string{
		"resourceVersionMatch=Exact", "resourceVersion=0&resourceVersionMatch=Exact", "resourceVersion=1&resourceVersionMatch=Older", "sendInitialEvents=true",
	} {
		require.Equal(t, metav1.StatusReasonInvalid, c.fails(t, http.StatusUnprocessableEntity, "GET", "/api/v1/pods?"+query, "").Reason)
	}
	for _, query := range []string{"resourceVersion=x", "limit=x"} {
		c.fails(t, http.StatusBadRequest, "GET", "/api/v1/pods?"+query, "")
	}

	srv.Compact()
	require.Equal(t, metav1.StatusReasonExpired, c.fails(t, http.StatusGone, "GET", "/api/v1/pods?resourceVersion=3&resourceVersionMatch=Exact", "").Reason)
}

func TestLimitAtVersionZeroIsOptional(t *testing.T) {
	t.Parallel()
	for paged, want := range map[bool]int{false: 3, true: 2} {
		srv, c := start(t, apitest.Options{PagedCacheLists: paged})
		create(t, srv, pod("a", "p1"), pod("a", "p2"), pod("a", "p3"))
		require.Len(t, get[corev1.PodList](t, c, "/api/v1/pods?resourceVersion=0&limit=2").Items, want)
	}
}

func TestMetadataOnly(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	create(t, srv, pod("a", "p", "app", "web"), widget("a", "w", "red"))
	const as = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	for path, name := range map[string]string{"/api/v1/pods": "a/p", "/apis/example.com/v1/widgets": "a/w"} {
		list := get[metav1.PartialObjectMetadataList](t, c, path, "Accept", jsonType+as)
		require.Equal(t, metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}, list.TypeMeta)
		require.Equal(t, []string{name}, names(list.Items))
		require.Equal(t, "PartialObjectMetadata", list.Items[0].Kind)
		require.NotEmpty(t, list.Items[0].UID)

		apiVersion, kind, raw := envelope(t, c.do(t, http.StatusOK, "GET", path, "", "Accept", protoType+as+","+jsonType))
		require.Equal(t, "meta.k8s.io/v1 PartialObjectMetadataList", apiVersion+" "+kind)
		var fromProto metav1.PartialObjectMetadataList
		require.NoError(t, fromProto.Unmarshal(raw))
		fromProto.TypeMeta, fromProto.Items[0].TypeMeta = list.TypeMeta, list.Items[0].TypeMeta
		require.Equal(t, list, fromProto)
	}
	one := get[metav1.PartialObjectMetadata](t, c, "/api/v1/namespaces/a/pods/p", "Accept", jsonType+";as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	require.Equal(t, "PartialObjectMetadata", one.Kind)
}

func TestNegotiation(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	create(t, srv, widget("a", "w", "red"))
	contentType := func(path, accept string) string {
		return c.send(t, "GET", path, "", "Accept", accept).Header.Get("Content-Type")
	}
	const pods, widgets, table = "/api/v1/pods", "/apis/example.com/v1/widgets", jsonType + ";as=Table;g=meta.k8s.io;v=v1"
	require.Equal(t, protoType, contentType(pods, protoType+", "+jsonType))
	require.Equal(t, jsonType, contentType(pods, jsonType+", "+protoType))
	require.Equal(t, jsonType, contentType(pods, "*/*"))
	require.Equal(t, jsonType, contentType(pods, table+","+jsonType))
	require.Equal(t, jsonType, contentType(widgets, protoType+", "+jsonType))
	require.Equal(t, protoType+";stream=watch", contentType(pods+"?watch=1&timeoutSeconds=1", protoType))
	require.Equal(t, jsonType, contentType(pods+"?watch=1&timeoutSeconds=1", jsonType))
	for _, accept := range []string{protoType, "application/yaml", table + "beta1", "nonsense/", jsonType + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1"} {
		require.Equal(t, http.StatusNotAcceptable, c.send(t, "GET", widgets, "", "Accept", accept).StatusCode, accept)
	}

	var list unstructured.UnstructuredList
	require.NoError(t, list.UnmarshalJSON(c.do(t, http.StatusOK, "GET", widgets, "")))
	require.Equal(t, "red", list.Items[0].Object["spec"].(map[string]any)["color"])
}
