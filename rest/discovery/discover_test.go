package discovery_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
)

// summary formats a resource in one line: its group and version, and its names.
func summary(r discovery.Resource) string {
	preferred := ""
	if r.Preferred {
		preferred = "*"
	}
	return fmt.Sprintf("%s%s %s %s %v %v", r.GVR().GroupVersion(), preferred, r.Plural, r.Kind, r.ShortNames, r.Namespaced)
}

var cannedInOrder = []string{
	"v1* bindings Binding [] true",
	"v1* events Event [ev] true",
	"v1* namespaces Namespace [ns] false",
	"v1* pods Pod [po] true",
	"v1* services Service [svc] true",
	"metrics.k8s.io/v1beta1* nodes NodeMetrics [] false",
	"metrics.k8s.io/v1beta1* pods PodMetrics [] true",
	"apps/v1* deployments Deployment [deploy] true",
	"events.k8s.io/v1* events Event [ev] true",
	"autoscaling/v2* horizontalpodautoscalers HorizontalPodAutoscaler [hpa] true",
	"autoscaling/v1 horizontalpodautoscalers HorizontalPodAutoscaler [hpa] true",
	"networking.k8s.io/v1* ingresses Ingress [ing] true",
	"cert-manager.io/v1* certificates Certificate [cert certs] true",
	"old.example.com/v2* widgets Widget [] true",
	"old.example.com/v1 widgets Widget [] true",
	"old.example.com/v1* gadgets Gadget [] true",
	"new.example.com/v1* gadgets Gadget [] false",
}

func summaries(resources []discovery.Resource) []string {
	var list []string
	for _, r := range resources {
		list = append(list, summary(r))
	}
	return list
}

func TestAggregatedDiscoveryTakesTwoRequests(t *testing.T) {
	t.Parallel()
	s := newServer(t, true, nil)
	resources, err := discovery.Resources(t.Context(), s.client(t))
	require.NoError(t, err)
	require.Equal(t, cannedInOrder, summaries(resources))
	require.Equal(t, []string{"/api", "/apis"}, s.requests())

	pods := resources[3]
	require.Equal(t, "pod", pods.Singular)
	require.Equal(t, []string{"all"}, pods.Categories)
	require.Contains(t, pods.Verbs, "watch")
	require.Equal(t, "nodemetrics", resources[5].Singular, "a missing singular must become the kind in lower case")
}

func TestLegacyEqualsAggregatedDiscovery(t *testing.T) {
	t.Parallel()
	want := canned(t)
	s := newServer(t, false, nil)
	resources, err := discovery.Resources(t.Context(), s.client(t))
	require.NoError(t, err)
	require.Equal(t, want, resources)
	require.Len(t, s.requests(), 13)
}

func TestFallbackToLegacyDiscovery(t *testing.T) {
	t.Parallel()
	old := newServer(t, false, nil)
	refuse := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != "application/json" {
			status(http.StatusNotAcceptable)(w, r)
			return
		}
		old.respond(w, r, false)
	}
	s := newServer(t, false, map[string]http.HandlerFunc{"/api": refuse, "/apis": refuse})
	resources, err := discovery.Resources(t.Context(), s.client(t))
	require.NoError(t, err)
	require.Equal(t, cannedInOrder, summaries(resources))
}

func TestMixedAggregatedAndLegacyRoots(t *testing.T) {
	t.Parallel()
	old := newServer(t, false, nil)
	s := newServer(t, true, map[string]http.HandlerFunc{
		"/apis": func(w http.ResponseWriter, r *http.Request) { old.respond(w, r, false) },
	})
	resources, err := discovery.Resources(t.Context(), s.client(t))
	require.NoError(t, err)
	require.Equal(t, cannedInOrder, summaries(resources))
}

