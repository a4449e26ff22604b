package apitest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"

	"github.com/kinform/kinform/apitest"
)

func TestNamesFollowTheRulesOfTheirTypes(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	long := strings.Repeat("a", 64)
	for path, names := range map[string]struct{ good, bad []string }{
		"/api/v1/namespaces/a/pods":                                      {[]string{"a.b", "1a", long}, []string{"A", "a_b", "-a", "a..b", ""}},
		"/api/v1/namespaces":                                             {[]string{"a-b", "1a"}, []string{"a.b", long}},
		"/api/v1/namespaces/a/services":                                  {[]string{"1a"}, []string{"a.b", long}},
		"/apis/apps/v1/namespaces/a/statefulsets":                        {[]string{"a"}, []string{"a.b", long}},
		"/apis/batch/v1/namespaces/a/cronjobs":                           {[]string{long[:52]}, []string{long[:53]}},
		"/apis/rbac.authorization.k8s.io/v1/clusterroles":                {[]string{"system:A_b c"}, []string{"a/b", "a%", ".."}},
		"/apis/networking.k8s.io/v1/ipaddresses":                         {[]string{"192.0.2.1", "2001:db8::1"}, []string{"a", "2001:DB8::1", "192.0.2.01"}},
		"/apis/certificates.k8s.io/v1/clustertrustbundles":               {[]string{"a", "example.com:s:a"}, []string{"A", "example.com:A"}},
		"/apis/example.com/v1/namespaces/a/widgets":                      {[]string{"a.b"}, []string{"A", "a_b"}},
		"/apis/coordination.k8s.io/v1beta1/namespaces/a/leasecandidates": {[]string{"A_b"}, []string{"a b"}},
	} {
		body := func(name string) string {
			kind := ""
			if strings.Contains(path, "example.com") {
				kind = `"apiVersion":"example.com/v1","kind":"Widget",`
			}
			return `{` + kind + `"metadata":{"name":"` + name + `"}}`
		}
		for _, name := range names.good {
			c.do(t, http.StatusCreated, "POST", path, body(name))
		}
		for _, name := range names.bad {
			status := c.fails(t, http.StatusUnprocessableEntity, "POST", path, body(name))
			require.Equal(t, "metadata.name", status.Details.Causes[0].Field, "%s %q", path, name)
		}
	}
}

func TestMetadataIsChecked(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p"))
	for field, meta := range map[string]string{
		"metadata.labels":          `"labels":{"a":"-"}`,
		"metadata.annotations":     `"annotations":{"a b":"c"}`,
		"metadata.finalizers[0]":   `"finalizers":["nothing"]`,
		"metadata.ownerReferences": `"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true},{"apiVersion":"v1","kind":"Pod","name":"q","uid":"v","controller":true}]`,
	} {
		created := c.fails(t, http.StatusUnprocessableEntity, "POST", podsPath, `{"metadata":{"name":"q",`+meta+`}}`)
		require.Equal(t, field, created.Details.Causes[0].Field)
		patched := c.fails(t, http.StatusUnprocessableEntity, "PATCH", podsPath+"/p", `{"metadata":{`+meta+`}}`, "Content-Type", mergePatch)
		require.Equal(t, field, patched.Details.Causes[0].Field)
	}
	create(t, srv, &corev1.Namespace{ObjectMeta: pod("", "n").ObjectMeta})
	require.Equal(t, "n", get[corev1.Namespace](t, c, "/api/v1/namespaces/n").Labels[corev1.LabelMetadataName])
}

func TestGeneratedNamesFit(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	made := decode[corev1.Pod](t, c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"generateName":"`+strings.Repeat("a", 80)+`"}}`))
	require.Len(t, made.Name, 63)
	both := `{"metadata":{"name":"both","generateName":"both-"}}`
	c.do(t, http.StatusCreated, "POST", podsPath, both)
	for _, path := range []string{podsPath, podsPath + "?dryRun=All"} {
		status := c.fails(t, http.StatusConflict, "POST", path, both)
		require.Equal(t, `pods "both" already exists, the server was not able to generate a unique name for the object`, status.Message)
		require.EqualValues(t, 1, status.Details.RetryAfterSeconds)
	}
}

func TestEventsOfBothAPIsAreTheSame(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	const core, events = "/api/v1/namespaces/a/events", "/apis/events.k8s.io/v1/namespaces/a/events"
	create(t, srv, &corev1.Event{ObjectMeta: pod("a", "x").ObjectMeta, Message: "m", Source: corev1.EventSource{Component: "c"},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "p"}, Series: &corev1.EventSeries{Count: 2}})
	create(t, srv, &eventsv1.Event{ObjectMeta: pod("a", "y").ObjectMeta, Note: "n", ReportingController: "c",
		Regarding: corev1.ObjectReference{Kind: "Pod", Name: "p"}, Series: &eventsv1.EventSeries{Count: 3}})
	x := get[eventsv1.Event](t, c, events+"/x")
	require.Equal(t, "m 2 c", strings.Join([]string{x.Note, string('0' + x.Series.Count), x.DeprecatedSource.Component}, " "))
	y := get[corev1.Event](t, c, core+"/y")
	require.Equal(t, "n 3 c", strings.Join([]string{y.Message, string('0' + y.Series.Count), y.ReportingController}, " "))
	for path, fields := range map[string]string{core: "involvedObject.name=p,source=c", events: "regarding.name=p"} {
		require.Equal(t, []string{"a/x", "a/y"}, names(get[corev1.EventList](t, c, path+"?fieldSelector="+fields).Items))
	}
	objects, _, err := srv.List(eventsv1.SchemeGroupVersion.WithResource("events"), "a")
	require.NoError(t, err)
	require.IsType(t, &eventsv1.Event{}, objects[0])
	c.do(t, http.StatusOK, "DELETE", core+"/y", "")
	c.fails(t, http.StatusNotFound, "GET", events+"/y", "")
}
