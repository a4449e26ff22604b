package apitest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// serveNonResource handles requests that are not for a resource: discovery, OpenAPI, version and
// health.
func (s *Server) serveNonResource(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		wire.WriteStatus(w, r, wire.StatusOf(wire.NewMethodNotAllowed()))
		return
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	all := s.store.Resources()
	aggregated := !s.opts.NoAggregatedDiscovery && acceptsAggregated(r.Header.Get("Accept"))
	var doc any
	switch parts := strings.Split(path, "/")[1:]; {
	case isHealth(path):
		_, _ = w.Write([]byte("ok"))
		return
	case path == "/version":
		doc = version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.2+apitest", Platform: "memory"}
	case path == "/api" && aggregated, path == "/apis" && aggregated:
		w.Header().Set("Content-Type", aggregatedType)
		_, _ = w.Write(append(apiobject.MustJSON(aggregate(all, path == "/api")), '\n'))
		return
	case path == "/api":
		doc = metav1.APIVersions{
			TypeMeta:                   metav1.TypeMeta{Kind: "APIVersions"},
			Versions:                   []string{"v1"},
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: r.Host}},
		}
	case path == "/apis":
		doc = metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: groups(all)}
	case len(parts) == 2 && parts[0] == "apis":
		doc = groupDocument(all, parts[1])
	case len(parts) == 2 && parts[0] == "api":
		doc = resourceList(all, schema.GroupVersion{Version: parts[1]})
	case len(parts) == 3 && parts[0] == "apis":
		doc = resourceList(all, schema.GroupVersion{Group: parts[1], Version: parts[2]})
	case path == "/openapi/v2":
		s.openAPIv2(w, r, all)
		return
	case path == "/openapi/v3":
		doc = openAPIIndex(all)
	case strings.HasPrefix(path, "/openapi/v3/"):
		if body := s.openAPIv3(all, strings.TrimPrefix(path, "/openapi/v3/")); body != nil {
			doc = json.RawMessage(body)
		}
	}
	if doc == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", wire.JSONType)
	_, _ = w.Write(append(apiobject.MustJSON(doc), '\n'))
}

func isHealth(path string) bool {
	return path == "/healthz" || path == "/readyz" || path == "/livez"
}

// groups lists all groups except the core group, each with its versions.
func groups(all []*storage.Resource) []metav1.APIGroup {
	list := []metav1.APIGroup{}
	for _, res := range all {
		if res.Group == "" {
			continue
		}
		i := slices.IndexFunc(list, func(g metav1.APIGroup) bool { return g.Name == res.Group })
		if i < 0 {
			i = len(list)
			list = append(list, metav1.APIGroup{Name: res.Group})
		}
		gv := metav1.GroupVersionForDiscovery{GroupVersion: res.GVK.GroupVersion().String(), Version: res.Version}
		if group := &list[i]; !slices.Contains(group.Versions, gv) {
			group.Versions = append(group.Versions, gv)
		}
	}
	for _, group := range list {
		slices.SortStableFunc(group.Versions, func(a, b metav1.GroupVersionForDiscovery) int {
			return version.CompareKubeAwareVersionStrings(b.Version, a.Version)
		})
	}
	slices.SortStableFunc(list, func(a, b metav1.APIGroup) int { return compareGroups(a.Name, b.Name) })
	for i := range list {
		list[i].PreferredVersion = list[i].Versions[0]
	}
	return list
}

// groupDocument describes one group. It returns nil if the server does not serve the group.
func groupDocument(all []*storage.Resource, name string) any {
	for _, group := range groups(all) {
		if group.Name == name {
			group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
			return group
		}
	}
	return nil
}

// resourceList describes the resources of one group version. It returns nil if the group version
// has no resources.
func resourceList(all []*storage.Resource, gv schema.GroupVersion) any {
	list := metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: gv.String(),
	}
	for _, res := range all {
		if res.GVK.GroupVersion() != gv {
			continue
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: res.Plural, SingularName: res.Singular, Namespaced: !res.ClusterScoped, Kind: res.Kind,
			Verbs: verbsOf(res), ShortNames: res.ShortNames, Categories: res.Categories,
		})
		if res.Status {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: res.Plural + "/status", Namespaced: !res.ClusterScoped, Kind: res.Kind, Verbs: statusVerbs,
			})
		}
		for _, sub := range subresourcesOf(res) {
			gv := sub.groupVersion(res)
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: res.Plural + "/" + sub.name, Namespaced: !res.ClusterScoped,
				Group: gv.Group, Version: gv.Version, Kind: sub.kind.Kind, Verbs: sub.verbs,
			})
		}
	}
	if list.APIResources == nil {
		return nil
	}
	return list
}

// The verbs of a resource, and of its status.
var (
	verbs       = metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	statusVerbs = metav1.Verbs{"get", "patch", "update"}
)

// verbsOf returns the verbs that the resource supports.
func verbsOf(r *storage.Resource) metav1.Verbs {
	if r.PostOnly {
		return metav1.Verbs{"create"}
	}
	if r.Group == "" && r.Plural == "namespaces" {
		return slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool { return verb == "deletecollection" })
	}
	return verbs
}