func TestStaleVersionIsReportedAlone(t *testing.T) {
	t.Parallel()
	s := newServer(t, true, map[string]http.HandlerFunc{"/apis": body(`{"kind":"APIGroupDiscoveryList","items":[
		{"metadata":{"name":"metrics.k8s.io"},"versions":[
			{"version":"v1","freshness":"Stale","resources":[{"resource":"pods","responseKind":{"kind":"PodMetrics"},"scope":"Namespaced"}]},
			{"version":"v1beta1","freshness":"Current","resources":[{"resource":"pods","responseKind":{"kind":"PodMetrics"},"scope":"Namespaced"}]}]}]}`)})
	resources, err := discovery.Resources(t.Context(), s.client(t))
	require.ErrorIs(t, err, discovery.ErrStale)
	require.ErrorContains(t, err, "/apis/metrics.k8s.io/v1: ")
	var partial *discovery.Error
	require.ErrorAs(t, err, &partial)
	require.Len(t, partial.Failures, 1)
	require.Equal(t, schema.GroupVersion{Group: "metrics.k8s.io", Version: "v1"}, partial.Failures[0].GroupVersion)

	require.Len(t, resources, 6)
	require.Equal(t, "metrics.k8s.io/v1beta1* pods PodMetrics [] true", summary(resources[5]),
		"the first version that is not stale must be preferred")
}

func TestFailedGroupIsReportedAlone(t *testing.T) {
	t.Parallel()
	s := newServer(t, false, map[string]http.HandlerFunc{
		"/apis/metrics.k8s.io/v1beta1": status(http.StatusServiceUnavailable),
		"/apis/autoscaling/v2":         body(`{"kind":"Surprise"}`),
		"/apis/apps/v1":                body(`{`),
	})
	resources, err := discovery.Resources(t.Context(), s.client(t))
	var partial *discovery.Error
	require.ErrorAs(t, err, &partial)
	require.Len(t, partial.Failures, 3)
	require.Equal(t, "/apis/metrics.k8s.io/v1beta1", partial.Failures[0].Path)
	require.True(t, apierrors.IsServiceUnavailable(partial.Failures[0].Err))
	require.True(t, apierrors.IsServiceUnavailable(err), "predicates must find the reason in the joined error")
	require.ErrorIs(t, partial.Failures[1].Err, rest.ErrMalformed)
	require.ErrorIs(t, partial.Failures[2].Err, rest.ErrMalformed)
	require.Len(t, resources, len(cannedInOrder)-4)
	require.Contains(t, summaries(resources), "autoscaling/v1* horizontalpodautoscalers HorizontalPodAutoscaler [hpa] true",
		"the first version that does not fail must be preferred")
}

func TestFailedRootKeepsTheOtherRoot(t *testing.T) {
	t.Parallel()
	s := newServer(t, true, map[string]http.HandlerFunc{"/apis": status(http.StatusForbidden)})
	resources, err := discovery.Resources(t.Context(), s.client(t))
	require.True(t, apierrors.IsForbidden(err))
	require.Len(t, resources, 5)
}

func TestServerWithoutCoreGroup(t *testing.T) {
	t.Parallel()
	s := newServer(t, true, map[string]http.HandlerFunc{"/api": status(http.StatusNotFound)})
	resources, err := discovery.Resources(t.Context(), s.client(t))
	require.NoError(t, err)
	require.Equal(t, cannedInOrder[5:], summaries(resources))
}

func TestNonAPIServerIsAnError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer http.HandlerFunc
	}{
		{"404", status(http.StatusNotFound)},
		{"HTML", body("<html>welcome</html>")},
		{"another document", body(`{"kind":"Welcome"}`)},
		{"a number", body("1")},
		{"nothing", body("")},
		{"items that are numbers", body(`{"kind":"APIGroupDiscoveryList","items":[1]}`)},
		{"groups that are no list", body(`{"kind":"APIGroupList","groups":{}}`)},
		{"versions that are no list", body(`{"kind":"APIVersions","versions":"v1"}`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, false, map[string]http.HandlerFunc{"/api": tt.answer, "/apis": tt.answer})
			resources, err := discovery.Resources(t.Context(), s.client(t))
			require.Empty(t, resources)
			require.ErrorContains(t, err, "is this the address of an API server?")
		})
	}
}

