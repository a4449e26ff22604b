package discovery_test

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
)

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text))
	}
}

// groups returns a legacy response to /apis, with groups of one version each.
func groups(names ...string) string {
	var items []string
	for _, name := range names {
		items = append(items, fmt.Sprintf(`{"name":%q,"versions":[{"groupVersion":"x","version":"v1"}]}`, name))
	}
	return `{"kind":"APIGroupList","apiVersion":"v1","groups":[` + strings.Join(items, ",") + `]}`
}

// TestG11_ServerCannotChooseThePathsOfDiscovery: names of groups and versions become parts of
// paths. A malicious server must not lead the client to other paths, for example to another cluster
// behind the same proxy.
func TestG11_ServerCannotChooseThePathsOfDiscovery(t *testing.T) {
	t.Parallel()
	s := newServer(t, false, map[string]http.HandlerFunc{
		"/api":  says(`{"kind":"APIVersions","versions":["v1","..","../../c2/api/v1/nodes/n/proxy","",".","v1%2f","` + strings.Repeat("v", 300) + `"]}`),
		"/apis": says(groups("apps", "..", "../../c2", "a/b", "", strings.Repeat("g", 300))),
	})
	resources, err := discovery.Resources(t.Context(), s.client(t))
	require.ErrorIs(t, err, rest.ErrMalformed)
	require.ErrorContains(t, err, "/api/..., /apis/...: ")
	require.Less(t, len(err.Error()), 1000)
	require.True(t, slices.ContainsFunc(resources, func(r discovery.Resource) bool { return r.Plural == "pods" }))
	require.True(t, slices.ContainsFunc(resources, func(r discovery.Resource) bool { return r.Plural == "deployments" }))
	asked := s.requests()
	slices.Sort(asked)
	require.Equal(t, []string{"/api", "/api/v1", "/apis", "/apis/apps/v1"}, asked)

	s = newServer(t, false, map[string]http.HandlerFunc{"/apis": says(`{"kind":"APIGroupDiscoveryList","items":[
		{"metadata":{"name":"../.."},"versions":[{"version":"v1","freshness":"Stale"}]},
		{"metadata":{"name":"` + strings.Repeat("g", 1_000_000) + `"},"versions":[{"version":"v1","freshness":"Stale"}]},
		{"metadata":{"name":"good"},"versions":[{"version":"../v1"},{"version":"v1","resources":[
			{"resource":"foos","scope":"Cluster","responseKind":{"kind":"Foo"}},
			{"resource":"` + strings.Repeat("f", 1_000_000) + `","scope":"Cluster","responseKind":{"kind":"Long"}},
			{"resource":"..","scope":"Cluster","responseKind":{"kind":"Up"}}
		]}]}]}`)})
	resources, err = discovery.Resources(t.Context(), s.client(t))
	require.ErrorIs(t, err, rest.ErrMalformed)
	require.Less(t, len(err.Error()), 1000)
	require.True(t, slices.ContainsFunc(resources, func(r discovery.Resource) bool { return r.Plural == "foos" }))
	for _, r := range resources {
		require.Less(t, len(r.Plural+r.Group+r.Version), 300)
		require.NotContains(t, r.GVR().String(), "..")
	}
	_, err = discovery.Find(resources, "fff")
	require.Less(t, len(err.Error()), 1000)
}

// TestG11_AllDocumentsTogetherAreBounded: a legacy server may send many small documents.
func TestG11_AllDocumentsTogetherAreBounded(t *testing.T) {
	testsize.SkipIfShort(t, "decodes more bytes than the bound of all documents together")
	t.Parallel()
	for name, document := range map[string]string{
		"objects": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{}` + strings.Repeat(",{}", 50_000) + `]}`,
		"bytes":   `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"a","kind":"A","shortNames":["` + strings.Repeat("x", 10<<20) + `"]}]}`,
	} {
		faults, names := map[string]http.HandlerFunc{}, []string{}
		for i := range 20 {
			names = append(names, fmt.Sprintf("g%d", i))
			faults["/apis/"+names[i]+"/v1"] = says(document)
		}
		faults["/apis"] = says(groups(names...))
		s := newServer(t, false, faults)
		_, err := discovery.Resources(t.Context(), s.client(t))
		require.ErrorIs(t, err, rest.ErrMalformed, name)
		require.ErrorContains(t, err, "too large", name)
	}
}

// TestG11_FailuresOfDiscoveryAreBounded: each of many versions may fail for another reason, with a
// long text.
func TestG11_FailuresOfDiscoveryAreBounded(t *testing.T) {
	t.Parallel()
	faults, names := map[string]http.HandlerFunc{}, []string{}
	for i := range 3000 {
		names = append(names, fmt.Sprintf("g%d", i))
		faults["/apis/"+names[i]+"/v1"] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusConflict)
			fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"%d%s"}`, i, strings.Repeat("x", 3000))
		}
	}
	faults["/apis"] = says(groups(names...))
	s := newServer(t, false, faults)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	resources, err := discovery.Resources(t.Context(), s.client(t))
	runtime.ReadMemStats(&after)
	require.NotEmpty(t, resources)
	failed := err.(*discovery.Error)
	require.Len(t, failed.Failures, len(names), "the error must have every failed version, because a Mapper keeps its resources")
	require.Less(t, len(err.Error()), 50_000)
	require.ErrorContains(t, err, "more")
	require.Less(t, len(s.requests()), 200, "after many failures, discovery must send no more requests")

	stale := &discovery.Error{}
	for _, name := range names {
		stale.Failures = append(stale.Failures, discovery.Failure{Path: "/apis/" + name + "/v1", Err: discovery.ErrStale})
	}
	require.Less(t, len(stale.Error()), 1000)
	require.ErrorContains(t, stale, "/apis/g0/v1, /apis/g1/v1")
	require.ErrorContains(t, stale, "more: ")
}