func TestNamelessResourcesAreLeftOut(t *testing.T) {
	t.Parallel()
	s := newServer(t, true, map[string]http.HandlerFunc{
		"/apis": status(http.StatusNotFound),
		"/api": body(`{"kind":"APIGroupDiscoveryList","items":[{"versions":[{"version":"v1","resources":[
			{"resource":"carriers","subresources":[{"subresource":"status"}]},
			{"resource":"","responseKind":{"kind":"Nameless"}},
			{"resource":"kindless","responseKind":{}},
			{"resource":"pods","responseKind":{"kind":"Pod"},"scope":"Namespaced"}]}]}]}`),
	})
	resources, err := discovery.Resources(t.Context(), s.client(t))
	require.NoError(t, err)
	require.Equal(t, []string{"v1* pods Pod [] true"}, summaries(resources))
}

func TestEndOfContextEndsDiscovery(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newServer(t, false, map[string]http.HandlerFunc{
		"/apis/apps/v1": func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		},
	})
	_, err := discovery.Resources(ctx, s.client(t))
	require.ErrorIs(t, err, context.Canceled)
}

// manyVersions returns the legacy response of a server that has n versions of a group.
func manyVersions(n int) http.HandlerFunc {
	versions := make([]string, n)
	for i := range versions {
		versions[i] = fmt.Sprintf(`{"version":"v%d"}`, i)
	}
	return body(`{"kind":"APIGroupList","groups":[{"name":"g","versions":[` + strings.Join(versions, ",") + `]}]}`)
}

func TestTooManyVersionsAreNotRequested(t *testing.T) { // G11
	t.Parallel()
	s := newServer(t, false, map[string]http.HandlerFunc{"/api": status(http.StatusNotFound), "/apis": manyVersions(10_001)})
	_, err := discovery.Resources(t.Context(), s.client(t))
	require.ErrorIs(t, err, rest.ErrMalformed)
	require.ErrorContains(t, err, "10001 versions")
	require.Equal(t, []string{"/api", "/apis"}, s.requests())
}

func TestEndOfContextStopsVersionRequests(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	faults := map[string]http.HandlerFunc{"/api": status(http.StatusNotFound), "/apis": manyVersions(5000)}
	for i := range 5000 {
		faults[fmt.Sprintf("/apis/g/v%d", i)] = func(http.ResponseWriter, *http.Request) { <-ctx.Done() }
	}
	faults["/apis/g/v0"] = func(http.ResponseWriter, *http.Request) { cancel() }
	s := newServer(t, false, faults)
	_, err := discovery.Resources(ctx, s.client(t))
	require.ErrorIs(t, err, context.Canceled)
	var incomplete *discovery.Error
	require.ErrorAs(t, err, &incomplete)
	require.Less(t, len(incomplete.Failures), 1000, "the error must not list versions that were not requested")
}

// TestG11_DocumentOfEmptyObjectsIsRefused: three bytes of a document can be a group, which takes
// three hundred bytes of memory.
func TestG11_DocumentOfEmptyObjectsIsRefused(t *testing.T) {
	for _, empty := range []string{"{}", "null"} {
		document := `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[` + strings.Repeat(empty+",", 2_000_000) + empty + `]}`
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(document))
		}))
		client, err := rest.NewClient(rest.Config{Host: server.URL}, rest.Options{})
		require.NoError(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = discovery.Resources(t.Context(), client)
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, rest.ErrMalformed)
		require.ErrorContains(t, err, "is too large")
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20), "the refused document must not take a gigabyte")
		client.Close()
		server.Close()
	}
}
